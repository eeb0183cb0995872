"""Runs that end early by a budget: in order, and never taken for whole."""

import errno
import json

import pytest

import xoff
from xoff import budget, cli, rundir, summary
from xoff.budget import Budget, EarlyEnd
from xoff.errors import EndedEarly
from xoff.html_report import payload
from xoff.manifest import read_manifest
from xoff.sweeps import sweep

LONG = ["run.slices=1000"]
EARLY = "ended early by its limit of 2 k packet-hops, at 2 ms of 1 s simulated"


def part_of(scenario, out, **limits):
    with pytest.raises(EndedEarly) as caught:
        xoff.run(scenario, out, set=LONG, **(limits or {"max_packet_hops": 2000}))
    return caught.value


def call(capsys, *args):
    code = cli.main(list(map(str, args)))
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


@pytest.mark.parametrize(
    ("text", "found"), [("30s", 30), ("10m", 600), ("2h", 7200), (".5 s", 0.5), ("1.5m", 90)]
)
def test_wall_clock_times(text, found):
    assert budget.seconds(text) == found


@pytest.mark.parametrize("text", ["", "30", "10ms", "10us", "-1s", "0s", "1e3s", "inf s", "1d"])
def test_what_is_no_wall_clock_time(text):
    with pytest.raises(xoff.UsageError, match="write, for example, 30s"):
        budget.seconds(text)


@pytest.mark.parametrize(("text", "found"), [("1", 1), ("5M", 5_000_000), ("2 G", 2_000_000_000)])
def test_numbers_of_packet_hops(text, found):
    assert budget.count(text) == found


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "1e6", "5m", "many", "9" * 30])
def test_what_is_no_number_of_packet_hops(text):
    with pytest.raises(xoff.UsageError, match="write one such as 5000000"):
        budget.count(text)


def test_a_budget_is_given_in_python_as_on_the_command_line():
    options = ["--max-wall", "60.000000s", "--max-packet-hops", "5000"]
    assert Budget.of("1m", "5k").options() == Budget.of(60, 5000).options() == options
    assert Budget.of().options() == []
    assert Budget.of(1e-5).options() == ["--max-wall", "0.000010s"]
    for wrong in ({"max_wall": 0}, {"max_wall": float("nan")}, {"max_packet_hops": True}):
        with pytest.raises(xoff.UsageError):
            Budget.of(**wrong)


def test_a_part_of_a_run_says_so_everywhere(scenario, tmp_path):
    error = part_of(scenario, tmp_path / "out")
    assert str(error) == f"{EARLY}\nwhat was done is in {tmp_path}/out.partial (marked incomplete)"
    partial = tmp_path / "out.partial"
    manifest, found = read_manifest(partial), json.loads((partial / "summary.json").read_text())
    end = {"limit": "max_packet_hops", "value": 2000, "sim_ps": 2 * 10**9, "end_ps": 10**12}
    assert (manifest["complete"], manifest["status"]) == (False, EARLY)
    assert manifest["ended_early"] == found["ended_early"] == end
    assert found["warnings"][0].startswith(EARLY)
    assert not (tmp_path / "out").exists()
    assert {".lock", ".reserve"}.isdisjoint(file.name for file in partial.iterdir())
    for place in (partial, tmp_path / "out"):
        with pytest.raises(xoff.IncompleteRunError, match=EARLY):
            xoff.load(place)


def test_a_part_of_a_run_can_be_read_on_request(scenario, tmp_path):
    error = part_of(scenario, tmp_path / "out")
    found = xoff.load(tmp_path / "out.partial", partial=True)
    assert found.ended_early == error.result.ended_early
    assert found.ended_early.text == EARLY
    assert found.flows.num_rows == error.result.flows.num_rows == 4
    assert EARLY in repr(found)
    assert xoff.load(tmp_path / "out", partial=True).digest == found.digest
    for place in ("out", "out.partial"):
        with pytest.raises(xoff.IncompleteRunError, match=r"xoff report .*out\.partial.*partial=T"):
            xoff.load(tmp_path / place)
    (tmp_path / "out.partial" / "flows.parquet").write_bytes(b"")
    with pytest.raises(xoff.IncompleteRunError, match=r"flows\.parquet has 0 bytes"):
        xoff.load(tmp_path / "out.partial", partial=True)


def test_an_interrupted_run_is_not_read_as_a_part(scenario, tmp_path):
    def stop(at):
        raise KeyboardInterrupt

    with pytest.raises(xoff.Interrupted):
        xoff.run(scenario, tmp_path / "out", progress=stop)
    with pytest.raises(xoff.IncompleteRunError, match="interrupted"):
        xoff.load(tmp_path / "out.partial", partial=True)


def test_a_part_that_cannot_be_written_is_none(scenario, tmp_path, monkeypatch):
    def refuse(path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(rundir, "sync", refuse)
    with pytest.raises(xoff.RunError, match="no space left") as caught:
        xoff.run(scenario, tmp_path / "out", set=LONG, max_packet_hops=2000)
    assert not isinstance(caught.value, EndedEarly)
    manifest = read_manifest(tmp_path / "out.partial")
    assert (manifest["status"], manifest.get("ended_early")) == ("failed", None)
    with pytest.raises(xoff.IncompleteRunError, match="failed"):
        xoff.load(tmp_path / "out.partial", partial=True)


def test_a_part_of_a_run_replaces_no_whole_one(scenario, tmp_path):
    whole = xoff.run(scenario, tmp_path / "out")
    part_of(scenario, tmp_path / "out")
    assert xoff.load(tmp_path / "out").digest == whole.digest
    xoff.run(scenario, tmp_path / "out", set=["seed=2"])
    assert not (tmp_path / "out.partial").exists()


def test_a_run_within_its_budget_is_whole(scenario, tmp_path):
    limits = {"max_wall": "1h", "max_packet_hops": "1G"}
    found = xoff.run(scenario, tmp_path / "out", **limits)
    assert found.ended_early is None
    assert found.digest == xoff.run(scenario).digest
    # The limit is reached in the last step: nothing is left to do.
    assert xoff.run(scenario, max_packet_hops=3000).ended_early is None


def test_a_part_in_memory_is_one_on_disk(scenario, tmp_path):
    memory = part_of(scenario, None).result
    disk = part_of(scenario, tmp_path / "out").result
    assert memory.summary == disk.summary
    assert memory.flows.equals(disk.flows)


def test_the_wall_clock_ends_a_run(scenario, tmp_path):
    error = part_of(f"{scenario.read_text()}run.sleep_ms = 10\n", None, max_wall=0.1)
    assert error.result.ended_early.limit == "max_wall_s"
    assert "limit of 0.1 s of wall-clock time" in str(error)


def test_the_command_prints_the_part_and_exits_with_3(scenario, tmp_path, capsys):
    given = ["run", scenario, "--set", LONG[0], "--out", tmp_path / "out"]
    code, out, err = call(capsys, *given, "--max-packet-hops", "2k")
    assert (code, err.splitlines()[0]) == (3, f"error: {EARLY}")
    assert f"warning: {EARLY}" in out
    assert "results in" not in out
    assert call(capsys, *given, "--max-packet-hops", "2k", "--quiet")[:2] == (3, "")


def test_reports_and_comparisons_say_that_a_run_is_a_part(scenario, tmp_path, capsys):
    part = part_of(scenario, tmp_path / "out").result
    with pytest.raises(xoff.UsageError, match=f"is a part of a run, {EARLY}"):
        xoff.compare([part, xoff.run(scenario)])
    partial = tmp_path / "out.partial"
    code, _, err = call(capsys, "plot", partial, "--out", tmp_path / "figure")
    assert code == 2
    assert EARLY in err


@pytest.mark.parametrize(
    "found",
    [
        None,
        {},
        {"ended_early": 3},
        {"ended_early": {"limit": "max_wall_s"}},
        {"ended_early": {"limit": "x", "value": 1, "sim_ps": 1, "end_ps": 1}},
        {"ended_early": {"limit": "max_wall_s", "value": "1", "sim_ps": 1, "end_ps": 1}},
    ],
)
def test_a_manifest_without_a_readable_end_is_of_no_part(found):
    assert EarlyEnd.read(found) is None


@pytest.fixture
def grid_file(scenario):
    file = scenario.parent / "grid.toml"
    file.write_text('scenario = "small.toml"\n[grid]\n"run.slices" = [2, 100]\n')
    return file


def test_a_sweep_goes_on_when_a_run_reaches_its_budget(grid_file, tmp_path, monkeypatch):
    limits = {"max_packet_hops": 4000}
    found = sweep(grid_file, tmp_path / "out", **limits)
    assert list(found.results) == ["run.slices=2"]
    ((_, failure),) = found.failures.items()
    assert "ended early by its limit of 4 k packet-hops" in failure
    table = {row["run.slices"]: row for row in _runs(tmp_path / "out")}
    assert [table[slices]["status"] for slices in (2, 100)] == ["finished", "failed"]
    # With the same budget it would end at the same place, with another it is run again.
    with monkeypatch.context() as none_begins:
        none_begins.setattr("xoff.jobs._Worker", None)
        assert sweep(grid_file, tmp_path / "out", **limits).failures == found.failures
    assert sweep(grid_file, tmp_path / "out", max_packet_hops=10**7).failures == {}


def _runs(out):
    import pyarrow.parquet as pq

    return pq.read_table(out / "runs.parquet").to_pylist()


def test_an_experiment_with_a_part_of_a_run_has_failed(paper, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call(
        capsys, "experiment", paper / "demo" / "fig1", "--max-packet-hops", "1k", "--jobs", 2
    )
    assert (code, out) == (1, "")
    assert "runs of demo/fig1 failed" in err
    assert "ended early by its limit of 1 k packet-hops" in err
    assert not list(tmp_path.glob("out/**/table.md"))


SMALL = """\
name = "small"
scheme = "bfc"
leaf_spine = { leaves = 4, spines = 2, hosts_per_leaf = 4 }
[run]
warmup = "50us"
measure = "1ms"
flow_series = "50us"
port_samples = "50us"
[[traffic]]
kind = "open-loop"
load = 0.5
"""


@pytest.mark.real_engine
@pytest.mark.parametrize("hops", [1, 20_000, 300_000])
def test_where_packet_hops_end_a_run_depends_on_no_thread(tmp_path, hops):
    found = set()
    for threads in (1, 2, 3):
        out = tmp_path / str(threads)
        with pytest.raises(EndedEarly) as caught:
            xoff.run(SMALL, out, threads=threads, max_packet_hops=hops)
        assert hops <= caught.value.result.summary["packet_hops"] < hops + 50_000
        partial = out.with_name(f"{threads}.partial")
        manifest = read_manifest(partial)
        files = [(partial / name).read_bytes() for name in manifest["files"]]
        assert {"ports.parquet", "flows.parquet", "summary.json"} < set(manifest["files"])
        found.add((manifest["digest"], manifest["status"], *files))
    assert len(found) == 1


@pytest.mark.real_engine
def test_a_part_is_the_beginning_of_the_whole(tmp_path):
    with pytest.raises(EndedEarly) as caught:
        xoff.run(SMALL, max_packet_hops=300_000)
    part, whole = caught.value.result, xoff.run(SMALL, max_packet_hops="1G")
    assert whole.digest == xoff.run(SMALL).digest
    rows = part.flows.num_rows
    assert 100 < rows < whole.flows.num_rows
    assert part.flows.equals(whole.flows.slice(0, rows))
    assert part.ports.num_rows == whole.ports.num_rows
    measured = part.summary["sim_ps"] - part.summary["warmup_ps"]
    assert part.summary["measured_ps"] == measured


@pytest.mark.real_engine
def test_the_report_shows_a_part_as_one(tmp_path):
    with pytest.raises(EndedEarly) as caught:
        xoff.run(SMALL, tmp_path / "out", max_packet_hops=300_000)
    (run,) = payload.of_results({"out": caught.value.result})["runs"]
    assert run["label"] == "out (ended early)"
    assert run["figures"][0] == ("part of a run", caught.value.result.ended_early.text)
    assert "ended early" in run["warnings"][0]


@pytest.mark.real_engine
def test_a_run_without_packets_has_no_packet_hops(tmp_path):
    text = """engine = "fluid"
[[traffic]]
kind = "open-loop"
load = 0.5
"""
    with pytest.raises(xoff.UsageError, match="use --max-wall"):
        xoff.run(text, tmp_path / "out", max_packet_hops=1)
    assert not list(tmp_path.iterdir())
    with pytest.raises(EndedEarly) as caught:
        xoff.run(text, tmp_path / "out", max_wall=1e-3)
    assert "warning: ended early" in summary.render(caught.value.result)
