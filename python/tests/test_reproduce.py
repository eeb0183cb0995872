import json
import shutil
import signal
import subprocess
import sys
import time

import pytest
from conftest import MORE_PLOTS

import xoff
from xoff import engine, jobs
from xoff.experiment import load_experiment
from xoff.reproduce import reproduce
from xoff.reproduce_paper import reproduce_all
from xoff.reproduce_report import TABLE, _rows, as_json, claims_text, measured_text
from xoff.verdicts import Measured


def run(paper, tmp_path, **options):
    return reproduce("demo/fig1", out=tmp_path / "out", root=paper, slots=2, **options)


def test_everything_at_once(paper, tmp_path):
    file = paper / "demo/fig1/experiment.toml"
    file.write_text(file.read_text() + MORE_PLOTS)
    outcome = run(paper, tmp_path, check=True)
    assert [f.name for f in outcome.files] == ["figure.svg", "figure.png", "table.md"]
    assert all(f.stat().st_size > 200 for f in outcome.files)
    assert set(outcome.results) == {"BFC", "HPCC", "Sweep@10", "Sweep@100"}
    assert len(outcome.results["HPCC"]) == 2
    holds = {v.claim.id: v.holds for v in outcome.verdicts}
    assert holds == {
        "D-C1": None,  # two seeds differ too much
        "D-C2": None,
        "D-C3": False,
        "D-C6": True,
        "D-C7": True,
        "D-C8": True,
    }
    assert {r.claim.id: r.needs for r in outcome.not_run} == {
        "D-C4": ("ExpressPass",),
        "D-C5": ("Homa",),
    }
    text = claims_text(outcome)
    assert "verdict   undecided (simulated)" in text
    assert "fails on purpose" in text
    assert "6 simulated claims: 3 holds, 1 fails, 2 undecided" in text
    found = as_json(outcome)
    assert found["claims"][0]["measured"]["HPCC/BFC"] == {"value": 2.09090909, "unit": "ratio"}
    assert found["claims"][0]["verdict"] == "undecided"
    assert found["not_run"][0] == {"claim": "D-C4", "needs": ["ExpressPass"]}
    assert set(found["runs"]) == {"BFC", "HPCC seed 1", "HPCC seed 2", "Sweep@10", "Sweep@100"}
    assert "| BFC | short | 5,000 |" in outcome.files[2].read_text()


def test_the_table_counts_packets_lost_on_links():
    entry = {"class": "n", "flows": 1, "all": {"flows": 1}}
    found = {"classes": [entry], "drops_packets": 0, "dropped": {"packets": 190}}
    (row,) = _rows("a", xoff.Result(found, "", "d"))
    assert row[TABLE.index("packets lost")] == "190"


def test_changed_settings_have_a_folder_of_their_own(paper, tmp_path):
    options = {"root": paper, "settings": ("run.degree=20",), "slots": 2}
    (found,) = reproduce_all("demo", lambda outcome: None, out=tmp_path / "out", **options)
    assert found.out == tmp_path / "out" / "fig1-quick-run.degree=20"
    assert (found.out / "figure.svg").exists()


def test_a_paper_is_all_its_experiments_and_shares_their_runs(paper, tmp_path, monkeypatch):
    folder = paper / "demo" / "fig2"
    shutil.copytree(paper / "demo" / "fig1", folder)
    (paper / "demo" / "claims.toml").write_text(
        (paper / "demo" / "claims.toml").read_text().replace("monitors.long", "monitors.short")
    )
    seen = []
    options = {"out": tmp_path / "out", "check": True, "slots": 2, "root": paper}
    first, second = reproduce_all("demo", lambda outcome: seen.append(outcome), **options)
    assert seen == [first, second]
    assert second.runs == first.runs
    assert len(list((tmp_path / "out" / "runs").iterdir())) == len(first.runs)
    assert {r.claim.id for r in first.not_run} == {"D-C4", "D-C5"}
    assert not second.not_run
    text = (tmp_path / "out" / "results-quick.md").read_text()
    assert "## Slowdown" in text
    assert "| D-C3 |" in text
    assert "| fails | fails on purpose |" in text
    assert "| D-C4 |  |  | not run | needs ExpressPass |" in text


def test_a_rerun_runs_nothing_and_draws_the_same(paper, tmp_path, monkeypatch):
    first = run(paper, tmp_path)
    svg = first.files[0].read_bytes()
    monkeypatch.setattr(jobs, "_Worker", None)
    again = run(paper, tmp_path)
    assert again.runs == first.runs
    assert again.files[0].read_bytes() == svg


def test_a_new_engine_is_a_new_key(paper, tmp_path, monkeypatch):
    experiment = load_experiment(paper / "demo" / "fig1", "demo/fig1", "quick")
    before = {job.folder for job in jobs.plan(experiment.points, tmp_path)}
    monkeypatch.setattr(engine, "build_id", lambda: "another")
    assert before.isdisjoint(job.folder for job in jobs.plan(experiment.points, tmp_path))


def test_points_that_are_one_run_run_once(paper, tmp_path):
    file = paper / "demo" / "fig1" / "experiment.toml"
    file.write_text(file.read_text() + '\n[[case]]\nname = "Twin"\nset = ["scheme=bfc"]\n')
    experiment = load_experiment(paper / "demo" / "fig1", "demo/fig1", "quick")
    planned = jobs.plan(experiment.points, tmp_path)
    assert len(planned) == len(experiment.points) - 1


def test_scales(paper):
    folder = paper / "demo" / "fig1"
    quick = load_experiment(folder, "demo/fig1", "quick")
    full = load_experiment(folder, "demo/fig1", "paper")
    assert len(full.points) == len(quick.points) + 1
    assert quick.points[0].overrides == ("run.slices=2", "scheme=bfc")
    assert quick.points[1].overrides == ("run.slices=2", "scheme=hpcc", "seed=1")
    assert full.points[-1].overrides == ("scheme=dctcp", "run.degree=1000")


def test_a_sweep_may_set_more_at_a_value(paper):
    folder = paper / "demo" / "fig1"
    file = folder / "experiment.toml"
    good = file.read_text()
    more = 'quick = [10, 100], set = { 10 = ["seed=7"], 1000 = ["seed=9"] } }'
    file.write_text(good.replace("quick = [10, 100] }", more))
    quick = load_experiment(folder, "demo/fig1", "quick")
    full = load_experiment(folder, "demo/fig1", "paper")
    assert quick.points[-2].overrides[-2:] == ("run.degree=10", "seed=7")
    assert quick.points[-1].overrides[-1:] == ("run.degree=100",)
    assert full.points[-1].overrides[-2:] == ("run.degree=1000", "seed=9")
    file.write_text(good.replace("quick = [10, 100] }", more.replace("1000 =", "1001 =")))
    with pytest.raises(xoff.UsageError, match="unknown key `1001`"):
        load_experiment(folder, "demo/fig1", "quick")


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_a_misspelt_value_of_a_scale_is_named(paper, scale):
    folder = paper / "demo" / "fig1"
    file = folder / "experiment.toml"
    sweep = 'values = ["10", "100"], quick = ["10", "1O0"], set = { 10 = [], 100 = ["seed=7"] } }'
    text = file.read_text().replace(
        'key = "run.degree", values = [10, 100, 1000], quick = [10, 100] }', sweep
    )
    file.write_text(text)
    with pytest.raises(xoff.UsageError, match=r"needs an entry for '1O0' \(did you mean `10"):
        load_experiment(folder, "demo/fig1", scale)


def test_a_file_may_set_something_for_every_case(paper):
    folder = paper / "demo" / "fig1"
    file = folder / "experiment.toml"
    file.write_text('set = ["run.sleep_ms=1"]\n' + file.read_text())
    points = load_experiment(folder, "demo/fig1", "quick").points
    assert all(point.overrides[:2] == ("run.sleep_ms=1", "run.slices=2") for point in points)


def test_a_case_may_be_left_out_at_a_scale(paper):
    folder = paper / "demo" / "fig1"
    file = folder / "experiment.toml"
    good = file.read_text() + MORE_PLOTS
    file.write_text(good.replace("seeds = [1, 2]", 'scales = ["paper"]', 1))
    quick = load_experiment(folder, "demo/fig1", "quick")
    full = load_experiment(folder, "demo/fig1", "paper")
    assert {p.case for p in full.points} - {p.case for p in quick.points} == {"HPCC"}
    # The plot may name it all the same.
    assert quick.plots[2].cases == ("BFC", "HPCC")
    file.write_text(good.replace("seeds = [1, 2]", 'scales = ["papre"]', 1))
    with pytest.raises(xoff.UsageError, match=r"unknown scale `papre` .did you mean `paper`"):
        load_experiment(folder, "demo/fig1", "quick")


def test_a_failing_case_is_named_and_the_others_are_kept(paper, tmp_path):
    file = paper / "demo" / "fig1" / "experiment.toml"
    good = file.read_text()
    file.write_text(good.replace('"scheme=bfc"', '"scheme=bfc", "run.fail=1"'))
    with pytest.raises(xoff.RunError, match=r"case `BFC`.*flow 7") as caught:
        run(paper, tmp_path)
    assert "1 of 5" in str(caught.value)
    assert not (tmp_path / "out" / "figure.svg").exists()
    whole = [f for f in (tmp_path / "out" / "runs").iterdir() if f.suffix != ".partial"]
    assert len(whole) == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "Slowdown"', "", "`title` is missing"),
        ('source = "Fig. 1"', 'sourec = "Fig. 1"', "unknown key `sourec`"),
        ('name = "HPCC"', 'name = "BFC"', "two cases are named `BFC"),
        ('kind = "curve"', 'kind = "curv"', "did you mean `curve`?"),
        ('cases = ["Sweep"]', 'cases = ["Swep"]', "unknown case `Swep` (did you mean `Sweep`?)"),
        ('"scheme=bfc"', '"shceme=bfc"', "case `BFC`:\nerror: unknown key `shceme`"),
        ('scenario = "scenario.toml"', 'scenario = "x.toml"', "does not exist"),
        ("[scale.quick]", "[scale.quik]", "unknown key `quik`"),
        (
            "[[plot]]",
            '[[column]]\ntitle = "p99"\npath = "buffer.p99_byte"\n\n[[plot]]',
            "column `p99`: `buffer.p99_byte`: `buffer` of the summary has no key `p99_byte` "
            "(did you mean `p99_bytes`?)",
        ),
        (
            "[[plot]]",
            '[[plot]]\nkind = "bars"\nclass = "bakcground"\n\n[[plot]]',
            "plot 1: no run has a class `bakcground`",
        ),
    ],
)
def test_mistakes_are_named(paper, tmp_path, old, new, message):
    file = paper / "demo" / "fig1" / "experiment.toml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(xoff.UsageError) as caught:
        run(paper, tmp_path)
    assert message in str(caught.value)


def test_unknown_experiment(paper, tmp_path):
    with pytest.raises(xoff.UsageError, match="did you mean `demo/fig1`"):
        reproduce("demo/fig2", root=paper)


def test_interrupt_and_resume(paper, tmp_path):
    file = paper / "demo" / "fig1" / "experiment.toml"
    slow = '"scheme=hpcc", "run.slices=1000", "run.sleep_ms=50"'
    fast = file.read_text()
    file.write_text(fast.replace('"scheme=hpcc"', slow))
    code = (
        "import sys, pathlib, xoff.papers as p; from xoff.cli import main;"
        f"p.papers_dir = lambda: pathlib.Path({str(paper)!r});"
        f"sys.exit(main(['reproduce', 'demo/fig1', '--out', {str(tmp_path / 'out')!r}]))"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    runs = tmp_path / "out" / "runs"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        # One after the other: one look at a folder that is being renamed can find both its names.
        complete = [f for f in runs.glob("*/manifest.json") if f.parent.suffix != ".partial"]
        if complete and len(list(runs.glob("*.partial/manifest.json"))) == 2:
            break
        time.sleep(0.05)
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=20)  # the runs would take 50 s
    assert child.returncode == 130
    assert "1 of 5 runs are complete" in said
    assert "Traceback" not in said
    states = [json.loads(f.read_text())["complete"] for f in runs.glob("*.partial/manifest.json")]
    assert states == [False, False]
    file.write_text(fast)
    assert len(run(paper, tmp_path).runs) == 5


def test_measured_numbers_have_units_and_are_shown_once():
    delay, drops = Measured(19.3, "ms", (19.2, 19.4)), Measured(200, "number")
    assert measured_text({"A": delay}) == "19.3 (19.2 to 19.4) ms"
    both = {"A": delay, "A/B": Measured(3.8, "ratio"), "A (2)": delay, "A (3)": drops}
    assert measured_text(both) == "A 19.3 (19.2 to 19.4) ms, A/B 3.8, A (3) 200"
    assert measured_text({"A": Measured(7, "B * 8")}) == "7"
