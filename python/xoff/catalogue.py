"""`xoff reproduce --list`: the experiments, one line each, and what they cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xoff import recorded
from xoff.estimate import HOPS_PER_S
from xoff.experiment import load_experiment
from xoff.papers import experiments, find_experiments, papers_dir
from xoff.text import clock_text, count_text, table

RESULTS = "results.json"


def text(name: str | None, scale: str, root: Path | None = None) -> str:
    """Format one line per experiment of a paper, or of all papers.

    The cost comes from the paper's recorded results; `-` if they have none at this scale. Raises
    `UsageError` if there is no such paper.
    """
    root = root or papers_dir()
    names = experiments(root) if name is None else find_experiments(name, root)
    records: dict[str, Any] = {}
    rows = []
    for one in names:
        paper, own = one.split("/")
        if paper not in records:
            records[paper] = recorded.experiments(recorded.load(root / paper / RESULTS))
        experiment = load_experiment(root / one, one, scale)
        cost = _cost(records[paper].get(own), scale)
        rows.append([one, experiment.title, str(len(experiment.points)), *cost])
    header = ("experiment", "what it shows", "runs", "packet-hops", "one core")
    return table(header, rows, left=2) + "\n"


def _cost(entry: Any, scale: str) -> list[str]:
    """Return the packet-hops of all runs, and an estimate of the time on one core."""
    if entry is None or entry["scale"] != scale:
        return ["-", "-"]
    hops = sum(run["packet_hops"] or 0 for run in entry["runs"])
    if hops == 0:
        return ["-", "-"]
    return [count_text(hops), f"about {clock_text(hops / HOPS_PER_S)}"]
