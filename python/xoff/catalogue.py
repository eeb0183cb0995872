"""`xoff reproduce --list`: the experiments, one line each, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from xoff import engine, recorded
from xoff.errors import UsageError
from xoff.estimate import DEFAULT_ARCHITECTURE, HOPS_PER_S
from xoff.experiment import load_experiment
from xoff.papers import experiments, find_experiments, papers_dir
from xoff.strict import read_toml
from xoff.text import clock_text, count_text, table

RESULTS = "results.json"


def text(name: str | None, scale: str, root: Path | None = None) -> str:
    """Format one line per experiment of a paper, or of all papers.

    The cost comes from the paper's recorded results; `-` if they have none at this scale. Raises
    `UsageError` if there is no such paper.
    """
    rows = [
        [one["experiment"], one["title"], str(one["runs"]), *_cost_text(one)]
        for one in listed(name, scale, root)
    ]
    header = ("experiment", "what it shows", "runs", "packet-hops", "one core")
    return table(header, rows, left=2) + "\n"


def listed(name: str | None, scale: str, root: Path | None = None) -> list[dict[str, Any]]:
    """Return an object for JSON per line of `text`; unknown costs are null."""
    root = root or papers_dir()
    names = experiments(root) if name is None else find_experiments(name, root)
    records: dict[str, Any] = {}
    found = []
    for one in names:
        paper, own = one.split("/")
        if paper not in records:
            records[paper] = recorded.experiments(recorded.load(root / paper / RESULTS))
        experiment = load_experiment(root / one, one, scale)
        known = {"experiment": one, "title": experiment.title, "runs": len(experiment.points)}
        found.append({**known, **cost(records[paper].get(own), scale, root)})
    return found


def cost(entry: Any, scale: str, root: Path) -> dict[str, Any]:
    """Return the packet-hops of all runs, and an estimate of the time on one core."""
    runs = entry["runs"] if entry is not None and entry["scale"] == scale else []
    runs = [run for run in runs if run["packet_hops"]]
    if not runs:
        return {"packet_hops": None, "one_core_s": None}
    seconds = sum(run["packet_hops"] / HOPS_PER_S[_architecture(run, root)] for run in runs)
    return {"packet_hops": sum(run["packet_hops"] for run in runs), "one_core_s": round(seconds, 3)}


def _cost_text(one: Mapping[str, Any]) -> list[str]:
    if one["packet_hops"] is None:
        return ["-", "-"]
    return [count_text(one["packet_hops"]), f"about {clock_text(one['one_core_s'])}"]


def _architecture(run: Mapping[str, Any], root: Path) -> str:
    """Return the switches of a recorded run: those of its settings, its scenario, or its preset."""
    settings = dict(setting.split("=", 1) for setting in run["settings"])
    scenario = _scenario(root / run["scenario"])
    own = settings.get("switch.architecture") or scenario.get("switch", {}).get("architecture")
    return own or _of_preset(settings.get("scheme") or scenario.get("scheme"))


@cache
def _scenario(file: Path) -> Mapping[str, Any]:
    """Return a scenario as it is written; nothing where it is a case of another simulator.

    The file of a recorded run may be gone or wrong by now: the answer is nothing, too.
    """
    if file.suffix != ".toml":
        return {}
    try:
        return read_toml(file)
    except UsageError:
        return {}


@cache
def _of_preset(scheme: str | None) -> str:
    """Return the switches of a preset. Its text includes its base presets."""
    try:
        lines = engine.preset_text(scheme or "").splitlines()
    except UsageError:
        lines = []  # a preset of another engine
    found = [line for line in lines if line.startswith("architecture = ")]
    return found[-1].split('"')[1] if found else DEFAULT_ARCHITECTURE
