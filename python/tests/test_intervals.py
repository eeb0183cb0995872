"""Confidence intervals of claims: Student's t over seeds."""

import math

import pytest

from xoff import intervals
from xoff.claims import evaluate, load_claims
from xoff.reproduce import reproduce

CLAIM = """
[[claim]]
id = "S-C1"
text = "the tail is worse"
experiment = "fig1"
metric = "ratio"
cases = ["HPCC", "BFC"]
statistic = "mean"
low = 1
"""


def test_the_interval_of_three_seeds():
    # Mean 2, standard deviation 1, t = 4.303 with two degrees of freedom.
    low, high = intervals.interval([1.0, 2.0, 3.0])
    assert low == pytest.approx(2 - 4.303 / math.sqrt(3))
    assert high == pytest.approx(2 + 4.303 / math.sqrt(3))


def test_no_interval_without_enough_finite_values():
    assert intervals.interval([1.0, 2.0]) is None
    assert intervals.interval([1.0, None, 3.0]) is None
    assert intervals.interval([1.0, math.inf, 3.0]) is None


def test_students_t():
    assert intervals.student_t(1) == 12.706
    assert intervals.student_t(20) == 2.086
    assert intervals.student_t(1000) == 1.960
    assert all(intervals.student_t(n) > intervals.student_t(n + 1) for n in range(1, 21))


@pytest.mark.parametrize("seeds", [[1, 2], [1, 2, 3]])
def test_a_claim_says_how_far_seeds_differ(paper, tmp_path, seeds):
    file = paper / "demo" / "fig1" / "experiment.toml"
    good = file.read_text().replace("seeds = [1, 2]\n", "")
    file.write_text(f"seeds = {seeds}\n" + good)
    (paper / "demo" / "claims.toml").write_text(CLAIM)
    outcome = reproduce("demo/fig1", out=tmp_path / "out", root=paper, check=True, slots=2)
    (verdict,) = outcome.verdicts
    assert verdict.holds
    if len(seeds) < 3:
        assert not verdict.intervals
        assert not verdict.seeds
    else:
        assert verdict.seeds == (True, True, True)
        low, high = verdict.intervals["HPCC/BFC"]
        assert low <= verdict.measured["HPCC/BFC"] <= high


def test_cases_with_other_numbers_of_seeds_have_no_interval(paper, tmp_path):
    (paper / "demo" / "claims.toml").write_text(CLAIM)
    outcome = reproduce("demo/fig1", out=tmp_path / "out", root=paper, slots=2)
    verdicts, _ = evaluate(load_claims(paper / "demo" / "claims.toml"), "fig1", outcome.results)
    assert verdicts[0].intervals == {}
