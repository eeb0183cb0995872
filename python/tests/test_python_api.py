"""Runs, sweeps and comparisons from Python, and their tables in other libraries."""

import sys
import types

import pytest

import xoff
from xoff import plots, progress

MEASURES = {"mean": {"statistic": "mean"}, "buffer": "buffer.p99_bytes"}


@pytest.fixture
def runs(scenario):
    names = [("bfc", 1), ("bfc", 2), ("dctcp", 1)]
    return [xoff.run(scenario, set=[f"scheme={name}", f"seed={seed}"]) for name, seed in names]


def test_runs_that_differ_in_their_seed_are_compared_together(runs):
    found = xoff.compare(runs, MEASURES)
    assert found.table.column_names[:4] == ["run", "seeds", "mean", "mean_low"]
    assert found.table["run"].to_pylist() == ["bfc", "dctcp"]
    assert found.table["seeds"].to_pylist() == [2, 1]
    assert found.differences.to_pylist() == [{"setting": "scheme", "bfc": "bfc", "dctcp": "dctcp"}]
    assert "settings that differ: 1" in repr(found)
    means = [run.class_entries[1]["all"]["mean"] for run in runs]
    assert found.table["mean"].to_pylist() == pytest.approx([sum(means[:2]) / 2, means[2]])


def test_names_of_compared_runs_are_their_settings(scenario):
    settings = ("run.degree=1", "run.degree=2")
    runs = [xoff.run(scenario, set=[one]) for one in settings]
    assert list(xoff.compare(runs).runs) == list(settings)
    assert list(xoff.compare([runs[0]]).runs) == ["bfc"]
    assert list(xoff.compare([runs[0], runs[0]]).runs) == ["bfc (1)", "bfc (2)"]
    assert list(xoff.compare({"a": runs[0], "b": runs}).runs) == ["a", "b"]


def test_what_cannot_be_compared_is_refused(scenario, runs):
    for wrong, said in (([], "no run"), ({"a": []}, "no run"), ({"a": ["out/a"]}, "takes results")):
        with pytest.raises(xoff.UsageError, match=said):
            xoff.compare(wrong)
    with pytest.raises(xoff.UsageError, match="measure 'tail': unknown key `statistics`"):
        xoff.compare(runs, {"tail": {"statistics": "p99"}})


def test_plots_draw_into_the_axes_given(runs):
    _, (one, other) = plots.new_figure(2)
    assert xoff.compare(runs).plot("mean", ax=one) is one
    assert [line.get_label() for line in one.lines] == ["bfc", "dctcp"]
    assert plots.buffer_cdf(runs[0], ax=other) is other


@pytest.mark.real_engine
def test_a_sweep_of_a_scenario_writes_and_finds_its_runs(tmp_path):
    base = xoff.Scenario(
        name="a b/c",
        network={"topology": "star"},
        star={"hosts": 4},
        run={"warmup": "0us", "measure": "20us"},
        traffic=[{"kind": "incast", "victims": 0, "bytes": "9KB", "period": "5us"}],
    )
    swept = base.sweep({"scheme": ["bfc"], "degree": [2, 3]}, tmp_path, measures=MEASURES)
    assert swept.failures == {}
    assert swept.table["degree"].to_pylist() == [2, 3]
    assert swept.table["mean"].null_count == 0
    assert "<td" in swept._repr_html_()
    assert [line.split()[:3] for line in repr(swept).splitlines()[:2]] == [
        ["scheme", "degree", "seeds"],
        ["bfc", "2", "1"],
    ]
    _, (ax,) = plots.new_figure(1)
    assert swept.plot("buffer", ax=ax).get_xlabel() == "degree"
    again = xoff.sweep(base, tmp_path, grid={"scheme": ["bfc"], "degree": range(2, 4)}, slots=1)
    assert [run.digest for runs in again.results.values() for run in runs] == [
        run.digest for runs in swept.results.values() for run in runs
    ]


@pytest.mark.parametrize(
    ("grid", "said"),
    [({}, "nothing varies"), ({"scheme": "bfc"}, "a list of values"), (None, "requires `grid`")],
)
def test_a_sweep_without_values_is_refused(scenario, tmp_path, grid, said):
    given = xoff.source.read(scenario)
    with pytest.raises(xoff.UsageError, match=said):
        xoff.sweep(given, tmp_path, grid=grid)


def test_tables_go_to_other_libraries_in_one_line(runs):
    flows = runs[0].flows
    assert flows["class"].to_pylist() == ["incast"] * flows.num_rows
    assert runs[0].flows is flows
    for name, convert in (
        ("pandas", lambda pandas: flows.to_pandas()["class"].tolist()),
        ("polars", lambda polars: polars.from_arrow(flows)["class"].to_list()),
        (
            "duckdb",
            lambda duckdb: duckdb.sql("select class from flows").fetchnumpy()["class"].tolist(),
        ),
    ):
        try:
            library = __import__(name)
        except ImportError:
            continue
        assert convert(library) == ["incast"] * flows.num_rows, name


class Display:
    """IPython with a kernel, or without one; `shown` is what each output shows now."""

    def __init__(self, kernel):
        self.shown = []
        shell = types.SimpleNamespace(**({"kernel": object()} if kernel else {}))
        self.module = types.SimpleNamespace(get_ipython=lambda: shell, display=self)

    def display(self, data, raw, display_id):
        assert (raw, display_id) == (True, True)
        place = len(self.shown)
        self.shown.append(data["text/plain"])

        def update(data, raw):
            self.shown[place] = data["text/plain"]

        return types.SimpleNamespace(update=update)


def test_a_notebook_has_one_line_of_progress(monkeypatch):
    found = Display(kernel=True)
    monkeypatch.setitem(sys.modules, "IPython", found.module)
    line = progress.line_for(None)
    assert not line.due()
    line.show("a\nb\x1b[2J")
    assert found.shown == ["a\\nb\\x1b[2J"]
    line.show("50 %")
    line.note("kept")
    line.show("90 %")
    line.clear()
    assert found.shown == ["", "kept", ""]
    assert not isinstance(progress.line_for(False), progress.NotebookLine)


def test_without_a_notebook_progress_goes_to_terminals(monkeypatch, scenario, capsys):
    monkeypatch.setitem(sys.modules, "IPython", Display(kernel=False).module)
    xoff.run(scenario)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(progress, "TERMINAL_S", 0.0)
    xoff.run(scenario)
    assert "of 3.000 ms simulated" in capsys.readouterr().err
    xoff.run(scenario, progress=False)
    assert capsys.readouterr().err == ""


def test_presets_have_a_line_each():
    assert xoff.presets()["bfc"].startswith("Backpressure Flow Control")
