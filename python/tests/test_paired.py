"""Numbers relative to those of a baseline, paired by seed."""

import math

import numpy as np
import pyarrow.parquet as pq
import pytest

from xoff import paired, reproduce_report
from xoff.cli import main
from xoff.errors import UsageError
from xoff.reproduce import reproduce
from xoff.sampling import DRAWS, MISSING, Sample, exact, over_seeds
from xoff.sweeps import sweep
from xoff.sweeps.grid import read_grid

GRID = """
scenario = "small.toml"
set = ["run.slices=2"]
seeds = 3
relative_to = { scheme = "dctcp" }
[grid]
scheme = ["bfc", "dctcp"]
run.degree = [10, 20]
[[measure]]
name = "p99"
"""


@pytest.fixture
def grid_file(scenario):
    file = scenario.parent / "grid.toml"
    file.write_text(GRID)
    return file


def test_what_seeds_do_to_both_cases_cancels():
    # Each seed adds the same to both: the difference is known exactly, the numbers are not.
    base = over_seeds([1.0, 5.0, 9.0])
    one = over_seeds([3.0, 7.0, 11.0])
    assert one.interval[1] - one.interval[0] > 4
    found = paired.of_samples(one, base, "difference")
    assert found.low == 2
    assert found.interval == pytest.approx((2, 2))
    # And what it multiplies cancels in the ratio.
    found = paired.of_samples(over_seeds([2.0, 10.0, 18.0]), base, "ratio")
    assert found.low == 2
    assert found.interval == pytest.approx((2, 2))


def test_a_difference_has_the_t_interval_of_the_paired_differences():
    rng = np.random.Generator(np.random.PCG64(3))
    base, gain = rng.random(12) * 10, rng.random(12)
    found = paired.of_samples(over_seeds(list(base + gain)), over_seeds(list(base)), "difference")
    expected = over_seeds(list(gain))
    assert found.low == pytest.approx(expected.low)
    assert found.interval == pytest.approx(expected.interval)


def test_an_unfinished_flow_leaves_both_ends_open():
    one = Sample(4.0, math.inf, np.stack([np.full(DRAWS, 4.0), np.full(DRAWS, np.inf)]))
    base = Sample(2.0, 4.0, np.stack([np.full(DRAWS, 2.0), np.full(DRAWS, 4.0)]))
    found = paired.of_samples(one, base, "ratio")
    assert (found.low, found.high) == (1.0, math.inf)
    assert found.interval == (1.0, math.inf)
    turned = paired.of_samples(base, one, "ratio")
    assert (turned.low, turned.high) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("one", "base", "relation"),
    [
        (MISSING, exact(1.0), "ratio"),
        (exact(1.0), MISSING, "ratio"),
        (exact(1.0), exact(0.0), "ratio"),
        (exact(math.inf), exact(math.inf), "ratio"),
        (exact(math.inf), exact(math.inf), "difference"),
    ],
)
def test_what_is_no_number_is_missing(one, base, relation):
    assert paired.of_samples(one, base, relation) == MISSING


def test_a_sweep_shows_the_ratio_to_its_baseline(grid_file, tmp_path):
    found = sweep(grid_file, tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "sweep.parquet").to_pylist()
    # The fake engine's tails are 1.5 and 6 times the same factor of the seed.
    assert [row["p99_ratio"] for row in table] == pytest.approx([0.25, 0.25, None, None])
    for row in table[:2]:
        assert (row["p99_ratio_low"], row["p99_ratio_high"]) == pytest.approx((0.25, 0.25))
        assert row["p99_low"] < row["p99"] < row["p99_high"]
    assert "`p99_ratio`: ratio to scheme=dctcp, all else equal, paired by seed." in found.text


def test_only_common_seeds_are_paired(grid_file, tmp_path):
    found = sweep(grid_file, tmp_path / "out")
    label = "scheme=bfc, run.degree=10"
    found.results[label] = found.results[label][1:]
    row = next(row for row in found.rows if row.point.label == label)
    assert row.seeds == 2
    assert row.cells["p99_ratio"].low == pytest.approx(0.25)
    found.results["scheme=dctcp, run.degree=10"] = []
    row = next(row for row in found.rows if row.point.label == label)
    assert row.cells["p99_ratio"] == MISSING


def test_a_baseline_is_named_with_an_option(grid_file, tmp_path, capsys):
    options = ["--out", str(tmp_path / "out"), "--relative-to", "run.degree=20"]
    assert main(["sweep", str(grid_file), *options, "--relation", "difference"]) == 0
    said = capsys.readouterr().out
    assert "| scheme | run.degree | seeds | p99 | p99_difference |" in said
    assert "`p99_difference`: difference to run.degree=20" in said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('scheme = "dctcp" }', 'shceme = "dctcp" }'), "`shceme` does not vary (did you mean"),
        (('scheme = "dctcp" }', 'scheme = "hpcc" }'), "no point has scheme=hpcc, run.degree=10"),
        (("seeds = 3", 'relation = "rato"'), "unknown relation `rato` (did you mean `ratio`?)"),
        (('name = "p99"', 'name = "a"\n[[measure]]\nname = "a_ratio"'), "are named `a_ratio`"),
    ],
)
def test_a_mistake_about_the_baseline_is_named(grid_file, change, message):
    grid_file.write_text(GRID.replace(*change))
    with pytest.raises(UsageError, match=r"grid\.toml") as caught:
        read_grid(grid_file)
    assert message in str(caught.value)


def test_a_relation_without_a_baseline_is_refused(grid_file):
    grid_file.write_text(GRID.replace('relative_to = { scheme = "dctcp" }\n', ""))
    with pytest.raises(UsageError, match="`relation` needs `relative_to`"):
        sweep(grid_file, relation="ratio")


def with_baseline(paper, line='relative_to = "HPCC"\n'):
    file = paper / "demo" / "fig1" / "experiment.toml"
    text = (
        file.read_text()
        .replace("seeds = [1, 2]\n", "")
        .replace(
            'scenario = "scenario.toml"\n', f'scenario = "scenario.toml"\nseeds = [1, 2]\n{line}'
        )
    )
    file.write_text(text)


def test_an_experiment_has_a_table_relative_to_a_case(paper, tmp_path):
    with_baseline(paper)
    reproduce("demo/fig1", root=paper, out=tmp_path / "out")
    first, second = (tmp_path / "out" / "table.md").read_text().split("Ratio to HPCC")
    assert "| HPCC #1 |" in first
    assert "over all seeds and paired by seed (95 % interval in parentheses)" in second
    rows = {line.split(" | ")[0].strip("| "): line for line in second.splitlines() if "|" in line}
    assert "HPCC" not in rows
    # Ratios have no unit.
    assert "buffer p99 |" in second
    assert "(MB)" not in second
    # Tails of 1.5 and 3, of 6 and 3: ratios are the same for each seed and have no width.
    assert rows["BFC"].startswith("| BFC | 2 | 0.5 | 0.5 |")
    assert rows["Sweep@10"].startswith("| Sweep@10 | 2 | 2 | 2 |")


def test_a_page_has_both_tables(paper, tmp_path):
    with_baseline(paper)
    outcome = reproduce("demo/fig1", root=paper, out=tmp_path / "out")
    shown = reproduce_report.page_table(outcome)
    assert shown.count("| case | seeds |") == 2
    assert "Ratio to HPCC" in shown


def test_a_baseline_at_a_value_is_that_of_the_same_value(paper, tmp_path):
    with_baseline(paper, "")
    outcome = reproduce("demo/fig1", root=paper, out=tmp_path / "out", relative_to="Sweep")
    assert outcome.command.endswith("--relative-to Sweep")
    # No case but the baseline has values, and the baseline has no number without a value.
    assert "| BFC |" not in reproduce_report.relative_table(outcome.experiment, outcome.results)


def test_an_unknown_baseline_is_refused(paper):
    with pytest.raises(UsageError, match=r"no case is called `HPC` \(did you mean `HPCC`"):
        reproduce("demo/fig1", root=paper, relative_to="HPC")
