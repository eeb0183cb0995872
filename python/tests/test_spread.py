"""The longest flow of a class, and its spread over seeds, as numbers, tables and whiskers."""

import math

import pyarrow as pa
import pytest

import xoff
from xoff import panels, plots
from xoff.errors import UsageError
from xoff.experiment import Column, Experiment, load_experiment
from xoff.metrics import Term
from xoff.reproduce_report import table_text

LONGEST = {"path": "flows.rx_fct_ps.max", "scale": 1e-9}


def result(query=(), short=(), left=0):
    """Create a run with flows of two classes with these FCTs (ms) and some unfinished queries."""
    times = [*query, *short]
    flows = pa.table(
        {
            "size_bytes": pa.array([1000] * len(times), pa.uint64()),
            "rx_fct_ps": pa.array([round(time * 1e9) for time in times], pa.uint64()),
            "class": pa.array([0] * len(query) + [1] * len(short), pa.uint16()),
        }
    )
    classes = [{"class": "query", "unfinished": left}, {"class": "short", "unfinished": 0}]
    return xoff.Result({"classes": classes}, "", "d", tables={"flows": flows})


def longest(cls, **more):
    return Term("c", **LONGEST, cls=cls, **more)


def test_the_longest_flow_of_a_class():
    one = result(query=(5, 9, 7), short=(1, 2))
    assert longest("query").read(one) == 9
    assert longest("short").read(one) == 2
    assert longest(None).read(one) == 9
    assert longest("long").read(one) is None
    assert Term("c", path="flows.size_bytes.count", cls="short").read(one) == 2


def test_a_flow_that_has_not_ended_is_the_longest():
    one = result(query=(5, 9), left=1)
    assert longest("query").read(one) == math.inf
    assert Term("c", path="flows.rx_fct_ps.p50", cls="query", scale=1e-9).read(one) == 9
    assert Term("c", path="flows.size_bytes.max", cls="query").read(one) == 1000
    assert longest("short").read(one) is None


def test_the_spread_over_seeds():
    runs = [result(query=(time,)) for time in (7, 5, 12)]
    found = [longest("query", seeds=which).over_seeds(runs) for which in ("min", "median", "max")]
    assert found == [5, 7, 12]
    runs.append(result(left=1))
    found = [longest("query", seeds=which).over_seeds(runs) for which in ("min", "median", "max")]
    assert found == [5, 12, math.inf]


def test_a_table_of_columns_has_the_spread():
    column = Column("query, longest (ms)", {**LONGEST, "cls": "query"})
    experiment = Experiment("p/e", "quick", "Title", "", (), (), (column,))
    runs = {
        "A": [result(query=(time,)) for time in (7, 5, 12)],
        "B": [result(query=(3,)), result(query=(3,))],
    }
    text = table_text(experiment, runs)
    assert "| A | 3 | 7 (5 to 12) |" in text
    assert "| B | 2 | 3 |" in text
    assert "Median over the seeds" in text


def test_bars_by_class_have_whiskers_from_the_least_to_the_largest_seed():
    figure, (ax,) = plots.new_figure(1)
    runs = {
        "A": [result(query=(time,), short=(1,)) for time in (7, 5, 12)],
        "B": [result(query=(8,), short=(2,), left=1)] * 3,
    }
    term = {**LONGEST, "seeds": "median"}
    panels.class_bars_axes(ax, runs, term, ("query", "short"), "ms", whiskers=True)
    bars = [c for c in ax.containers if hasattr(c, "patches")]
    heights = [[bar.get_height() for bar in one.patches] for one in bars]
    # An infinite value is written instead of drawn.
    assert heights == [[7, 1], [0, 2]]
    assert [text.get_text() for text in ax.texts] == ["7", "1", "inf", "2"]
    lines = [segment[:, 1].tolist() for c in ax.collections for segment in c.get_segments()]
    assert lines == [[5, 12], [1, 1], [2, 2]]
    assert figure is not None


def test_a_sweep_may_name_what_it_sets(tmp_path):
    (tmp_path / "s.toml").write_text("")
    sweep = '[case.sweep]\nvalues = ["a", "b"]\n[case.sweep.set]\na = ["x=1"]\n'
    file = tmp_path / "experiment.toml"
    file.write_text(EXPERIMENT + sweep + "b = []")
    points = load_experiment(tmp_path, "p/e", "quick").points
    assert [(point.label, point.overrides) for point in points] == [("A@a", ("x=1",)), ("A@b", ())]
    file.write_text(EXPERIMENT + sweep)
    with pytest.raises(UsageError, match="without `key`, `set` needs an entry for 'b'"):
        load_experiment(tmp_path, "p/e", "quick")


EXPERIMENT = """
title = "t"
scenario = "s.toml"
[[case]]
name = "A"
"""


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('[[plot]]\nkind = "class-bars"', "`classes` is required by kind `class-bars`"),
        (
            '[[plot]]\nkind = "bars"\nclasses = ["query"]',
            "`classes` is required by kind `class-bars`",
        ),
        ('[[plot]]\nkind = "trace"\nwhiskers = true', "`whiskers` requires kind bars"),
        (
            '[[plot]]\nkind = "bars"\nrelative_to = "A"\nwhiskers = true',
            "without `relative_to`",
        ),
        ('[[column]]\npath = "drops_packets"', "column 1: `title` is missing"),
        ('[[column]]\ntitle = "x"\npaht = "drops_packets"', "unknown key `paht`"),
    ],
)
def test_mistakes_in_an_experiment(tmp_path, more, message):
    (tmp_path / "s.toml").write_text("")
    (tmp_path / "experiment.toml").write_text(EXPERIMENT + more)
    with pytest.raises(UsageError, match=message):
        load_experiment(tmp_path, "p/e", "quick")
