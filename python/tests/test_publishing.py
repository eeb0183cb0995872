"""A run replaces only the files of an earlier run, and a finished run is never lost."""

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import xoff
from xoff import publishing
from xoff.manifest import is_complete, read_manifest, save_manifest

OLD = "while it is replaced"


@pytest.fixture
def out(scenario, tmp_path):
    xoff.run(scenario, tmp_path / "out")
    return tmp_path / "out"


def again(scenario, out, meanwhile=lambda: None):
    """Run another seed into a folder and call a function during the run."""
    return xoff.run(scenario, out, set=["seed=2"], progress=lambda at: meanwhile())


def beside(out, suffix):
    if suffix == OLD:
        return publishing.old_of(out)
    return out.with_name(out.name + suffix)


@pytest.mark.parametrize("suffix", ["", ".partial", OLD])
@pytest.mark.parametrize("strange", ["notes.txt", "inner/flows.parquet", "trace.pcapng"])
def test_what_is_not_the_runs_is_named_and_kept(scenario, out, suffix, strange):
    folder, digest = beside(out, suffix), xoff.load(out).digest
    if suffix:
        again(scenario, folder)
    file = folder / strange
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    told = f"{folder} is a run of xoff but also contains {Path(strange).parts[0]}"
    with pytest.raises(xoff.UsageError, match=re.escape(told)):
        again(scenario, out)
    assert file.read_text() == "mine"
    file.unlink()
    assert xoff.load(out).digest == digest


def test_a_finished_run_within_another_is_kept(scenario, tmp_path):
    inner = xoff.run(scenario, tmp_path / "b" / "inner")
    with pytest.raises(xoff.UsageError, match=r"b contains files .*inner"):
        xoff.run(scenario, tmp_path / "b")
    assert xoff.load(tmp_path / "b" / "inner").digest == inner.digest


@pytest.mark.parametrize("suffix", ["", ".partial", OLD])
def test_what_appears_while_a_run_goes_on_does_not_cost_the_run(scenario, out, suffix):
    first = xoff.load(out)
    notes = beside(out, suffix) / "notes.txt"

    def write():
        notes.parent.mkdir(exist_ok=True)
        notes.write_text("mine")

    with pytest.raises(xoff.RunError, match=r"notes\.txt") as caught:
        again(scenario, out, meanwhile=write)
    work = beside(out, ".partial")
    assert f"the run is complete, in {work}" in str(caught.value)
    assert xoff.load(work).summary["seed"] == 2
    assert notes.read_text() == "mine"
    assert xoff.load(out).digest == first.digest
    # Once the file is removed, the finished run is renamed before the next one starts.
    notes.unlink()
    if suffix == OLD:
        notes.parent.rmdir()
    with pytest.raises(xoff.RunError, match="flow 7"):
        xoff.run(scenario, out, set=["run.fail=1"])
    assert xoff.load(out).summary["seed"] == 2


def test_a_table_that_is_a_link_is_not_followed(scenario, out, tmp_path):
    (tmp_path / "mine").write_text("mine")
    (out / "flows.parquet").unlink()
    (out / "flows.parquet").symlink_to(tmp_path / "mine")
    with pytest.raises(xoff.UsageError, match=r"also contains flows\.parquet"):
        again(scenario, out)
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_manifest_cannot_name_files_elsewhere(scenario, out, tmp_path):
    (tmp_path / "mine").write_text("mine")
    manifest = read_manifest(out)
    manifest["files"]["../mine"] = {"bytes": 4, "sha256": "0"}
    save_manifest(out, manifest)
    again(scenario, out)
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_run_of_an_older_xoff_is_replaced(scenario, out):
    manifest = read_manifest(out)
    del manifest["files"]
    save_manifest(out, manifest)
    assert again(scenario, out).summary["seed"] == 2
    assert xoff.load(out).summary["seed"] == 2


def test_what_a_killed_run_left_is_replaced(scenario, tmp_path):
    work = tmp_path / "out.partial"
    work.mkdir()
    (work / ".lock").touch()  # killed before it had a manifest
    assert xoff.run(scenario, tmp_path / "out").flows.num_rows == 6
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "small.toml"]


KILL = """
import os, sys
from pathlib import Path
import xoff
at, calls = int(sys.argv[3]), 0
def count(real):
    def counted(*args, **kwargs):
        global calls
        calls += 1
        if calls == at:
            os._exit(9)
        return real(*args, **kwargs)
    return counted
for change in ("rename", "replace", "unlink", "rmdir"):
    setattr(Path, change, count(getattr(Path, change)))
xoff.run(Path(sys.argv[1]), Path(sys.argv[2]), set=["seed=2"])
"""


def test_a_crash_at_any_change_leaves_a_whole_run(scenario, tmp_path):
    """Kill the run before its first, second, ... change of folders, until it completes."""
    at, codes = 0, []
    while not codes or codes[-1] == 9:
        at += 1
        out = tmp_path / str(at) / "out"
        first = xoff.run(scenario, out)
        killed = subprocess.run([sys.executable, "-c", KILL, scenario, out, str(at)], check=False)
        codes.append(killed.returncode)
        whole = []
        for folder in (out, beside(out, ".partial"), beside(out, OLD)):
            if is_complete(folder) and (folder != beside(out, OLD) or not whole):
                whole.append(xoff.load(folder).summary["seed"])
        assert whole, f"killed at change {at}"
        assert whole[0] in (first.summary["seed"], 2)
        assert again(scenario, out).summary["seed"] == 2
        assert [p.name for p in out.parent.iterdir()] == ["out"]
    assert codes[-1] == 0
    assert len(codes) > 10


def test_a_folder_that_cannot_be_renamed_does_not_cost_the_run(scenario, out, monkeypatch):
    first, real = xoff.load(out), Path.rename

    def refuse(self, target):
        if self.name.endswith(".partial"):
            raise OSError(errno.EBUSY, "Device or resource busy")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(xoff.RunError, match="busy") as caught:
        again(scenario, out)
    work = beside(out, ".partial")
    assert f"the run is complete, in {work}" in str(caught.value)
    assert xoff.load(work).summary["seed"] == 2
    assert xoff.load(out).digest == first.digest


def test_a_finished_run_without_its_name_is_pointed_to(scenario, out):
    out.rename(beside(out, ".partial"))
    with pytest.raises(xoff.IncompleteRunError, match="is the finished run: rename it"):
        xoff.load(out)


def test_what_came_into_an_earlier_run_at_the_last_moment_is_told(scenario, out, monkeypatch):
    real = publishing.check_out

    def late(folder):
        real(folder)
        if is_complete(beside(folder, ".partial")):
            (folder / "notes.txt").write_text("mine")

    monkeypatch.setattr(publishing, "check_out", late)
    with pytest.raises(xoff.RunError, match=rf"complete, in {out}; .*notes\.txt"):
        again(scenario, out)
    assert xoff.load(out).summary["seed"] == 2
    assert (beside(out, OLD) / "notes.txt").read_text() == "mine"


def test_a_link_is_followed_and_stays(scenario, out, tmp_path):
    link = tmp_path / "latest"
    link.symlink_to(out)
    assert again(scenario, link).path == out
    assert link.is_symlink()
    assert xoff.load(link).summary["seed"] == 2
    (out / "notes.txt").write_text("mine")
    with pytest.raises(xoff.UsageError, match=r"notes\.txt"):
        again(scenario, link)


def test_places_that_cannot_be_a_run(scenario, tmp_path):
    for place, told in [
        ("/", "root of the file system"),
        ("", "is empty"),
        ("a\0b", "NUL"),
        ("a\ud800b", "invalid Unicode"),
    ]:
        with pytest.raises(xoff.UsageError, match=told):
            xoff.run(scenario, place)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(xoff.UsageError, match="loop"):
        xoff.run(scenario, loop)


def test_a_partial_that_is_gone_is_not_named_as_the_place_of_rows(scenario, tmp_path):
    work = tmp_path / "out.partial"

    def remove():
        if work.exists():
            for file in work.iterdir():
                file.unlink()
            work.rmdir()

    with pytest.raises(xoff.RunError) as caught:
        xoff.run(scenario, tmp_path / "out", progress=lambda at: remove())
    assert f"nothing is left of it: {work} was removed" in str(caught.value)
    assert not os.path.lexists(work)


def test_a_full_disk_leaves_a_manifest_that_says_so(scenario, tmp_path, monkeypatch):
    from xoff import manifest, tables

    work, real = tmp_path / "out.partial", manifest.replace_text
    used = []  # when the disk became full

    def bytes_used():
        return sum(file.stat().st_size for file in work.iterdir())

    def fill(self, *args, **kwargs):
        used.append(bytes_used())
        raise OSError(errno.ENOSPC, "No space left on device")

    def on_full_disk(path, text):
        if used and bytes_used() + len(text) > used[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(path, text)

    monkeypatch.setattr(tables.pq.ParquetWriter, "write_table", fill)
    monkeypatch.setattr(manifest, "replace_text", on_full_disk)
    with pytest.raises(xoff.RunError, match="no space left"):
        xoff.run(scenario, tmp_path / "out")
    assert read_manifest(work)["status"] == "failed"
    assert "no space left" in read_manifest(work)["error"]


@pytest.mark.parametrize("name", ["../precious.txt", "PRECIOUS", "..", "", "sub/file"])
def test_an_unfinished_manifest_cannot_name_files_elsewhere(tmp_path, name):
    precious = tmp_path / "precious.txt"
    precious.write_text("keep")
    work = tmp_path / "run.partial"
    work.mkdir()
    named = name.replace("PRECIOUS", str(precious))
    manifest = {"xoff": "1", "complete": False, "other_files": [named, "fct.txt"]}
    (work / "manifest.json").write_text(json.dumps(manifest))
    (work / "fct.txt").write_text("old")
    publishing.clear(work)
    assert precious.read_text() == "keep"
    assert not (work / "fct.txt").exists()


def test_a_damaged_run_is_discarded_with_its_other_files(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    manifest = {"xoff": "1", "complete": False, "other_files": ["fct.txt"]}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "fct.txt").write_text("old")
    publishing.discard_damaged(folder)
    assert not folder.exists()


def test_runs_that_a_user_calls_old_are_kept(scenario, out):
    kept = out.with_name("out.old")
    xoff.run(scenario, kept, set=["seed=3"])
    again(scenario, out)
    again(scenario, out)
    assert xoff.load(kept).summary["seed"] == 3
    assert sorted(file.name for file in out.parent.iterdir()) == ["out", "out.old", "small.toml"]


def test_a_run_that_a_crash_left_without_its_name_gets_it_back(scenario, out):
    digest = xoff.load(out).digest
    out.rename(publishing.old_of(out))
    with pytest.raises(xoff.RunError, match="flow 7"):
        xoff.run(scenario, out, set=["run.fail=1"])
    assert xoff.load(out).digest == digest
    assert not publishing.old_of(out).exists()


def test_a_run_that_a_crash_left_half_deleted_does_not_come_back(scenario, out):
    old = publishing.old_of(out)
    out.rename(old)
    (old / "flows.parquet").unlink()
    with pytest.raises(xoff.RunError, match="flow 7"):
        xoff.run(scenario, out, set=["run.fail=1"])
    assert not out.exists()
