import math

import pyarrow as pa
import pytest

import xoff
from xoff import completions, panels, plots
from xoff.errors import UsageError
from xoff.metrics import Term, cdf_points
from xoff.strict import Reader, read_term


def group(count, unfinished=0, **measures):
    empty = dict.fromkeys(("mean_us", "p50_us", "p95_us", "p99_us"))
    return {"count": count, "unfinished": unfinished, **empty, **measures}


def result(*times_us, size=8000, unfinished=0, **measures):
    """Queries with these times, alternating between two priorities, and one of another class."""
    n = len(times_us)
    own = group(n + unfinished, unfinished, **measures)
    summary = {
        "classes": [{"class": "other"}, {"class": "query"}],
        "queries": {
            "other": {"all": group(1)},
            "query": {
                "all": own,
                str(size): own,
                "priority0": group((n + 1) // 2),
                f"{size}-priority1": group(n // 2),
            },
        },
        "requests": {"query": {"all": own, "10": own}},
    }
    table = pa.table(
        {
            "completion_ps": pa.array([*(int(t * 1e6) for t in times_us), 1], pa.uint64()),
            "size_bytes": pa.array([size] * (n + 1), pa.uint64()),
            "queries": pa.array([10] * (n + 1), pa.uint32()),
            "priority": pa.array([i % 2 for i in range(n)] + [0], pa.uint16()),
            "class": pa.array([1] * n + [0], pa.uint16()),
        }
    )
    return xoff.Result(summary, "", "d", tables={"queries": table, "requests": table})


def test_a_number_of_one_run_is_that_of_its_summary():
    one = result(1, 2, p99_us=7.5)
    assert Term("c", path="queries.query.8000.p99_us").read(one) == 7.5
    assert Term("c", path="requests.query.10.p99_us", scale=0.001).read(one) == 0.0075
    assert Term("c", path="queries.query.all.count").read(one) == 2
    for path in (
        "queries.query.2000.p99_us",
        "queries.none.all.p99_us",
        "queries.query.all.p50_us",
    ):
        assert Term("c", path=path).read(one) is None
    assert Term("c", path="queries.query.all.p99_us").read(xoff.Result({}, "", "d")) is None


def test_what_did_not_end_is_infinite_where_there_are_enough():
    some = result(*range(990), unfinished=10, p50_us=4.0)
    assert Term("c", path="queries.query.all.p50_us").read(some) == 4.0
    assert Term("c", path="queries.query.all.p99_us").read(some) == math.inf
    assert Term("c", path="queries.query.all.mean_us").read(some) == math.inf
    few = result(*range(90), unfinished=10)
    assert Term("c", path="queries.query.all.p99_us").read(few) is None


def test_percentiles_over_the_rows_of_all_seeds():
    runs = [result(*range(1, 501)), result(*range(501, 1001))]

    def pooled(path):
        return Term("c", path=path, seeds="pooled").over_seeds(runs)

    assert pooled("queries.query.8000.p99_us") == pytest.approx(990)
    assert pooled("queries.query.8000.p50_us") == pytest.approx(500)
    assert pooled("requests.query.10.p99_us") == pytest.approx(990)
    assert pooled("queries.query.8000-priority1.p95_us") == pytest.approx(950)
    assert pooled("queries.query.priority0.count") == 500
    assert pooled("queries.query.all.mean_us") == pytest.approx(500.5)
    assert pooled("queries.query.all.unfinished") == 0
    assert pooled("queries.query.2000.p99_us") is None
    # A run alone has too few for its 99th percentile.
    assert completions.pooled(runs[:1], "queries.query.all.p99_us") is None
    lost = [result(*range(980), unfinished=20)]
    assert completions.pooled(lost, "queries.query.all.p99_us") == math.inf
    assert completions.pooled(lost, "queries.query.all.mean_us") == math.inf
    assert completions.pooled(lost, "queries.query.all.p95_us") == pytest.approx(949)
    assert completions.pooled([], "queries.query.all.p95_us") is None


def test_rows_that_are_not_all_there_are_no_pool():
    short = result(1, 2, 3)
    short.summary["queries"]["query"]["all"]["count"] = 300
    with pytest.raises(UsageError, match=r'set run\.flows = "all"'):
        completions.pooled([short], "queries.query.all.p50_us")


def test_the_cdf_ends_where_what_ended_does():
    runs = [result(1, 2, 2), result(4, unfinished=4)]
    points = completions.cdf(runs, "queries.query.all")
    assert points == [(1, 0.125), (2, 0.375), (4, 0.5)]
    assert cdf_points(runs[0], "requests.query.10") == [(1, 1 / 3), (2, 1)]
    assert completions.cdf(runs, "queries.none.all") == []
    figure, (ax,) = plots.new_figure(1)
    panels.completion_axes(ax, {"DeTail": runs, "empty": []}, "queries.query.all")
    (line,) = ax.get_lines()
    assert list(line.get_xdata()) == pytest.approx([0.001, 0.002, 0.004])
    assert (ax.get_ylabel(), figure is not None) == ("fraction of queries", True)


@pytest.mark.parametrize(
    "term",
    [
        {"path": "queries.query.p99_us"},
        {"path": "queries.query.8000.p98_us"},
        {"path": "queries.query.8KB.p99_us"},
        {"path": "requests.query.priority0.p99_us"},
        {"cdf": "queries.query.8000.p99_us"},
        {"cdf": "requests.query"},
    ],
)
def test_what_is_not_told_apart_is_refused(term):
    with pytest.raises(UsageError, match=r"here: `(queries|requests)\.query.*: expected "):
        read_term(Reader(term, "here"))


def test_only_completion_times_are_pooled():
    with pytest.raises(UsageError, match='`seeds = "pooled"` requires a `path` of queries'):
        read_term(Reader({"path": "flows.fct_ps.p99", "seeds": "pooled"}, "here"))
