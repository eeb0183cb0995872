"""Verdicts: intervals that cross a bound, censored flows, the direction of an effect."""

import math

import pytest
from test_sampling import drawn, run_of

from xoff.claims import load_claims
from xoff.result import Result
from xoff.verdicts import evaluate

RATIO = """
[[claim]]
id = "V-C1"
text = "B is LOW to HIGH times as slow as A"
experiment = "one"
metric = "ratio"
cases = ["B", "A"]
statistic = "mean"
"""


def judged(tmp_path, results, low=None, high=None, text=RATIO, experiment="one"):
    file = tmp_path / "claims.toml"
    bounds = "".join(f"{k} = {v}\n" for k, v in (("low", low), ("high", high)) if v is not None)
    file.write_text(text + bounds)
    (verdict,), _ = evaluate(load_claims(file), experiment, results)
    return verdict


def cases(factor, flows=1000, censored=()):
    slow = [(batch, factor * value) for batch, value in drawn(2, flows)]
    return {"A": [run_of(drawn(1, flows))], "B": [run_of(slow, censored)]}


@pytest.mark.parametrize(
    ("low", "high", "verdict", "direction"),
    [
        (1.5, 2.5, "holds", True),
        (1.0, None, "holds", True),
        (2.5, 4.0, "fails", True),
        (None, 0.8, "fails", False),
        # The interval of the ratio is 1.82 to 1.99.
        (1.0, 1.95, "undecided", True),
        # Both signs are within the bounds: no direction.
        (0.5, 1.1, "fails", None),
    ],
)
def test_a_verdict_asks_whether_the_interval_crosses_the_bound(
    tmp_path, low, high, verdict, direction
):
    found = judged(tmp_path, cases(2.0), low, high)
    assert (found.verdict, found.direction) == (verdict, direction)
    one = found.measured["B/A"]
    assert one.interval[0] < one.value < one.interval[1]
    assert one.unit == "ratio"


def test_a_claim_that_rests_on_unfinished_flows_is_undecided(tmp_path):
    results = cases(2.0, censored=[(3, 40.0)] * 20)
    lower = judged(tmp_path, results, low=1.2)
    assert lower.verdict == "holds"
    assert lower.measured["B/A"].at_least
    assert lower.measured["B/A"].interval[1] == math.inf
    assert judged(tmp_path, results, low=1.2, high=5.0).verdict == "undecided"
    assert judged(tmp_path, results, high=1.0).verdict == "fails"


def test_unfinished_flows_that_bound_a_number_in_some_draws_leave_it_undecided(tmp_path):
    """The last batch has nine: twice drawn, they are the 99th percentile."""
    done = [(i % 9, 2.0) for i in range(891)] + [(9, 2.0)] * 100
    results = {"A": [run_of(done, [(9, 50.0)] * 9)]}
    text = RATIO.replace('"ratio"', '"value"').replace('["B", "A"]', '["A"]')
    text = text.replace('"mean"', '"p99"')
    found = judged(tmp_path, results, high=60.0, text=text)
    assert found.measured["A"].value == pytest.approx(2.0)
    assert found.measured["A"].interval[1] == math.inf
    assert found.verdict == "undecided"
    assert judged(tmp_path, results, low=1.0, text=text).verdict == "holds"


def seeds_of(values):
    """Runs with a number each, without batches."""
    return [Result({"drops_packets": value}, "", "", None, {}) for value in values]


def test_a_ratio_to_an_uncertain_number_has_no_upper_bound(tmp_path):
    """Seeds of 1, 1 and 10 do not tell their mean from zero."""
    results = {"A": seeds_of([1, 1, 10]), "B": seeds_of([8, 8, 8])}
    text = RATIO.replace('statistic = "mean"', 'path = "drops_packets"')
    assert judged(tmp_path, results, high=3.0, text=text).verdict == "undecided"
    assert judged(tmp_path, results, low=0.0, text=text).verdict == "holds"


def test_terms_of_one_case_that_differ_in_scale_are_told_apart(tmp_path):
    text = RATIO.replace('metric = "ratio"', 'metric = "difference"')
    text = text.replace('cases = ["B", "A"]\nstatistic = "mean"', 'path = "drops_packets"')
    terms = 'terms = [{ case = "A", scale = 3 }, { case = "A" }]\n'
    found = judged(tmp_path, {"A": seeds_of([4, 4])}, low=7.9, high=8.1, text=text + terms)
    assert found.verdict == "holds"


def test_the_order_alone_is_the_direction(tmp_path):
    text = RATIO.replace('"ratio"', '"order"').replace('["B", "A"]', '["A", "B"]')
    found = judged(tmp_path, cases(2.0), text=text + "factor = 3.0\n")
    assert (found.verdict, found.direction) == ("fails", True)


def test_a_cause_is_checked_where_it_is_removed(tmp_path):
    text = RATIO + 'cause = "A is slowed down"\nwithout = ["two"]\n'
    assert not judged(tmp_path, cases(2.0), low=1.5, text=text).is_cause
    assert judged(tmp_path, cases(2.0), low=1.5, text=text, experiment="two").is_cause


def test_few_flows_leave_a_claim_undecided(tmp_path):
    text = RATIO.replace('"mean"', '"p99"')
    assert judged(tmp_path, cases(2.0, flows=100), low=1.0, text=text).verdict == "undecided"
