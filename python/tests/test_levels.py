"""Where measures of a sweep pass levels."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from xoff.cli import main
from xoff.errors import UsageError
from xoff.sampling import AGREEMENT, DRAWS, MISSING, Sample, exact
from xoff.sweeps import sweep
from xoff.sweeps.grid import Axis, Combination, Grid, Measure, measures_of
from xoff.sweeps.levels import crossings
from xoff.sweeps.table import Row

NOISE = np.linspace(-1, 1, DRAWS)
PLACES = (0.1, 0.2, 0.3, 0.4)


def drawn(value, width=1.0):
    """Return a number whose draws are spread evenly, in the same order for every number."""
    return Sample(value, value, np.stack([value + width * NOISE] * 2))


def crossing_of(samples, level=3.0):
    axis = Axis(("load",), tuple((x,) for x in PLACES[: len(samples)]))
    measure = Measure("p99", {}, level)
    grid = Grid(Path("g"), "t", Path("s"), (), (axis,), (), (measure,))
    rows = [
        Row(Combination({"load": x}), 1, {"p99": sample})
        for x, sample in zip(PLACES, samples, strict=False)
    ]
    (found,) = crossings(grid, rows)
    return found


@pytest.mark.parametrize("slope", [1, -1])
def test_the_interval_of_a_crossing_is_that_of_the_shifted_curves(slope):
    # 10 x per unit of the setting, shifted as a whole by each draw: 3 is passed at (3 - z) / 10.
    values = [1.5, 2.5, 3.5, 4.5][::slope]
    found = crossing_of([drawn(value, 0.5) for value in values])
    assert found.outcome == "passes"
    assert found.decided
    assert found.at == pytest.approx([0.25])
    assert found.interval == pytest.approx((0.25 - 0.05 * 0.95, 0.25 + 0.05 * 0.95), abs=2e-4)


def test_seeds_are_paired():
    # If the draws of neighbours were independent, one could be low where the other is high.
    first, second = drawn(2, 0.9), drawn(4, 0.9)
    turned = Sample(4, 4, second.draws[:, ::-1])
    low, high = crossing_of([first, second]).interval
    assert (low, high) == pytest.approx((0.15 - 0.0428, 0.15 + 0.0428), abs=1e-3)
    assert crossing_of([first, turned]).interval != pytest.approx((low, high), abs=1e-2)


def test_a_curve_that_passes_beyond_the_range_leaves_an_end_open():
    found = crossing_of([drawn(1), drawn(2.5), drawn(3.2)])
    assert not found.decided
    assert found.interval[0] < 0.25
    assert found.interval[1] == math.inf
    assert found.text.endswith("to above 0.3); undecided: more seeds or longer runs decide it")
    falling = crossing_of([drawn(3.2), drawn(2.5)])
    assert falling.interval[0] == -math.inf
    assert "interval below 0.1 to" in falling.text


@pytest.mark.parametrize(
    ("samples", "outcome", "decided"),
    [
        ([drawn(1), drawn(1.5)], "below", True),
        ([drawn(1), drawn(2.5)], "below", False),
        ([drawn(5), drawn(4.5)], "above", True),
        ([drawn(1), drawn(5), drawn(1)], "passes-more-than-once", False),
        ([MISSING, MISSING], "unknown", False),
        # Without uncertainty a crossing has a place and no interval.
        ([exact(2.0), exact(4.0)], "passes", False),
        ([exact(2.0), exact(2.5)], "below", False),
    ],
)
def test_what_is_said_of_a_level(samples, outcome, decided):
    found = crossing_of(samples)
    assert (found.outcome, found.decided) == (outcome, decided)


def test_sentences():
    assert crossing_of([drawn(1), drawn(1.5)]).text == (
        "p99 does not pass a slowdown of 3: it is below from load = 0.1 to 0.2"
    )
    assert crossing_of([drawn(1), drawn(5), drawn(1)]).text == (
        "p99 passes a slowdown of 3 more than once: at load = 0.15, 0.25"
    )
    assert crossing_of([exact(2.0), exact(4.0)]).text == (
        "p99 passes a slowdown of 3 at load = 0.15 "
        "(without an interval: more seeds or longer runs decide it)"
    )


def test_unfinished_flows_can_move_a_crossing_to_the_left():
    # The last number is 4 or more: the curve passes 3 somewhere after the first point.
    open_end = Sample(4, math.inf, np.stack([drawn(4, 0.1).draws[0], np.full(DRAWS, np.inf)]))
    found = crossing_of([drawn(2, 0.1), open_end])
    assert found.at == pytest.approx([0.15])
    assert found.interval[0] == 0.1
    assert found.interval[1] < 0.16


def test_an_infinite_number_without_draws_is_the_same_in_each():
    found = crossing_of([drawn(2, 0.1), exact(math.inf)])
    assert found.interval == (0.1, 0.1)


def test_draws_without_a_number_are_left_out():
    few = drawn(4, 0.1)
    few.draws[:, : int((1 - AGREEMENT) * DRAWS) - 1] = math.nan
    assert crossing_of([drawn(2, 0.1), few]).interval is not None
    few.draws[:, :100] = math.nan
    assert crossing_of([drawn(2, 0.1), few]).interval is None


DELAY = {"delay": {"path": "monitors.0.delay_p99_ps", "scale": 1e-6}}


@pytest.mark.parametrize(
    ("measure", "level", "value"),
    [
        (DELAY, "10us", 10),
        (DELAY, "0.01 ms", 10),
        (DELAY, 10, 10),
        (DELAY, "10", 10),
        ({"buffer": {"path": "buffer.p99_bytes", "scale": 1e-3}}, "2MB", 2000),
        ({"paused": "pfc.pause_time_share"}, "5%", 0.05),
        ({"paused": {"path": "pfc.pause_time_share_by_link.x", "scale": 100}}, "5%", 5),
        ({"rate": "flow.rate_bps"}, "10Gbps", 1e10),
        ({"p99": {}}, "3", 3),
    ],
)
def test_a_level_may_have_a_unit(measure, level, value):
    (found,) = measures_of(measure)
    assert found.with_level(level, "f").level == pytest.approx(value)


@pytest.mark.parametrize(
    ("measure", "level", "message"),
    [
        ({"p99": {}}, "10us", "expected a number without a unit: it is a slowdown"),
        (DELAY, "10MB", "one of the units ps, ns, us, ms, s; found '10MB'"),
        (DELAY, "fast", "found 'fast'"),
    ],
)
def test_a_level_with_another_unit_is_refused(measure, level, message):
    (found,) = measures_of(measure)
    with pytest.raises(UsageError, match="f: level of") as caught:
        found.with_level(level, "f")
    assert message in str(caught.value)


@pytest.fixture
def grid_file(scenario):
    file = scenario.parent / "grid.toml"
    file.write_text(
        'scenario = "small.toml"\nseeds = 3\n[grid]\nrun.degree = [10, 20]\n'
        'scheme = ["bfc", "dctcp"]\n'
    )
    return file


def test_a_level_is_asked_for_with_one_option(grid_file, tmp_path, capsys):
    options = ["--out", str(tmp_path / "out"), "--level", "p99=3"]
    assert main(["sweep", str(grid_file), *options]) == 0
    said = capsys.readouterr().out
    assert "scheme=bfc: p99 does not pass a slowdown of 3: it is below from run.degree" in said
    assert "scheme=dctcp: p99 does not pass a slowdown of 3: it is above" in said
    assert main(["sweep", str(grid_file), *options, "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = [line["crossing"] for line in lines if "crossing" in line]
    assert [(one["settings"], one["outcome"]) for one in found] == [
        ({"scheme": "bfc"}, "below"),
        ({"scheme": "dctcp"}, "above"),
    ]
    assert {(one["level"], one["unit"]) for one in found} == {(3, "slowdown")}


def test_a_level_of_an_unknown_measure_is_refused(grid_file, tmp_path, capsys):
    assert main(["sweep", str(grid_file), "--level", "p9=3"]) == 2
    assert "no measure is called `p9` (did you mean `p99`?)" in capsys.readouterr().err
    assert main(["sweep", str(grid_file), "--level", "p99"]) == 2
    assert "--level p99: expected MEASURE=VALUE" in capsys.readouterr().err


def test_a_crossing_is_drawn(grid_file, tmp_path, monkeypatch):
    from xoff.sweeps import levels

    found = sweep(grid_file, tmp_path / "out", levels={"p99": 3}, seeds=1)
    plain = found.plot("p99")
    assert len(plain.patches) == 0
    passed = levels.Crossing(
        found.grid.measures[1],
        "run.degree",
        {},
        "passes",
        (15.0,),
        (14.0, math.inf),
        False,
        (10, 20),
    )
    monkeypatch.setattr("xoff.sweeps.picture.crossings", lambda *_: [passed])
    ax = found.plot("p99")
    (band,) = ax.patches
    assert band.get_extents().width > 0
    assert any(list(line.get_xdata()) == [15.0, 15.0] for line in ax.lines)


def test_levels_are_passed_along_the_setting_that_is_drawn(grid_file, tmp_path):
    found = sweep(
        grid_file,
        tmp_path / "out",
        levels={"p99": 3},
        x="run.degree",
    )
    assert {one.x for one in found.crossings} == {"run.degree"}
    # Along names nothing is passed.
    found.x = "scheme"
    assert {one.x for one in found.crossings} == {"run.degree"}
