"""Recorded results: they belong to the claims and experiments of the checkout."""

from pathlib import Path

import pytest

from xoff import overview, recorded
from xoff.claims import SIMULATED, load_claims
from xoff.readings import FILE, load_readings
from xoff.reproduce import Options, prepare
from xoff.verdicts import FAILS

ROOT = Path(__file__).parents[2]
PAPERS = ROOT / "papers"
RECORDS = {**overview.records(PAPERS), **overview.comparisons(PAPERS)}
EXPERIMENTS = [(paper, name) for paper, record in RECORDS.items() for name in record["experiments"]]


@pytest.mark.parametrize("paper", RECORDS)
def test_claims_are_those_of_the_claims_file(paper):
    claims = load_claims(PAPERS / paper / "claims.toml")
    entries = recorded.experiments(RECORDS[paper])
    assert RECORDS[paper]["claims"] == recorded.combined(entries, claims)


@pytest.mark.parametrize(("paper", "name"), EXPERIMENTS, ids=map("/".join, EXPERIMENTS))
@pytest.mark.real_engine
def test_results_are_of_the_present_scenarios_and_checks(paper, name):
    entry = RECORDS[paper]["experiments"][name]
    own = prepare(f"{paper}/{name}", Options(scale=entry["scale"], check=True, root=PAPERS))
    assert own.with_seeds(recorded.seed_counts(entry)).key() == entry["key"]


@pytest.mark.parametrize(("paper", "name"), EXPERIMENTS, ids=map("/".join, EXPERIMENTS))
def test_kept_sensitivity_is_of_the_present_readings(paper, name):
    trials = RECORDS[paper]["experiments"][name].get("sensitivity", [])
    readings = {one.id: one for one in load_readings(PAPERS / paper / FILE)}
    for trial in trials:
        reading = readings[trial["reading"]]
        assert trial["chosen"] == (reading.candidate(trial["candidate"]).value == reading.choice)


@pytest.mark.parametrize("paper", RECORDS)
def test_a_failing_claim_is_explained(paper):
    failing = {c["id"] for c in RECORDS[paper]["claims"] if c["verdict"] == FAILS}
    for claim in load_claims(PAPERS / paper / "claims.toml"):
        if claim.id in failing and claim.kind == SIMULATED:
            assert claim.explanation or claim.cause, claim.id


def test_pages_show_what_is_recorded():
    stale = [
        file.relative_to(ROOT)
        for file, text in overview.pages(ROOT).items()
        if file.read_text(encoding="utf-8") != text
    ]
    assert not stale, "run `make pages`"
