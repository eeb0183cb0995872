import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import xoff
from xoff import jobs, source
from xoff.cli import main
from xoff.errors import Interrupted, UsageError
from xoff.locks import in_use, lock_of
from xoff.progress import Line
from xoff.rundir import RunDir
from xoff.sampling import Sample
from xoff.sweeps import on_dask, on_slurm, placing, prepare, shown, sweep
from xoff.sweeps.grid import choose, read_grid

SHIPPED = Path(__file__).parents[2] / "scenarios" / "sweeps"
GRID = """
scenario = "small.toml"
set = ["run.slices=2"]
seeds = 2
[grid]
scheme = ["bfc", "dctcp"]
run.degree = [10, 20]
[[measure]]
name = "p99"
[[measure]]
name = "mean"
statistic = "mean"
level = 2
"""


@pytest.fixture
def grid_file(scenario):
    file = scenario.parent / "grid.toml"
    file.write_text(GRID)
    return file


def slow(grid_file, ms=150):
    grid_file.write_text(GRID.replace("slices=2", f'slices=2", "run.sleep_ms={ms}'))
    return grid_file


def test_every_combination_runs_with_every_seed(grid_file):
    grid = read_grid(grid_file)
    assert grid.keys == ["scheme", "run.degree"]
    points = grid.points()
    assert len(points) == 2 * 2 * 2
    assert points[1].overrides == ("run.slices=2", "scheme=bfc", "run.degree=10", "seed=2")
    assert points[1].title == "scheme=bfc, run.degree=10 seed 2"
    assert grid.default_x() == "run.degree"


def test_zipped_settings_change_together(grid_file):
    zipped = '[[zip]]\n"run.slices" = [1, 2]\nname = ["one", "two"]\n'
    grid_file.write_text(f'scenario = "small.toml"\n[grid]\nscheme = ["bfc"]\n{zipped}')
    labels = [one.label for one in read_grid(grid_file).combinations()]
    assert labels == [
        "scheme=bfc, run.slices=1, name=one",
        "scheme=bfc, run.slices=2, name=two",
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"small.toml"', '"none.toml"'), "none.toml does not exist"),
        (("[10, 20]", "10"), "`run.degree` must be a list of values, not 10"),
        (("[10, 20]", "[]"), "`run.degree` must be a list of values"),
        (("seeds = 2", "seeds = 0"), "`seeds` must be whole numbers above 0"),
        (("seeds = 2", "seeds = [1, 1]"), "a seed twice"),
        (("seeds = 2", "sedes = 2"), "unknown key `sedes` (did you mean `seeds`?)"),
        (('name = "mean"', 'name = "p99"'), "are named `p99`"),
        (('name = "mean"', 'name = "p99_low"'), "are named `p99_low`"),
        (("[10, 20]", "[10, 10]"), "given twice: `scheme=bfc, run.degree=10`"),
        (("[10, 20]", '["10us", "20us"]'), "`level` of `mean` needs a setting with"),
        (('name = "mean"', 'name = "scheme"'), "are named `scheme`"),
        (
            ("[grid]\nscheme = [", "[[zip]]\nscheme = ['hpcc', "),
            "`scheme` has 3, `run.degree` has 2",
        ),
        (('statistic = "mean"', 'statistic = "median"'), "unknown statistic `median`"),
        (("[grid]", "[gird]"), "unknown key `gird` (did you mean `grid`?)"),
        (("[10, 20]", "[10]"), "`level` of `mean` needs a setting with several numbers"),
        (('scenario = "small.toml"', 'scheme = "bfc"'), "is a scenario: `xoff run` runs it"),
    ],
)
def test_a_mistake_in_the_file_is_named(grid_file, change, message):
    grid_file.write_text(GRID.replace(*change))
    with pytest.raises(UsageError, match=r"grid\.toml") as caught:
        read_grid(grid_file)
    assert message in str(caught.value)


def test_a_file_in_which_nothing_varies_is_refused(grid_file):
    grid_file.write_text('scenario = "small.toml"\n')
    with pytest.raises(UsageError, match=r"nothing varies; add \[grid\]"):
        read_grid(grid_file)


def test_only_what_varies_and_is_measured_can_be_drawn(grid_file):
    grid = read_grid(grid_file)
    assert choose(grid, "scheme", "p99") == ("scheme", grid.measures[:1])
    with pytest.raises(UsageError, match=r"`degree` does not vary"):
        choose(grid, "degree", None)
    with pytest.raises(UsageError, match=r"no measure is called `p9` \(did you mean `p99`"):
        choose(grid, None, "p9")


def test_a_sweep_writes_tables_and_a_figure(grid_file, tmp_path):
    found = sweep(grid_file, tmp_path / "out", slots=2)
    names = ["sweep.parquet", "runs.parquet", "table.md", "figure.svg", "figure.png"]
    assert [file.name for file in found.files] == names
    table = pq.read_table(tmp_path / "out" / "sweep.parquet")
    assert table.num_rows == 4
    assert table.column_names[:4] == ["scheme", "run.degree", "seeds", "p99"]
    assert table["run.degree"].to_pylist() == [10, 20, 10, 20]
    for row in table.to_pylist():
        assert row["seeds"] == 2
        assert row["p99_low"] <= row["p99"] <= row["p99_high"]
    runs = pq.read_table(tmp_path / "out" / "runs.parquet")
    assert set(runs["status"].to_pylist()) == {"finished"}
    keys = set(runs["key"].to_pylist())
    assert {folder.name for folder in (tmp_path / "out" / "runs").iterdir()} == keys
    assert len(keys) == 8
    assert "| bfc | 10 | 2 |" in (tmp_path / "out" / "table.md").read_text()


def test_an_extended_sweep_runs_only_what_is_new(grid_file, tmp_path):
    sweep(grid_file, tmp_path / "out", slots=2)
    before = {f.name: f.stat().st_mtime_ns for f in (tmp_path / "out" / "runs").iterdir()}
    found = sweep(grid_file, tmp_path / "out", slots=2, seeds=3)
    after = {f.name: f.stat().st_mtime_ns for f in (tmp_path / "out" / "runs").iterdir()}
    assert before.items() <= after.items()
    assert len(after) == 12
    assert {row.seeds for row in found.rows} == {3}


def test_failed_runs_are_listed_and_run_again_on_request(grid_file, tmp_path, capsys):
    grid_file.write_text(GRID.replace("[10, 20]", "[10]\nrun.fail = [0, 2]"))
    arguments = ["sweep", str(grid_file), "--out", str(tmp_path / "out"), "--jobs", "2"]
    assert main(arguments) == 1
    said = capsys.readouterr()
    assert said.err.count("failed: ") == 4
    assert "| bfc | 10 | 0 | 2 |" in said.out
    assert "| 10 | 2 |" not in said.out
    statuses = pq.read_table(tmp_path / "out" / "runs.parquet")["status"].to_pylist()
    assert statuses == [*["finished"] * 2, *["failed"] * 2] * 2
    # A second time nothing runs; the errors are those of before.
    runs = tmp_path / "out" / "runs"
    before = {file: file.stat().st_mtime_ns for file in runs.rglob("manifest.json")}
    assert main(arguments) == 1
    assert "4 runs failed before; --again runs them once more" in capsys.readouterr().err
    assert {file: file.stat().st_mtime_ns for file in runs.rglob("manifest.json")} == before
    assert main([*arguments[:4], "--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == [*["finished"] * 2, *["failed"] * 2] * 2
    assert main([*arguments, "--again"]) == 1
    assert "failed before" not in capsys.readouterr().err
    assert {file: file.stat().st_mtime_ns for file in runs.rglob("manifest.json")} != before


def test_a_refused_point_ends_the_sweep_before_it_runs(grid_file, tmp_path):
    grid_file.write_text(GRID.replace("run.degree =", '"run.degre" ='))
    with pytest.raises(UsageError, match=r"case `scheme=bfc, run.degre=10 seed 1`"):
        sweep(grid_file, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_set_cannot_change_what_the_sweep_varies(grid_file, tmp_path):
    for override in ("scheme=pfc", "run.degree=30", "seed=7"):
        with pytest.raises(UsageError, match=f"`{override}` has no effect: the sweep varies it"):
            sweep(grid_file, tmp_path / "out", set=[override])


@pytest.mark.real_engine
@pytest.mark.parametrize("name", ["load", "traffic.0.load", "traffic.background.load"])
def test_a_varied_setting_is_known_by_all_its_names(tmp_path, name):
    with pytest.raises(UsageError, match="has no effect: the sweep varies it"):
        prepare(SHIPPED / "pfc-spread.toml", tmp_path / "out", set=[f"{name}=0.9"])


def test_a_sweep_leaves_runs_alone(scenario, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = {"run.degree": [10, 20]}
    run = xoff.run(scenario, "out/small")
    with pytest.raises(UsageError, match="out/small is a run of xoff"):
        sweep(scenario, "out/small", grid=values)
    sweep(xoff.Scenario.from_toml(scenario), grid=values)
    assert xoff.load("out/small").digest == run.digest
    assert Path("out/small-sweep/runs/scenario.toml").exists()


def test_a_refused_sweep_of_a_scenario_leaves_nothing(scenario, tmp_path):
    text = scenario.read_text()
    values = {"run.degree": [10, 20]}
    for given, options in (
        ({"run.degre": [10, 20]}, {}),
        (values, {"x": "run.degre"}),
        (values, {"levels": {"p98": 3}}),
        (values, {"max_wall": "10 parsecs"}),
    ):
        with pytest.raises(UsageError):
            sweep(text, tmp_path / "new" / "out", grid=given, **options)
        assert not (tmp_path / "new").exists()
    sweep(text, tmp_path / "out", grid=values)
    own = tmp_path / "out" / "runs" / "scenario.toml"
    kept = own.read_text()
    with pytest.raises(UsageError):
        sweep(text + "\n# changed\n", tmp_path / "out", grid={"run.degre": [10, 20]})
    assert own.read_text() == kept


def test_a_users_scenario_in_the_folder_of_the_results_is_kept(scenario, tmp_path):
    own = tmp_path / "out" / "scenario.toml"
    own.parent.mkdir()
    own.write_text("mine")
    xoff.Scenario.from_toml(scenario).sweep({"run.degree": [10, 20]}, tmp_path / "out")
    assert own.read_text() == "mine"


@pytest.mark.parametrize("seeds", [[3, 5], np.array([3, 5]), range(3, 6, 2)])
def test_seeds_are_any_sequence_and_overrides_may_be_one(scenario, tmp_path, seeds):
    options = {"grid": {"scheme": ["bfc", "dctcp"]}, "seeds": seeds, "set": "run.slices=2"}
    found = sweep(scenario, tmp_path / "out", **options)
    assert found.grid.seeds == (3, 5)
    assert found.grid.overrides == ("run.slices=2",)
    assert [row.seeds for row in found.rows] == [2, 2]


def test_one_override_of_a_file_of_a_sweep(grid_file, tmp_path):
    prepared = prepare(grid_file, tmp_path, set="name=x", seeds=np.int64(1))
    assert prepared.grid.overrides == ("run.slices=2", "name=x")
    assert prepared.grid.seeds == (1,)


def test_no_seeds_are_refused(scenario, tmp_path):
    with pytest.raises(UsageError, match="`seeds` must be whole numbers above 0"):
        sweep(scenario, tmp_path / "out", grid={"scheme": ["bfc", "dctcp"]}, seeds=0)


def test_memory_in_bytes_limits_each_run(grid_file, tmp_path):
    for most in (10**9, np.int64(10**9)):
        (job, *_) = prepare(grid_file, tmp_path, max_memory=most).planned
        command = job.command()
        assert command[command.index("--max-memory") + 1] == "1000000000B"
    with pytest.raises(UsageError, match=r"max_memory must be a size such as '24GB'"):
        xoff.check(grid_file.parent / "small.toml", max_memory=1e9)


def test_a_text_finds_its_files_in_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "name = 'x'\n[network]\ntopology = 'graph'\nfile = 'net.toml'\n"
    with placing.as_file(source.read(text), tmp_path / "out") as file:
        assert f'file = "{tmp_path}/net.toml"' in file.read_text()


def test_a_measure_that_no_run_has_ends_the_sweep_before_it_runs(grid_file, tmp_path):
    text = GRID.replace('statistic = "mean"', 'path = "buffer.p98_bytes"')
    grid_file.write_text(text.replace("level = 2", ""))
    with pytest.raises(UsageError, match=r"measure `mean`: `buffer\.p98_bytes`: .* `p99_bytes`"):
        sweep(grid_file, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_two_sweeps_share_their_runs(grid_file, tmp_path):
    slow(grid_file)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "xoff", "sweep", str(grid_file), "--out", str(out), "--json"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    said = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert said[0] == said[1]
    # Four points, and where the level is passed on two curves.
    assert len(said[0].splitlines()) == 4 + 2


def test_a_run_that_another_process_writes_is_in_use(tmp_path):
    assert not in_use(tmp_path / "run")
    assert in_use_while_written(tmp_path / "run")
    assert not in_use(tmp_path / "run")


def in_use_while_written(folder):
    with contextlib.suppress(Interrupted), RunDir(folder, ["xoff"]):
        seen = in_use(folder)
        raise KeyboardInterrupt
    return seen


def test_ctrl_c_says_how_to_continue(grid_file, tmp_path, monkeypatch):
    def stop(planned, *, slots, tick):
        raise KeyboardInterrupt

    monkeypatch.setattr(jobs, "run_all", stop)
    with pytest.raises(Interrupted, match="the same command continues from there"):
        sweep(grid_file, tmp_path / "out")


def test_an_array_job_runs_every_point(grid_file, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["sweep", str(grid_file), "--out", str(out), "--emit", "slurm"]) == 0
    commands, script = (Path(line) for line in capsys.readouterr().out.splitlines())
    assert len(commands.read_text().splitlines()) == 8
    assert "#SBATCH --array=1-8\n" in script.read_text()
    for task in range(1, 9):
        environment = {**os.environ, "SLURM_ARRAY_TASK_ID": str(task)}
        subprocess.run(["bash", str(script)], env=environment, check=True)
    prepared = prepare(grid_file, out)
    assert all(job.cached for job in prepared.planned)
    assert len(prepared.collect().rows) == 4
    assert on_slurm.emit(prepared.planned, out, ["xoff"]) == []


def test_an_array_job_names_the_command_that_collects(grid_file, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "with space"
    given = ["sweep", grid_file.name, "--out", str(out), "--seeds", "1", "--set", "run.slices=1"]
    assert main([*given, "--emit", "slurm"]) == 0
    text = Path(capsys.readouterr().out.splitlines()[1]).read_text()
    assert f"#   xoff sweep {grid_file} --out '{out}' --set run.slices=1 --seeds 1\n" in text
    assert "#SBATCH --job-name=xoff-with-space\n" in text
    assert f"\ncd {tmp_path} || exit 1\n" in text


def test_an_array_job_has_one_line_per_command(grid_file, tmp_path):
    jobs = prepare(grid_file, tmp_path).planned
    with pytest.raises(UsageError, match="would have a newline"):
        on_slurm.emit(jobs, tmp_path, ["xoff", "sweep", "evil\ntouch PWNED"])
    jobs[0].points[0] = replace(jobs[0].points[0], overrides=("name=a\nb",))
    with pytest.raises(UsageError, match="would have a newline"):
        on_slurm.emit(jobs, tmp_path, ["xoff"])
    assert not list(tmp_path.glob("*.sbatch"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--list", "--x", "scheme"], "--x has no effect with --list"),
        (["--emit", "slurm", "--again"], "--again has no effect with --emit"),
        (["--dask", "tcp://h:1", "--jobs", "2"], "--jobs has no effect with --dask"),
        (["--level", "p99=3", "--level", "p99=5"], "--level: given twice: `p99`"),
        (
            ["--relative-to", "scheme=bfc", "--relative-to", "scheme=dctcp"],
            "--relative-to: given twice: `scheme`",
        ),
    ],
)
def test_options_without_effect_or_given_twice_are_refused(grid_file, options, message, capsys):
    assert main(["sweep", str(grid_file), *options]) == 2
    assert message in capsys.readouterr().err


def test_infinite_numbers_are_text_in_json(grid_file, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("xoff.sampling.Sample.interval", (1.0, float("inf")))
    assert main(["sweep", str(grid_file), "--out", str(tmp_path / "out"), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["p99_high"] for row in rows if "p99" in row} == {"inf"}


def test_numbers_that_unfinished_flows_bound_are_explained(grid_file, tmp_path, monkeypatch):
    out, note = tmp_path / "out", '"At least": some flows did not end'
    whole = sweep(grid_file, out)
    assert note not in shown.text(whole.grid, whole.rows) + repr(whole)
    monkeypatch.setattr("xoff.sampling.of_term", lambda *_: Sample(1.29, float("inf")))
    bound = sweep(grid_file, out)
    text = shown.text(bound.grid, bound.rows)
    assert "| at least 1.29 |" in text
    assert note in text
    assert note in repr(bound)


def test_failures_are_kept_when_interrupted(grid_file, tmp_path):
    def stop(planned, tick):
        planned[0].done, planned[0].failure = True, "too hot"
        raise KeyboardInterrupt

    prepared = prepare(grid_file, tmp_path / "out")
    with pytest.raises(Interrupted):
        prepared.run(stop, Line(quiet=True))
    again = prepare(grid_file, tmp_path / "out")
    again.skip_failed(again=False)
    assert [job.failure for job in again.planned].count("too hot") == 1


def test_looking_at_a_run_does_not_stop_another(tmp_path):
    folder = tmp_path / "run"
    lock_of(folder).touch()
    done = threading.Event()

    def look():
        while not done.is_set():
            in_use(folder)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        for _ in range(50):
            assert in_use_while_written(folder)
    finally:
        done.set()
        looking.join()


def test_a_run_repaired_by_another_process_is_kept(grid_file, tmp_path):
    sweep(grid_file, tmp_path / "out")
    job = prepare(grid_file, tmp_path / "out").planned[0]
    job.result, job.done, job.damage = None, False, "summary.json is missing"
    job.find_result()
    assert job.done
    assert job.result is not None
    assert job.damage is None


def test_a_scenario_that_changes_during_a_sweep_is_an_error(grid_file, tmp_path):
    sweep(grid_file, tmp_path / "out")
    planned = prepare(grid_file, tmp_path / "out").planned
    job, other = planned[0], planned[1]
    # The process reads the file again, and writes another run into the folder of the planned one.
    job.folder, job.result, job.done = other.folder, None, False
    job.end(0, "")
    assert job.result is None
    assert "small.toml, or a file that it names, has changed" in job.failure


@pytest.fixture
def cluster(fake_engine):
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as found:
        yield found


def test_dask_runs_a_sweep_and_survives_the_death_of_a_worker(grid_file, tmp_path, cluster):
    prepared = prepare(slow(grid_file), tmp_path / "out")
    killed = []
    with on_dask.connected(cluster.scheduler_address) as client:

        def kill_once_busy():
            if not killed and any((tmp_path / "out" / "runs").glob("*.partial")):
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        def run_all(planned, tick):
            on_dask.run_all(planned, client, lambda: (tick(), kill_once_busy()))

        prepared.run(run_all, Line(quiet=True))
    assert killed
    found = prepared.collect()
    assert not found.failures
    assert {row.seeds for row in found.rows} == {2}


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch, grid_file, capsys):
    import distributed

    def refuse(**where):
        raise OSError("timed out")

    monkeypatch.setattr(distributed, "Client", refuse)
    assert main(["sweep", str(grid_file), "--dask", "tcp://127.0.0.1:1"]) == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in capsys.readouterr().err


@pytest.mark.real_engine
@pytest.mark.parametrize("file", sorted(SHIPPED.glob("*.toml")), ids=lambda file: file.stem)
def test_shipped_sweeps_are_valid(file, tmp_path):
    assert prepare(file, tmp_path).planned
