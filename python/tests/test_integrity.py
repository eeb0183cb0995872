"""Damaged run directories: every kind of damage is reported, and no result is used."""

import hashlib
import json
import os
import shutil

import pytest

import xoff
from xoff import cli, integrity, jobs
from xoff.experiment import load_experiment
from xoff.integrity import open_run_dir
from xoff.manifest import read_manifest, save_manifest
from xoff.reproduce import reproduce


@pytest.fixture
def run_dir(scenario, tmp_path):
    return xoff.run(scenario, tmp_path / "out", set=["run.capture=2", "run.queries=1"]).path


def listed(run_dir, **entries):
    """Replace entries in the manifest of a run; None takes the file's current contents."""
    manifest = read_manifest(run_dir)
    for name, entry in entries.items():
        data = (run_dir / name).read_bytes()
        found = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        manifest["files"][name] = found if entry is None else entry
    save_manifest(run_dir, manifest)


def rewrite_summary(run_dir, change):
    """Change the summary, and the manifest's checksum accordingly."""
    summary = json.loads((run_dir / "summary.json").read_text())
    change(summary)
    (run_dir / "summary.json").write_text(json.dumps(summary))
    listed(run_dir, **{"summary.json": None})


def test_the_manifest_lists_every_file_as_it_is_on_disk(run_dir):
    files = read_manifest(run_dir)["files"]
    there = {file.name: file.read_bytes() for file in run_dir.iterdir()}
    del there["manifest.json"]
    assert {"flows.parquet", "queries.parquet", "trace.pcapng", "summary.json"} < set(there)
    assert files == {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in there.items()
    }


def cut(file):
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])


def zero(file):
    file.write_bytes(bytes(file.stat().st_size))


def fill(file):
    file.write_bytes(bytes(100))


def flip(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def replace_by_folder(file):
    file.unlink()
    file.mkdir()


def swap(file):
    shutil.copy(file.with_name("ports.parquet"), file)


@pytest.mark.parametrize("name", ["flows.parquet", "summary.json", "scenario.toml", "trace.pcapng"])
@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (cut, " bytes instead of "),
        (fill, " bytes instead of "),
        (zero, "its checksum differs"),
        (flip, "its checksum differs"),
        (os.unlink, "is missing"),
        (replace_by_folder, "is not a file"),
        (swap, " bytes instead of "),
    ],
)
def test_damage_is_named(run_dir, tmp_path, capsys, name, damage, told):
    damage(run_dir / name)
    with pytest.raises(xoff.IncompleteRunError) as caught:
        xoff.load(run_dir)
    assert f"{run_dir} is damaged: {name} " in str(caught.value)
    assert told in str(caught.value)
    assert cli.main(["plot", str(run_dir), "--out", str(tmp_path / "figure")]) == 2
    assert name in capsys.readouterr().err
    assert not (tmp_path / "figure.svg").exists()


def test_all_damage_is_named_at_once(run_dir):
    (run_dir / "flows.parquet").unlink()
    (run_dir / "summary.json").write_text("{}")
    shutil.copy(run_dir / "ports.parquet", run_dir / "flow_series.parquet")
    with pytest.raises(xoff.IncompleteRunError) as caught:
        xoff.load(run_dir)
    for problem in (
        "flow_series.parquet exists but is not listed",
        "flows.parquet is missing",
        "summary.json has 2 bytes",
    ):
        assert problem in str(caught.value)


def test_what_is_not_of_the_run_is_no_damage(run_dir):
    (run_dir / "my-notes.txt").write_text("mine")
    assert xoff.load(run_dir).flows.num_rows == 6


@pytest.mark.parametrize(
    "files",
    [
        None,
        [],
        {"flows.parquet": 1},
        {"flows.parquet": {"bytes": "1", "sha256": "0"}},
        {"../flows.parquet": {"bytes": 1, "sha256": "0"}},
        {"manifest.json": {"bytes": 1, "sha256": "0"}},
    ],
)
def test_a_manifest_without_a_list_of_files(run_dir, files):
    manifest = read_manifest(run_dir)
    manifest["files"] = files
    if files is None:
        del manifest["files"]
    save_manifest(run_dir, manifest)
    with pytest.raises(xoff.IncompleteRunError, match=r"older xoff.*run it again"):
        xoff.load(run_dir)


def test_a_list_that_lacks_a_file_every_run_has(run_dir):
    manifest = read_manifest(run_dir)
    del manifest["files"]["samples.parquet"]
    save_manifest(run_dir, manifest)
    (run_dir / "samples.parquet").unlink()
    with pytest.raises(xoff.IncompleteRunError, match=r"samples\.parquet is not listed"):
        xoff.load(run_dir)


@pytest.mark.parametrize("text", ["", "{", '{"a": 1}', "[]", "[" * 100_000])
def test_a_damaged_manifest(run_dir, text):
    (run_dir / "manifest.json").write_text(text)
    with pytest.raises(xoff.IncompleteRunError, match=r"manifest\.json is damaged"):
        xoff.load(run_dir)


def test_a_manifest_of_another_run(run_dir):
    manifest = read_manifest(run_dir)
    save_manifest(run_dir, {**manifest, "digest": "0" * 16})
    with pytest.raises(xoff.IncompleteRunError, match="belong to different runs"):
        xoff.load(run_dir)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda found: found.clear(), "`name` is missing"),
        (lambda found: found.pop("buffer"), "`buffer` is missing"),
        (lambda found: found.update(buffer=[]), r"`buffer` must be an object, not \[\]"),
        (lambda found: found.update(active_flows=1), "`active_flows` must be an object or null"),
        (lambda found: found.update(classes={}), "`classes` must be a list, not {}"),
        (lambda found: found.update(classes=[3]), "`classes.0` must be an object, not 3"),
        (lambda found: found["classes"][1].update(bins="x"), "`classes.1.bins` must be a list"),
        (lambda found: found.update(seed=True), "`seed` must be a whole number, not True"),
        (lambda found: found.update(engine=[]), "`engine` must be a string"),
    ],
)
def test_a_summary_without_its_sections(run_dir, change, told):
    rewrite_summary(run_dir, change)
    with pytest.raises(xoff.IncompleteRunError, match=rf"summary\.json is damaged: {told}"):
        xoff.load(run_dir)


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000])
def test_a_summary_that_is_no_object(run_dir, text):
    (run_dir / "summary.json").write_text(text)
    listed(run_dir, **{"summary.json": None})
    with pytest.raises(xoff.IncompleteRunError, match=r"summary\.json is damaged: is not"):
        xoff.load(run_dir)


def test_a_table_of_other_columns(run_dir):
    shutil.copy(run_dir / "ports.parquet", run_dir / "flows.parquet")
    fill(run_dir / "queries.parquet")
    listed(run_dir, **{"flows.parquet": None, "queries.parquet": None})
    result = xoff.load(run_dir)
    with pytest.raises(xoff.IncompleteRunError, match="is not a table of flows: its columns are"):
        _ = result.flows
    with pytest.raises(xoff.IncompleteRunError, match=r"cannot read .*queries\.parquet"):
        _ = result.queries


def test_a_table_that_changes_after_its_run_was_loaded(scenario, run_dir):
    early, late = xoff.load(run_dir), xoff.load(run_dir)
    rows = early.flows
    xoff.run(scenario, run_dir, set=["run.slices=9"])
    assert early.flows is rows
    with pytest.raises(xoff.IncompleteRunError, match=r"flows\.parquet has"):
        _ = late.flows


def test_a_file_is_hashed_once(run_dir, monkeypatch):
    hashed = []
    real = integrity._sha256
    monkeypatch.setattr(integrity, "_sha256", lambda file: hashed.append(file.name) or real(file))
    result = xoff.load(run_dir)
    _ = result.flows, result.ports
    assert len(hashed) == len(set(hashed)) == len(read_manifest(run_dir)["files"])


def test_a_file_that_is_added_to_a_run_is_listed(run_dir):
    open_run_dir(run_dir).add("reference.csv", "flow\n")
    files = open_run_dir(run_dir)
    assert files.text("reference.csv") == "flow\n"
    flip(run_dir / "reference.csv")
    with pytest.raises(xoff.IncompleteRunError, match=r"reference\.csv"):
        files.text("reference.csv")


class Told:
    """A progress line that records its notes."""

    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)

    def due(self):
        return False

    def clear(self):
        pass


def falsify(run):
    text = (run / "summary.json").read_text()
    (run / "summary.json").write_text(text.replace('"mean": 0.825', '"mean": 777.0'))


def older(run):
    manifest = read_manifest(run)
    del manifest["files"]
    save_manifest(run, manifest)


def test_damaged_cached_runs_are_run_again(paper, tmp_path, monkeypatch):
    options = {"out": tmp_path / "out", "root": paper, "slots": 2}
    first = reproduce("demo/fig1", **options)
    table = first.files[2].read_text()
    damages = {
        "BFC": (falsify, "summary.json"),
        "HPCC seed 1": (lambda run: fill(run / "flows.parquet"), "flows.parquet"),
        "HPCC seed 2": (lambda run: fill(run / "manifest.json"), "manifest.json"),
        "Sweep@10": (older, "older xoff"),
    }
    folders = {job.title: job.folder for job in planned(paper, tmp_path)}
    for title, (damage, _) in damages.items():
        damage(folders[title])
    line = Told()
    again = reproduce("demo/fig1", line=line, **options)
    assert again.files[2].read_text() == table
    assert "demo/fig1: 1 of 5 runs are cached" in line.notes
    for title, (_, told) in damages.items():
        assert [n for n in line.notes if f"case `{title}` is run again" in n and told in n]
    monkeypatch.setattr(jobs, "_Worker", None)
    assert reproduce("demo/fig1", **options).runs == first.runs


def planned(paper, tmp_path):
    experiment = load_experiment(paper / "demo" / "fig1", "demo/fig1", "quick")
    return jobs.plan(experiment.points, tmp_path / "out" / "runs")


def test_a_cached_run_is_the_one_that_is_asked_for(paper, tmp_path):
    job, other = planned(paper, tmp_path)[:2]
    for one in (job, other):
        xoff.run(one.points[0].scenario, one.folder, set=one.points[0].overrides)
    assert all(found.cached for found in planned(paper, tmp_path)[:2])
    shutil.rmtree(job.folder)
    shutil.copytree(other.folder, job.folder)
    assert "the run of another scenario" in planned(paper, tmp_path)[0].damage
    (job.folder / "manifest.json").unlink()
    assert "is not a run directory" in planned(paper, tmp_path)[0].damage


def test_notes_in_the_cache_are_not_lost(paper, tmp_path):
    job = planned(paper, tmp_path)[0]
    run = xoff.run(job.points[0].scenario, job.folder, set=job.points[0].overrides).path
    fill(run / "flows.parquet")
    (run / "notes.txt").write_text("mine")
    with pytest.raises(xoff.RunError, match=r"case `BFC`.*notes\.txt"):
        reproduce("demo/fig1", out=tmp_path / "out", root=paper, slots=2)
    assert (run / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("before", [None, "flow\n"])
@pytest.mark.parametrize("broken", ["save_manifest", "write_hashed"])
def test_a_file_that_cannot_be_added_leaves_the_run_as_it_was(run_dir, monkeypatch, before, broken):
    if before is not None:
        open_run_dir(run_dir).add("reference.csv", before)
    files = open_run_dir(run_dir)

    def refuse(folder, *_):
        if folder.name == "reference.csv":
            folder.write_text("a part")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(integrity, broken, refuse)
        with pytest.raises((xoff.RunError, OSError), match=r"(?i)no space left"):
            files.add("reference.csv", "another\n")
    found = open_run_dir(run_dir)
    assert ("reference.csv" in found) == ("reference.csv" in files) == (before is not None)
    if before is not None:
        assert found.text("reference.csv") == files.text("reference.csv") == before
