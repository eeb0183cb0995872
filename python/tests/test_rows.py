import pyarrow as pa
import pytest

import xoff
from xoff import panels, plots
from xoff.errors import UsageError
from xoff.metrics import Term, cdf_at, cdf_points
from xoff.strict import Reader, read_term


def result(*sizes, fct_ps=0):
    flows = pa.table(
        {
            "size_bytes": pa.array(sizes, pa.uint64()),
            "fct_ps": pa.array([fct_ps] * len(sizes), pa.uint64()),
        }
    )
    return xoff.Result({}, "", "d", tables={"flows": flows})


def test_numbers_over_the_rows_of_flows():
    one = result(100, 200, 300, 400)
    assert Term("c", path="flows.size_bytes.mean").read(one) == 250
    assert Term("c", path="flows.size_bytes.p50").read(one) == 250
    assert Term("c", path="flows.size_bytes.max", scale=0.01).read(one) == 4
    assert Term("c", path="flows.size_bytes.count").read(one) == 4
    assert Term("c", path="flows.size_bytes.mean").read(result()) is None


def test_the_cdf_of_a_column():
    points = cdf_points(result(300, 100, 100, 200), "flows.size_bytes")
    assert points == [(100, 0.5), (200, 0.75), (300, 1)]
    assert cdf_at(points, 250) == 0.75
    assert cdf_points(result(), "flows.size_bytes") == []
    assert Term("c", cdf="flows.size_bytes", at=150).read(result(100, 200)) == 0.5


def test_percentiles_over_runs():
    runs = [result(1, fct_ps=fct) for fct in range(101)]
    assert Term("c", path="flows.fct_ps.max", seeds="p90").over_seeds(runs) == pytest.approx(90)
    assert Term("c", path="flows.fct_ps.max", seeds="p95").over_seeds(runs) == pytest.approx(95)
    assert Term("c", path="flows.fct_ps.max", seeds="p95").over_seeds([*runs, result()]) is None
    assert Term("c", path="flows.fct_ps.max", seeds="p95").over_seeds([]) is None


@pytest.mark.parametrize(
    "term",
    [
        {"path": "flows.size.mean"},
        {"path": "flows.size_bytes.medium"},
        {"path": "flows.size_bytes"},
        {"cdf": "flows.size_bytes.mean"},
    ],
)
def test_an_unknown_column_or_measure_is_refused(term):
    with pytest.raises(UsageError, match=r"here: `flows\.size.*: expected flows\.COLUMN"):
        read_term(Reader(term, "here"))


def test_sizes_are_drawn_over_all_seeds():
    figure, (ax,) = plots.new_figure(1)
    panels.size_axes(ax, {"Web": [result(100, 300), result(200)]})
    (line,) = ax.get_lines()
    assert list(line.get_xdata()) == [100, 200, 300]
    assert line.get_ydata()[-1] == 1
    assert figure is not None
