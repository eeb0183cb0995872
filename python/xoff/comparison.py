"""Experiments that compare many schemes: recorded numbers, and what each scheme consists of.

A folder of experiments with a file `comparison.toml` is a comparison rather than a paper. The file
has

- `title`, `text`: heading of its page, and the Markdown file with the page's text;
- `heading`, `alt`: heading of its picture, and a description in words;
- `[[picture]]`: the panels of the picture, each with `experiment`, `title`, `x`, `columns` and
  `log_x`;
- `[left_out]`: presets that are in no case, by name or as a pattern such as `ns3-*`, and why.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff.errors import UsageError
from xoff.metrics import Term
from xoff.strict import Reader, read_toml
from xoff.text import byte_text, jsonable, time_text
from xoff.toml_text import parse_toml

if TYPE_CHECKING:
    from xoff.experiment import Experiment
    from xoff.reproduce import Outcome

FILE = "comparison.toml"
DOTS = "dots"


@dataclass(frozen=True)
class PicturePanel:
    """One `[[picture]]`: columns of an experiment."""

    experiment: str
    title: str
    x_label: str
    columns: tuple[str, ...]
    log: bool


@dataclass(frozen=True)
class Comparison:
    """A `comparison.toml`."""

    title: str
    text: str
    heading: str
    alt: str
    picture: tuple[PicturePanel, ...]
    left_out: Mapping[str, str]


def load(folder: Path) -> Comparison | None:
    """Read the file in a folder of experiments; None if there is none. Raises `UsageError`."""
    file = folder / FILE
    if not file.is_file():
        return None
    top = Reader(read_toml(file), str(file))
    title, heading, alt = (top.need(key, str) for key in ("title", "heading", "alt"))
    text = folder / top.need("text", str)
    if not text.is_file():
        raise UsageError(f"{file}: `text`: {text} does not exist")
    panels = [
        _panel(table, f"{file}: picture {index}")
        for index, table in enumerate(top.need("picture", list), 1)
    ]
    reasons = Reader(top.get("left_out", dict, {}), f"{file}: [left_out]")
    left_out = {name: reasons.need(name, str) for name in top.get("left_out", dict, {})}
    top.done()
    return Comparison(
        title, text.read_text(encoding="utf-8"), heading, alt, tuple(panels), left_out
    )


def _panel(table: Any, where: str) -> PicturePanel:
    reader = Reader(table, where)
    panel = PicturePanel(
        reader.need("experiment", str),
        reader.need("title", str),
        reader.need("x", str),
        tuple(reader.strings("columns")),
        reader.get("log_x", bool, False),
    )
    reader.done()
    return panel


def is_compared(experiment: Experiment) -> bool:
    """Return whether an experiment's figure compares its cases by dots."""
    return bool(experiment.plots) and experiment.plots[0].kind == DOTS


def numbers_of(
    experiment: Experiment, results: Mapping[str, Any]
) -> dict[str, dict[str, list[float | None]]]:
    """Return each column's number of each run, by the column's title and by case."""
    return {
        column.title: {
            label: [replace(Term(label), **column.term).read(run) for run in runs]
            for label, runs in results.items()
        }
        for column in experiment.columns
    }


def groups_of(experiment: Experiment) -> dict[str, str]:
    """Return the group of each case."""
    return {point.label: point.group for point in experiment.points}


def record(outcome: Outcome) -> dict[str, Any]:
    """Return what the page of a comparison needs of an experiment; empty for other experiments."""
    if not is_compared(outcome.experiment):
        return {}
    found = numbers_of(outcome.experiment, outcome.results)
    return {
        "groups": groups_of(outcome.experiment),
        "numbers": {
            title: {case: [jsonable(one) for one in seeds] for case, seeds in cases.items()}
            for title, cases in found.items()
        },
        "schemes": {
            label: parts
            for label, runs in outcome.results.items()
            if (parts := scheme(runs[0].effective))
        },
    }


def scheme(effective: str) -> dict[str, str]:
    """Return what a scheme consists of, from an effective scenario; empty without packets."""
    table = parse_toml(effective)
    if "switch" not in table:
        return {}
    switch, transport, frame = table["switch"], table["transport"], table["frame"]
    control = transport.get("congestion", "none")
    if transport["kind"] != "sender":
        control = transport["kind"]
    if transport.get("allocator", "none") != "none":
        control = f"{transport['allocator']}, {control}"
    if transport.get("flow_control", "none") != "none":
        control += f", {transport['flow_control']}"
    hop = switch["hop"]
    if "pause" in table and table["pause"]["scope"] != "none":
        hop = f"pause per {table['pause']['scope']}"
    if table.get("capfc", {}).get("policy", "none") != "none":
        hop += f", {table['capfc']['policy']}"
    return {
        "preset": table.get("scheme", "-"),
        "switch": switch["architecture"],
        "buffer": _buffer(table, effective),
        "hop control": hop,
        "queues": switch["scheduler"],
        "paths": switch["balance"],
        "ECN from": _short(table["ecn"]["kmin"]) if switch["ecn"] else "-",
        "control": control,
        "window": transport.get("window", "-"),
        "recovery": transport.get("recovery", "own"),
        "timeout": _timeout(table, effective),
        "packet": f"{frame['payload']} + {frame['header']}",
    }


def _buffer(table: Mapping[str, Any], effective: str) -> str:
    """Return the memory for packets: of a switch if it is shared, else of a port."""
    switch = table["switch"]["architecture"]
    if switch != "output-queued":
        own = table["crossbar" if switch == "crossbar" else "pipeline"]
        if own.get("memory") == "shared":
            return f"{_short(own['pool'])} per switch and {_short(own['dedicated'])} per class"
        unit = "port" if switch == "crossbar" else "class"
        sizes = _short(own["ingress_size"]), _short(own["egress_size"])
        return f"{sizes[0]} in and {sizes[1]} out per {unit}"
    kind, size = table["buffer"]["kind"], table["buffer"].get("size", "")
    if kind == "unlimited":
        return "unlimited"
    if size == "0B":
        size = _derived(effective, f"{table['transport']['congestion']}_buffer")
    then = ", then trimmed" if table["switch"].get("overflow") == "trim" else ""
    return f"{_short(size)} per {'switch' if kind == 'shared' else 'port'}{then}"


def _derived(effective: str, key: str) -> str:
    """Return a derived value of an effective scenario, which has them as comments."""
    start = f"#   {key} = "
    lines = effective.splitlines()
    return next((line.removeprefix(start) for line in lines if line.startswith(start)), "-")


def _timeout(table: Mapping[str, Any], effective: str) -> str:
    """Return the shortest timeout after which a host sends again."""
    if "tcp" in table:
        return _short(table["tcp"]["min_rto"])
    transport = table["transport"]
    if "timeout" not in transport:
        return _short(_derived(effective, f"{transport.get('congestion')}_rto"))
    return "none" if transport["timeout"] == "0ps" else _short(transport["timeout"])


def _short(value: str) -> str:
    """Return a size or a time with three digits, where it is written with many."""
    found = re.fullmatch(r"(\d{4,})(B|ns|us)", value)
    if found is None:
        return value
    if found[2] == "B":
        return byte_text(float(found[1]))
    return time_text(float(found[1]) * {"ns": 1e3, "us": 1e6}[found[2]])
