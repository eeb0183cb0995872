import errno
import itertools
import json
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import xoff
from xoff import rundir, tables
from xoff.manifest import is_complete, read_manifest
from xoff.rundir import RunDir

FILES = {
    "scenario.toml",
    "manifest.json",
    "summary.json",
    "flows.parquet",
    "ports.parquet",
    "samples.parquet",
}


def test_a_run_leaves_exactly_its_files(scenario, tmp_path):
    result = xoff.run(scenario, tmp_path / "out")
    assert {file.name for file in (tmp_path / "out").iterdir()} == FILES
    assert not (tmp_path / "out.partial").exists()
    manifest = read_manifest(tmp_path / "out")
    assert manifest["complete"] is True
    assert manifest["digest"] == result.digest
    assert manifest["seed"] == 1
    assert result.flows.num_rows == 6
    assert result.samples.num_rows == 0
    assert result.ports.num_rows == 2
    assert 'scheme = "bfc"' in result.effective


def test_a_capture_grows_with_the_run(scenario, tmp_path):
    for _ in range(2):  # the second run begins a new file
        xoff.run(scenario, tmp_path / "out", set=["run.capture=2"])
    assert {file.name for file in (tmp_path / "out").iterdir()} == {*FILES, "trace.pcapng"}
    assert (tmp_path / "out" / "trace.pcapng").read_bytes() == bytes([1, 1, 2, 2, 3, 3])
    assert xoff.run(scenario, set=["run.capture=2"]).flows.num_rows == 6


def test_tables_of_intervals_are_there_if_a_run_records_them(scenario, tmp_path):
    both = ["run.flow_series=2", "run.port_samples=3"]
    disk = xoff.run(scenario, tmp_path / "out", set=both)
    optional = {"flow_series.parquet", "port_samples.parquet"}
    assert {file.name for file in (tmp_path / "out").iterdir()} == {*FILES, *optional}
    for result in (disk, xoff.run(scenario, set=both)):
        assert (result.flow_series.num_rows, result.port_samples.num_rows) == (6, 9)
    for result in (xoff.run(scenario, tmp_path / "other"), xoff.run(scenario)):
        with pytest.raises(xoff.UsageError, match=r"no flow_series: set run\.flow_series"):
            _ = result.flow_series
        with pytest.raises(xoff.UsageError, match=r"no port_samples: set run\.port_samples"):
            _ = result.port_samples


def test_tables_of_web_requests_are_there_if_a_run_has_any(scenario, tmp_path):
    both = ["run.queries=2", "run.requests=3"]
    disk = xoff.run(scenario, tmp_path / "out", set=both)
    optional = {"queries.parquet", "requests.parquet"}
    assert {file.name for file in (tmp_path / "out").iterdir()} == {*FILES, *optional}
    for result in (disk, xoff.run(scenario, set=both)):
        assert (result.queries.num_rows, result.requests.num_rows) == (6, 9)
    with pytest.raises(xoff.UsageError, match=r"no queries: add"):
        _ = xoff.run(scenario).queries
    with pytest.raises(xoff.UsageError, match=r"no requests: add"):
        _ = xoff.run(scenario).requests


def test_in_memory_equals_on_disk(scenario, tmp_path):
    memory, disk = xoff.run(scenario), xoff.run(scenario, tmp_path / "out")
    assert memory.flows.equals(disk.flows)
    assert memory.digest == disk.digest
    assert memory.summary == disk.summary


def test_text_instead_of_a_file():
    assert xoff.run('scheme = "bfc"\n', set=["run.slices=1"]).flows.num_rows == 2


def test_small_batches_are_grouped(scenario, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "GROUP_ROWS", 10)
    xoff.run(scenario, tmp_path / "out", set=["run.slices=11"])
    meta = pq.ParquetFile(tmp_path / "out" / "flows.parquet").metadata
    assert meta.num_rows == 22
    assert meta.num_row_groups == 3
    assert meta.row_group(0).column(0).compression == "ZSTD"


def test_a_file_does_not_depend_on_the_batches_its_rows_came_in(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "GROUP_ROWS", 1000)
    numbers = [i * i % 977 for i in range(2500)]
    rows = pa.record_batch({"a": numbers, "b": list(map(str, numbers))})
    found = set()
    for cuts in ([], [999], [1001, 2000], range(7, 2500, 7)):
        writer = tables.TableWriter(tmp_path / "t.parquet", None)
        for begin, end in itertools.pairwise([0, *cuts, 2500]):
            writer.add(rows.slice(begin, end - begin))
        writer.close()
        found.add(writer.path.read_bytes())
    assert len(found) == 1


def test_an_earlier_run_is_replaced_only_by_a_whole_one(scenario, tmp_path):
    out = tmp_path / "out"
    first = xoff.run(scenario, out)
    with pytest.raises(xoff.RunError, match="flow 7"):
        xoff.run(scenario, out, set=["run.fail=2"])
    assert xoff.load(out).digest == first.digest
    assert read_manifest(tmp_path / "out.partial")["status"] == "failed"
    second = xoff.run(scenario, out, set=["seed=2"])
    assert xoff.load(out).digest == second.digest != first.digest
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "small.toml"]


def test_a_strange_folder_is_left_alone(scenario, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("work of years")
    with pytest.raises(xoff.UsageError, match="not from a run of xoff"):
        xoff.run(scenario, out)
    assert (out / "thesis.tex").exists()
    assert not (tmp_path / "out.partial").exists()


def test_a_strange_partial_folder_is_left_alone(scenario, tmp_path):
    (tmp_path / "out.partial").mkdir()
    (tmp_path / "out.partial" / "x").write_text("mine")
    with pytest.raises(xoff.UsageError, match=r"contains files .*x"):
        xoff.run(scenario, tmp_path / "out")


def test_an_empty_folder_is_fine(scenario, tmp_path):
    (tmp_path / "out").mkdir()
    assert xoff.run(scenario, tmp_path / "out").path == tmp_path / "out"


def test_two_runs_into_one_folder(scenario, tmp_path):
    with (
        RunDir(tmp_path / "out", []),
        pytest.raises(xoff.UsageError, match="another run"),
    ):
        xoff.run(scenario, tmp_path / "out")


def test_unwritable_place_is_known_before_the_run(scenario):
    with pytest.raises(xoff.UsageError, match="cannot write") as caught:
        xoff.run(scenario, scenario / "below" / "a-file")
    assert str(scenario) in str(caught.value)


def test_disk_full_while_writing(scenario, tmp_path, monkeypatch):
    def refuse(self, *args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tables.pq.ParquetWriter, "write_table", refuse)
    with pytest.raises(xoff.RunError, match="no space left") as caught:
        xoff.run(scenario, tmp_path / "out")
    assert "flows.parquet" in str(caught.value)
    assert "out.partial" in str(caught.value)
    assert not (tmp_path / "out").exists()
    assert not is_complete(tmp_path / "out.partial")


def test_disk_full_at_the_very_end(scenario, tmp_path, monkeypatch):
    def refuse(path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(rundir, "sync", refuse)
    with pytest.raises(xoff.RunError, match="no space left"):
        xoff.run(scenario, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not is_complete(tmp_path / "out.partial")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /dev/full")
def test_disk_really_full(tmp_path):
    writer = tables.TableWriter(tmp_path / "flows.parquet", tables.empty_schema("flows"))
    writer.path.symlink_to("/dev/full")
    with pytest.raises(xoff.RunError, match="no space left"):
        writer.close()


def test_interruption_keeps_what_was_done(scenario, tmp_path):
    def stop(at):
        if at["sim_ps"] >= 2 * 10**9:
            raise KeyboardInterrupt

    with pytest.raises(xoff.Interrupted, match=r"out\.partial"):
        xoff.run(scenario, tmp_path / "out", progress=stop)
    partial = tmp_path / "out.partial"
    assert read_manifest(partial)["status"] == "interrupted"
    assert pq.read_table(partial / "flows.parquet").num_rows == 4
    assert not (tmp_path / "out").exists()
    with pytest.raises(xoff.IncompleteRunError, match="incomplete run"):
        xoff.load(partial)
    with pytest.raises(xoff.IncompleteRunError, match="unfinished"):
        xoff.load(tmp_path / "out")
    xoff.run(scenario, tmp_path / "out")
    assert not partial.exists()


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command_at_once(scenario, tmp_path, kind):
    command = [sys.executable, "-m", "xoff", "run", str(scenario), "--out", str(tmp_path / "out")]
    command += ["--set", "run.slices=1000", "--set", "run.sleep_ms=50"]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    flag = tmp_path / "out.partial" / "scenario.toml"
    deadline = time.monotonic() + 30
    while not flag.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.2)
    child.send_signal(kind)
    # The run itself would take 50 seconds.
    _, said = child.communicate(timeout=20)
    assert child.returncode == 130
    assert "out.partial (marked incomplete)" in said
    assert "Traceback" not in said
    assert json.loads((tmp_path / "out.partial" / "manifest.json").read_text())["complete"] is False


def test_load_refuses_what_is_not_whole(scenario, tmp_path):
    with pytest.raises(xoff.UsageError, match="not a run directory"):
        xoff.load(tmp_path)
    xoff.run(scenario, tmp_path / "out")
    (tmp_path / "out" / "flows.parquet").unlink()
    with pytest.raises(xoff.IncompleteRunError, match="flows"):
        xoff.load(tmp_path / "out")
