"""A sweep killed with `kill -9`: finished runs are kept, and none is computed twice."""

import json
from pathlib import Path

import pytest
from killed import Killed

from xoff.publishing import partial_of
from xoff.sweeps import prepare, sweep

RUNS, KILLS, AT_ONCE = 12, 3, 2


@pytest.fixture
def grid_file(scenario):
    file = scenario.parent / "grid.toml"
    file.write_text(
        f'scenario = "small.toml"\nseeds = {RUNS}\nset = ["run.sleep_ms=50"]\n'
        '[grid]\nscheme = ["bfc"]\n'
    )
    return file


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc")
def test_a_killed_sweep_loses_no_finished_run_and_computes_none_twice(grid_file, tmp_path):
    killed = Killed.of(grid_file, tmp_path / "out", tmp_path / "noting", AT_ONCE)
    for _ in range(KILLS):
        killed.kill_after(2)
    said = killed.end()
    assert f"of {RUNS} runs are finished already" in said
    last = killed.runs()
    assert len(last) == RUNS
    for finished in killed.finished:
        assert finished.items() <= last.items()
    begins = killed.begins()
    for finished, begun in zip(killed.finished, killed.begun, strict=True):
        for manifest in finished.values():
            seed = json.loads(manifest)["seed"]
            assert begins[seed] == begun[seed]
    # What was under way at a kill is begun again, and nothing else is.
    assert len(begins) == RUNS
    assert RUNS <= begins.total() <= RUNS + KILLS * AT_ONCE


def test_a_run_that_only_lacks_its_name_is_not_computed_again(grid_file, tmp_path):
    sweep(grid_file, tmp_path / "out", seeds=1)
    (job,) = prepare(grid_file, tmp_path / "out", seeds=1).planned
    manifest = (job.folder / "manifest.json").read_bytes()
    job.folder.rename(partial_of(job.folder))
    (job,) = prepare(grid_file, tmp_path / "out", seeds=1).planned
    assert job.cached
    assert (job.folder / "manifest.json").read_bytes() == manifest
    assert not partial_of(job.folder).exists()


def test_an_unfinished_run_is_not_taken_for_finished(grid_file, tmp_path):
    sweep(grid_file, tmp_path / "out", seeds=1)
    (job,) = prepare(grid_file, tmp_path / "out", seeds=1).planned
    job.folder.rename(partial_of(job.folder))
    (partial_of(job.folder) / "summary.json").unlink()
    (job,) = prepare(grid_file, tmp_path / "out", seeds=1).planned
    assert not job.done
    assert not job.folder.exists()
