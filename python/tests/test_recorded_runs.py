"""Recorded runs of papers give the same digests today."""

import json
from pathlib import Path

import pytest

import xoff

pytestmark = pytest.mark.real_engine

PAPERS = Path(__file__).parents[2] / "papers"
# Runs of a second or less.
MOST_HOPS = 4_000_000


def scheme_of(run):
    """Return the scheme that the settings of a run name, or its scenario."""
    named = [text.partition("=")[2] for text in run["settings"] if text.startswith("scheme=")]
    return named[0] if named else run["scenario"]


def chosen():
    """Return the longest short run of each paper and scheme."""
    longest = {}
    for file in sorted(PAPERS.glob("*/results.json")):
        for run in json.loads(file.read_text())["runs"]:
            place, hops = (file.parent.name, scheme_of(run)), run["packet_hops"] or 0
            known = longest.get(place)
            if 0 < hops <= MOST_HOPS and (known is None or hops > known["packet_hops"]):
                longest[place] = run
    return longest


CHOSEN = chosen()


def test_each_paper_has_short_runs():
    assert {paper for paper, _ in CHOSEN} == {file.parent.name for file in PAPERS.glob("*/*.json")}


@pytest.mark.parametrize("place", CHOSEN, ids="-".join)
def test_a_recorded_run_has_its_digest(place, tmp_path):
    run = CHOSEN[place]
    result = xoff.run(PAPERS / run["scenario"], tmp_path / "out", set=run["settings"])
    assert result.digest == run["digest"], (
        f"{run['experiment']} {run['case']}: the engine gives other results than those recorded; "
        "run the paper's experiments again, or find what changed"
    )
