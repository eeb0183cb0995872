"""Kills, full disks and vanishing folders: nothing is lost, nothing half-written looks whole."""

import io
import os
import random
import shutil
import subprocess
import sys
import time
from contextlib import redirect_stderr

import crashes
import pytest
from crashes import FAULTS, FULL, KILL, VANISH, ended, only_says_what_is_wrong, outputs, wholes

import xoff
from xoff import cli, drafts, extras, plots
from xoff.drafts import draft_of
from xoff.manifest import is_complete, read_manifest
from xoff.publishing import old_of
from xoff.rundir import RunDir

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

# With this variable, faults at every operation in place of one in six: some two minutes.
STEP = 1 if os.environ.get("XOFF_EVERY_FAULT") else 6
MOST_OF_EXPERIMENTS = FAULTS if STEP == 1 else (KILL, FULL)


def points(total):
    return sorted({*range(1, total + 1, STEP), total})


@pytest.fixture
def no_figures(monkeypatch):
    """A figure takes longer than all else, and is written like the other files."""
    monkeypatch.setattr(extras, "has", lambda extra: False)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_run_that_replaces_another(scenario, tmp_path, fault):
    place = tmp_path / "place"
    out, partial = place / "out", place / "out.partial"
    sets = ("run.capture=2", "run.queries=1")
    run = ("run", scenario, "--out", out, "--quiet", "--set", sets[0], "--set", sets[1], "--set")
    digests = {seed: xoff.run(scenario, set=[*sets, f"seed={seed}"]).digest for seed in (1, 2)}
    assert ended((*run, "seed=1"), place).code == 0
    whole = ended((*run, "seed=2"), place)
    assert (whole.code, whole.said) == (0, "")
    for at in points(whole.operations):
        assert ended((*run, "seed=1"), place).code == 0
        found = ended((*run, "seed=2"), place, fault, at)
        only_says_what_is_wrong(found, fault)
        left = wholes(out, partial, old_of(out))
        assert not is_complete(out) or wholes(out)
        if fault != VANISH:
            assert left & set(digests.values())
        if found.code == 0 and fault != VANISH:
            assert wholes(out) == {digests[2]}
        again = ended((*run, "seed=2"), place)
        assert (again.code, again.said) == (0, ""), at
        assert wholes(out) == {digests[2]}
        assert [file.name for file in place.iterdir()] == ["out"]


def survives(args, place, fault, start, expected):
    """Let the fault happen at operations of a command whose runs are finished.

    `start` is what the folder has before, `expected` what the command writes.
    """
    whole = ended(args, place)
    assert whole.code == 0, whole.said
    for at in points(whole.operations):
        shutil.rmtree(place)
        shutil.copytree(start, place)
        found = ended(args, place, fault, at)
        only_says_what_is_wrong(found, fault)
        left = outputs(place)
        assert {k: v for k, v in left.items() if k in expected}.items() <= expected.items()
        if fault == FULL:
            assert left.keys() <= expected.keys()
        if fault == VANISH:
            shutil.copytree(start, place, dirs_exist_ok=True)
        again = ended(args, place)
        assert again.code == 0, (at, again.said)
        assert outputs(place) == expected, at


@pytest.fixture
def grid_file(scenario):
    file = scenario.parent / "grid.toml"
    file.write_text('scenario = "small.toml"\n[grid]\nscheme = ["bfc"]\n')
    return file


def only_runs(place, start):
    """Copy the finished runs of a folder."""
    (start / "runs").mkdir(parents=True)
    shutil.copytree(place / "runs", start / "runs", dirs_exist_ok=True)
    return start


@pytest.mark.parametrize("fault", MOST_OF_EXPERIMENTS)
def test_the_tables_of_a_sweep(grid_file, tmp_path, fault, no_figures):
    place = tmp_path / "place"
    args = ("sweep", grid_file, "--out", place)
    assert ended(args, place).code == 0
    expected = outputs(place)
    assert {"table.md", "sweep.parquet", "runs.parquet"} == expected.keys()
    survives(args, place, fault, only_runs(place, tmp_path / "start"), expected)


@pytest.mark.parametrize("fault", MOST_OF_EXPERIMENTS)
def test_an_experiment_and_its_results(paper, tmp_path, fault, no_figures):
    place, results = tmp_path / "place", tmp_path / "place" / "results.json"
    given = ("experiment", paper / "demo" / "fig1", "--out", place, "--jobs", "2")
    args = (*given, "--results", results)
    first = ended(args, place)
    assert first.code == 0, first.said
    expected = outputs(place)
    assert {"table.md", "results.json"} <= expected.keys()
    survives(args, place, fault, only_runs(place, tmp_path / "start"), expected)


@pytest.mark.parametrize("most", [2000, 10_000, 17_000, 25_000, 45_000])
def test_a_file_that_cannot_grow(scenario, tmp_path, most):
    place, sets = tmp_path / "place", ("--set", "run.capture=20000")
    args = ("run", scenario, "--out", place / "out", *sets)
    found = ended(args, place, most_bytes=most)
    assert found.code in (1, 2)
    only_says_what_is_wrong(found, FULL)
    assert "the limit of a file's size is reached; raise it (`ulimit -f`)" in found.said
    assert not wholes(place / "out", place / "out.partial")
    again = ended(args, place)
    assert again.code == 0
    assert [file.name for file in place.iterdir()] == ["out"]


@pytest.fixture
def disk(tmp_path):
    """A function that mounts a small file system; skips where that is not allowed."""
    place = tmp_path / "place"

    def mount(kilobytes, *more):
        place.mkdir(exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", ",".join([f"size={kilobytes}k", *more]), "x"]
        if subprocess.run([*command, str(place)], capture_output=True, check=False).returncode:
            pytest.skip("mounting is not allowed")
        return place

    yield mount
    subprocess.run(["umount", str(place)], capture_output=True, check=False)


@pytest.mark.parametrize("kilobytes", [4, 16, 24, 32, 64])
def test_a_disk_that_is_really_full(scenario, disk, kilobytes):
    place = disk(kilobytes)
    args = ("run", scenario, "--out", place / "out", "--set", "run.capture=20000")
    found = ended(args, place)
    assert found.code in (1, 2)
    only_says_what_is_wrong(found, FULL)
    assert "no space left on the device; free some space" in found.said
    assert not wholes(place / "out", place / "out.partial")
    manifest = read_manifest(place / "out.partial")
    assert manifest is None or manifest["status"] == "failed"
    subprocess.run(["mount", "-o", "remount,size=4m", place], check=True)
    assert ended(args, place).code == 0
    assert [file.name for file in place.iterdir()] == ["out"]


def test_a_disk_that_cannot_be_written(scenario, disk):
    place = disk(4000)
    assert ended(("run", scenario, "--out", place / "out"), place).code == 0
    subprocess.run(["mount", "-o", "remount,ro", place], check=True)
    for out in ("out", "other", "new/other"):
        found = ended(("run", scenario, "--out", place / out), place)
        assert found.code == 2
        assert "read-only file system; choose a writable folder with --out" in found.said
        only_says_what_is_wrong(found, FULL)
    assert wholes(place / "out")
    found = ended(("plot", place / "out", "--out", place / "new" / "figure"), place)
    assert found.code == 1
    only_says_what_is_wrong(found, FULL)


def test_processes_that_write_one_folder(scenario, tmp_path):
    """Each waits for its turn or says that another is writing; none breaks another's run."""
    out, children = tmp_path / "place" / "out", []
    for own in (1, 2):
        children.append(os.fork())
        if children[-1] == 0:
            os._exit(write_often(scenario, out, own))
    assert [os.waitstatus_to_exitcode(os.waitpid(one, 0)[1]) for one in children] == [0, 0]
    assert wholes(out)
    assert [file.name for file in out.parent.iterdir()] == ["out"]


def write_often(scenario, out, own):
    """Return 0 if every run was written or refused because of another."""
    for seed in range(15):
        said = io.StringIO()
        with redirect_stderr(said):
            code = cli.main(
                ["run", str(scenario), "--out", str(out), "--quiet", "--set", f"seed={own}{seed}"]
            )
        if code and "another run is writing" not in said.getvalue():
            sys.__stderr__.write(said.getvalue())
            return 1
    return 0


def test_a_file_besides_the_tables_is_announced_before_it_exists(scenario, tmp_path):
    """After a kill between both, a new run may replace the file."""
    with RunDir(tmp_path / "out", []) as folder:
        folder._others = NoFiles()
        with pytest.raises(KeyboardInterrupt):
            folder.file("pfc.txt", b"1")
    assert read_manifest(tmp_path / "out.partial")["other_files"] == ["pfc.txt"]


class NoFiles(dict):
    """A place where the process is interrupted before it makes a file."""

    def __setitem__(self, name, file):
        raise KeyboardInterrupt


def test_a_clock_that_jumps_changes_nothing(scenario, tmp_path, monkeypatch):
    first = xoff.run(scenario, tmp_path / "first")
    chosen = random.Random(1)
    for name in ("time", "time_ns"):
        monkeypatch.setattr(time, name, lambda: chosen.randrange(-(10**12), 10**12))
    second = xoff.run(scenario, tmp_path / "second", max_wall="1h")
    files = [read_manifest(run.path)["files"] for run in (first, second)]
    assert files[0] == files[1]
    os.utime(second.path / "flows.parquet", (0, 0))
    os.utime(second.path / "manifest.json", (2**40, 2**40))
    assert xoff.load(second.path).flows.equals(first.flows)


def test_a_draft_is_a_file_or_nothing(tmp_path):
    target = tmp_path / "table.md"
    for text in ("one", "two"):
        with draft_of(target) as draft:
            draft.write_text(text)
    with pytest.raises(ZeroDivisionError):
        fail_in_between(target)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"table.md": "two"}


def fail_in_between(target):
    with draft_of(target) as draft:
        draft.write_text("thr")
        raise ZeroDivisionError


def test_drafts_of_killed_processes_are_removed(tmp_path):
    target = tmp_path / "figure.png"
    with draft_of(target) as draft:
        draft.write_text("x")
        name = draft.name
    dead, alive = name.replace(str(os.getpid()), "4194305"), name.replace(str(os.getpid()), "1")
    others = [alive, ".figure.png.another-machine-4194305.png", ".figure.svg.x-4194305.svg"]
    for one in (dead, *others):
        (tmp_path / one).touch()
    drafts.replace_text(target, "y")
    assert {file.name for file in tmp_path.iterdir()} == {"figure.png", *others}


def test_a_figure_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    def fail(self, draft, **options):
        draft.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    target = tmp_path / "figure.png"
    target.write_bytes(b"old")
    monkeypatch.setattr(plots.Figure, "savefig", fail)
    with pytest.raises(xoff.RunError, match="no space left"):
        plots._write(plots.Figure(), target)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"figure.png": b"old"}


def test_kills_at_random_times(tmp_path):
    """The long form is a command: `crashes.py --kills 500`."""
    found = crashes.targets(tmp_path)
    counts = crashes.kill_at_random({"run": found["run"]}, random.Random(1), 3)
    assert sum(counts.values()) == 3


REPORT = """\
name = "small"
scheme = "bfc"
leaf_spine = { leaves = 2, spines = 1, hosts_per_leaf = 2 }
run = { warmup = "0us", measure = "50us" }
[[traffic]]
kind = "open-loop"
load = 0.5
"""


@pytest.mark.real_engine
@pytest.mark.parametrize("fault", FAULTS)
def test_a_report_is_the_old_one_or_the_new_one(tmp_path, fault):
    xoff.run(REPORT, tmp_path / "run")
    place, target = tmp_path / "place", tmp_path / "place" / "report.html"
    args = ("report", tmp_path / "run", "--out", target)
    whole = ended(args, place)
    assert whole.code == 0
    expected = outputs(place)
    for at in range(1, whole.operations + 1):
        target.write_text("old")
        found = ended(args, place, fault, at)
        only_says_what_is_wrong(found, fault)
        if fault != VANISH:
            assert target.read_text() in ("old", expected["report.html"].decode())
        assert ended(args, place).code == 0
        assert outputs(place) == expected
