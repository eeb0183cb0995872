"""`readings.toml`: settings of the choice, candidates, and what a claim hangs on."""

import json
import re
import shutil
import threading
import time

import pytest

from xoff import UsageError, catalogue, recorded, reproduce_paper
from xoff.cli import main
from xoff.estimate import HOPS_PER_S
from xoff.experiment import load_experiment
from xoff.locks import FolderLock, lock_of
from xoff.readings import load_readings
from xoff.reproduce import Options, prepare, reproduce
from xoff.reproduce_paper import Keeping, reproduce_all

READINGS = """
[[reading]]
id = "degree"
what = "Senders of an incast"
where = "§1"
open = "The paper does not say"
fingerprint = "Fig. 1: the median is 6"
experiment = "fig1"
choice = "20"
reason = "the fingerprint is met"
schemes = ["hpcc"]
[[reading.candidate]]
value = "10"
source = "the default"
set = []
found = "5"
[[reading.candidate]]
value = "20"
source = "another paper"
set = ["run.degree=20"]
found = "6"
"""

CLAIM_OF_BOTH = """
[[claim]]
id = "D-C1"
where = "1"
text = "the tail is better"
experiment = ["fig1", "fig2"]
metric = "ratio"
cases = ["HPCC", "BFC"]
range = "short"
low = 1.5
"""


@pytest.fixture
def papers(paper, monkeypatch):
    (paper / "demo" / "readings.toml").write_text(READINGS)
    monkeypatch.setattr("xoff.papers.papers_dir", lambda: paper)
    return paper


def degrees(outcome):
    return {
        label: {run.effective.split("run.degree = ")[1].split("\n")[0] for run in runs}
        for label, runs in outcome.results.items()
    }


def test_a_reading_applies_to_the_cases_of_its_schemes(papers, tmp_path):
    outcome = reproduce("demo/fig1", out=tmp_path / "out", slots=2)
    assert degrees(outcome)["HPCC"] == {"20"}
    assert degrees(outcome)["BFC"] == {"10"}
    other = reproduce("demo/fig1", out=tmp_path / "two", slots=2, chosen={"degree": "10"})
    assert degrees(other)["HPCC"] == {"10"}
    assert "changed: degree: 10" in other.files[2].read_text()


@pytest.mark.parametrize(("names", "used"), [('"fig1"', "20"), ('"fig2", "fig3"', "10")])
def test_a_reading_may_concern_some_experiments(papers, tmp_path, names, used):
    text = READINGS.replace("schemes =", f"experiments = [{names}]\nschemes =")
    (papers / "demo" / "readings.toml").write_text(text)
    outcome = reproduce("demo/fig1", out=tmp_path / "out", slots=2)
    assert degrees(outcome)["HPCC"] == {used}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('choice = "20"', 'choice = "30"', "unknown choice `30`"),
        ("reason =", "reasons =", "`reason` is missing"),
        ("source =", "origin =", "candidate 1: `source` is missing"),
    ],
)
def test_mistakes_in_readings_are_named(tmp_path, old, new, message):
    file = tmp_path / "readings.toml"
    file.write_text(READINGS.replace(old, new))
    with pytest.raises(UsageError, match=message):
        load_readings(file)


def test_sensitivity_checks_claims_under_each_candidate(papers, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "demo/fig1", "--sensitivity"]) == 0
    said = capsys.readouterr().out
    assert "| degree = 20 (choice) |" in said
    assert "| degree = 10 |" in said
    (file,) = (tmp_path / "out").rglob("sensitivity.json")
    assert [trial["candidate"] for trial in json.loads(file.read_text())] == ["20", "10"]


def test_sensitivity_is_kept_with_the_results(papers, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    base = ["reproduce", "demo/fig1", "--results", "results.json", "--page", "docs"]
    assert main([*base, "--sensitivity"]) == 2
    assert "has no results of demo/fig1 at scale quick: first run" in capsys.readouterr().err
    assert main(base) == 0
    assert main([*base, "--sensitivity"]) == 0
    entry = json.loads((tmp_path / "results.json").read_text())["experiments"]["fig1"]
    kept = entry["sensitivity"]
    assert [(one["candidate"], one["chosen"]) for one in kept] == [("20", True), ("10", False)]
    assert kept[0]["verdicts"] == entry["verdicts"]
    assert kept[0]["digest"] != kept[1]["digest"]
    assert "Under other candidates of readings.toml" in (tmp_path / "docs/demo.md").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--page", "docs"], "--sensitivity with --page needs --results"),
        (["--results", "r.json", "--resume"], "--resume has no effect with --sensitivity"),
    ],
)
def test_what_sensitivity_does_not_use_is_refused(
    papers, tmp_path, monkeypatch, capsys, options, message
):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "demo/fig1", "--sensitivity", *options]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_each_experiment_and_candidate_has_a_folder(papers, tmp_path, capsys):
    shutil.copytree(papers / "demo" / "fig1", papers / "demo" / "fig2")
    (papers / "demo" / "claims.toml").write_text(CLAIM_OF_BOTH)
    out = tmp_path / "out"
    assert main(["reproduce", "demo", "--sensitivity", "--out", str(out)]) == 0
    assert {file.parent.name for file in out.rglob("sensitivity.md")} == {
        "fig1-quick",
        "fig2-quick",
    }
    assert {file.parent.name for file in out.rglob("table.md")} == {
        f"{name}-quick{candidate}" for name in ("fig1", "fig2") for candidate in ("", "-degree__10")
    }
    assert (out / "runs").is_dir()


def test_processes_with_one_results_file_keep_each_others_results(papers, tmp_path, monkeypatch):
    shutil.copytree(papers / "demo" / "fig1", papers / "demo" / "fig2")
    (papers / "demo" / "claims.toml").write_text(CLAIM_OF_BOTH)
    file, real = tmp_path / "results.json", reproduce_paper.run
    options = {"keeping": Keeping(results=file), "out": tmp_path / "out", "slots": 2}

    def meanwhile(prepared, line):
        monkeypatch.setattr(reproduce_paper, "run", real)
        reproduce_all("demo/fig2", lambda _: None, **options)
        return real(prepared, line)

    monkeypatch.setattr(reproduce_paper, "run", meanwhile)
    reproduce_all("demo/fig1", lambda _: None, **options)
    assert set(json.loads(file.read_text())["experiments"]) == {"fig1", "fig2"}
    assert not lock_of(file).exists()


def test_a_change_of_a_results_file_waits_for_another(tmp_path):
    file = tmp_path / "results.json"
    lock = FolderLock(file)
    lock.take()
    threading.Timer(0.6, lock.release).start()
    began = time.monotonic()
    recorded.change(file, "demo", [], lambda entries: None)
    assert time.monotonic() - began > 0.3
    assert file.exists()


def test_changed_settings_are_said_everywhere(papers, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = ["reproduce", "demo/fig1", "--set", "run.degree=30", "--check", "--json"]
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["settings"] == ["run.degree=30"]
    assert "cases differ in `run.degree`, and --set gives all of them the same value" in err
    (table,) = (tmp_path / "out").rglob("table.md")
    assert "changed: run.degree=30" in table.read_text()
    assert "run.degree=30" in table.parent.name
    assert not list((tmp_path / "out").rglob("results-*.json"))


def test_more_seeds_keep_the_settings_of_the_command(papers):
    options = Options(root=papers, settings=("run.degree=30",), seeds=4)
    found = prepare("demo/fig1", options).experiment.points
    seeds: dict[str, list[int]] = {}
    for point in (one for one in found if one.seed is not None):
        assert "run.degree=30" in point.overrides
        own = [one for one in point.overrides if one.startswith("seed=")]
        assert own == [f"seed={point.seed}"]
        seeds.setdefault(point.label, []).append(point.seed)
    assert all(len(set(one)) == len(one) == 4 for one in seeds.values())


@pytest.mark.parametrize(
    "option",
    [
        ["--results", "r.json"],
        ["--page", "docs"],
        ["--resume"],
        ["--results", "r.json", "--sensitivity"],
    ],
)
def test_changed_settings_are_not_kept_as_results(papers, tmp_path, monkeypatch, capsys, option):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "demo/fig1", "--set", "run.degree=30", *option]) == 2
    assert "cannot be combined with --set or --reading" in capsys.readouterr().err
    assert not list(tmp_path.glob("out*"))


def test_a_scenario_elsewhere_is_recorded_with_its_whole_path(tmp_path):
    root, file = tmp_path / "papers", tmp_path / "own" / "base.toml"
    assert recorded._place(file, root) == file.as_posix()
    assert recorded._place(root / "demo" / "base.toml", root) == "demo/base.toml"


def test_one_seed_for_all_runs_is_refused(papers, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "demo/fig1", "--set", "seed=7"]) == 2
    assert "would be the seed of all runs" in capsys.readouterr().err


def test_a_setting_that_no_case_has_is_an_error(papers, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "demo/fig1", "--set", "run.degre=30"]) == 2
    assert "unknown key `run.degre`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ("degre=10", "no reading is called `degre` \\(did you mean `degree`\\?\\)"),
        ("degree=10 degree=20", "--reading: given twice: `degree`"),
        ("degree=30", "reading `degree` has no candidate `30`; there are 10, 20"),
    ],
)
def test_a_reading_that_is_not_there_is_an_error(
    papers, tmp_path, monkeypatch, capsys, chosen, message
):
    monkeypatch.chdir(tmp_path)
    options = [part for one in chosen.split() for part in ("--reading", one)]
    assert main(["reproduce", "demo/fig1", *options]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_more_seeds_continue_after_the_last(papers, tmp_path):
    outcome = reproduce("demo/fig1", out=tmp_path / "out", slots=2, seeds=4)
    assert len(outcome.results["HPCC"]) == 4
    assert {title for title in outcome.runs if "HPCC" in title} == {
        f"HPCC seed {seed}" for seed in (1, 2, 3, 4)
    }
    # A case without seeds has as many.
    assert [run.summary["seed"] for run in outcome.results["BFC"]] == [1, 2, 3, 4]
    assert "--seeds 4" in outcome.command


def test_a_budget_adds_seeds_to_undecided_cases(papers, tmp_path):
    outcome = reproduce("demo/fig1", out=tmp_path / "out", slots=2, check=True, budget_s=0.001)
    assert len(outcome.results["HPCC"]) == 4
    assert "--seeds 4" in outcome.command


def test_recorded_results_resume(papers, tmp_path):
    file = tmp_path / "results.json"
    keeping = Keeping(results=file, resume=True)
    seen = []
    for _ in range(2):
        reproduce_all("demo", seen.append, keeping=keeping, out=tmp_path / "out", slots=2)
    assert [outcome.experiment.name for outcome in seen] == ["demo/fig1"]
    record = json.loads(file.read_text())
    first = next(claim for claim in record["claims"] if claim["id"] == "D-C1")
    assert first["kind"] == "simulated"
    assert first["verdict"] == "undecided"
    assert first["direction"] is True
    assert first["measured"]["HPCC/BFC"]["unit"] == "ratio"
    assert first["seeds"] == 2
    assert (first["scale"], first["experiments"]) == ("quick", ["fig1"])
    assert {run["digest"] for run in record["runs"]} == set(seen[0].runs.values())
    # Another check is another result.
    claims = papers / "demo" / "claims.toml"
    claims.write_text(claims.read_text().replace("low = 1.5", "low = 1.6"))
    reproduce_all("demo", seen.append, keeping=keeping, out=tmp_path / "out", slots=2)
    assert len(seen) == 2
    del record["experiments"]["fig1"]["table"]
    file.write_text(json.dumps(record))
    with pytest.raises(UsageError, match="experiment `fig1` has no `table`"):
        reproduce_all("demo", seen.append, keeping=keeping, out=tmp_path / "out", slots=2)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("scenario.toml", "fig1", "other"),
        ("flows.csv", "0,1", "0,2"),
        ("my flows.csv", "0,3", "0,2"),
        ("job.1.et", "second", "another"),
        ("experiment.toml", "scheme=bfc", "scheme=bfc-srf"),
        ("experiment.toml", "packet_hops", "cost.executed_events"),
        ("experiment.toml", "incast degree", "senders"),
        ("experiment.toml", 'relative_to = "BFC"', 'relative_to = "HPCC"'),
    ],
)
def test_what_is_recorded_is_as_new_as_all_that_it_shows(papers, file, old, new):
    folder = papers / "demo" / "fig1"
    (folder / "flows.csv").write_text("0,1\n")
    (folder / "my flows.csv").write_text("0,3\n")
    for rank, text in enumerate(["first", "second"]):
        (folder / f"job.{rank}.et").write_text(text)
    text = (folder / "experiment.toml").read_text()
    text = text.replace('"run.slices=2"', '"file=flows.csv", "trace=job"')
    shown = "[[column]]\ntitle = 'hops'\npath = 'packet_hops'\n[[plot]]"
    text = 'relative_to = "BFC"\n' + text.replace("[[plot]]", shown, 1)
    (folder / "experiment.toml").write_text(text)
    (folder / "notes.md").write_text("first")
    text = 'name = "fig1"   # as notes.md says\nfile = "my flows.csv"\n'
    (folder / "scenario.toml").write_text(text)
    before = recorded.key(load_experiment(folder, "demo/fig1", "quick"), [])
    (folder / "notes.md").write_text("second")
    assert recorded.key(load_experiment(folder, "demo/fig1", "quick"), []) == before
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))
    assert recorded.key(load_experiment(folder, "demo/fig1", "quick"), []) != before


def test_the_list_says_what_an_experiment_costs(papers, tmp_path, capsys):
    line = catalogue.text("demo", "quick", papers).splitlines()[1]
    assert line.split() == ["demo/fig1", "Slowdown", "5", "-", "-"]
    keeping = Keeping(results=papers / "demo" / "results.json")
    reproduce_all("demo", lambda _: None, keeping=keeping, out=tmp_path / "out", slots=2)
    line = catalogue.text("demo", "quick", papers).splitlines()[1]
    assert "about 0:0" in line
    (found,) = catalogue.listed("demo", "quick", papers)
    assert (found["experiment"], found["runs"]) == ("demo/fig1", 5)
    assert found["packet_hops"] > 0
    capsys.readouterr()
    assert main(["experiment", str(papers / "demo"), "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [found]


@pytest.mark.real_engine
@pytest.mark.parametrize(
    ("settings", "own", "architecture"),
    [
        ([], "", "output-queued"),
        (["scheme=detail"], "", "crossbar"),
        (["scheme=detail"], 'scheme = "bfc"\n', "crossbar"),
        ([], 'scheme = "capfc-max"\n', "pipelined"),
        (["scheme=dctcp"], '[switch]\narchitecture = "crossbar"\n', "crossbar"),
        (["scheme=detail", "switch.architecture=pipelined"], "", "pipelined"),
    ],
)
def test_the_list_counts_with_the_switches_of_a_run(tmp_path, settings, own, architecture):
    (tmp_path / "own.toml").write_text(own)
    run = {"scenario": "own.toml", "settings": settings, "packet_hops": 10**9}
    entry = {"scale": "quick", "runs": [run]}
    seconds = 1e9 / HOPS_PER_S[architecture]
    found = {"packet_hops": 10**9, "one_core_s": round(seconds, 3)}
    assert catalogue.cost(entry, "quick", tmp_path) == found
