"""Page and picture of a comparison, from its recorded results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xoff import recorded
from xoff.comparison import FILE, Comparison, PicturePanel
from xoff.errors import UsageError
from xoff.text import markdown, suggestion

PICTURE = "overview.png"
DPI = 110

Entry = Mapping[str, Any]


def draw(record: Entry, compared: Comparison, folder: Path) -> None:
    """Draw the picture of a comparison into a folder.

    Nothing is drawn while experiments of the picture have no results. Raises `RunError`, or
    `UsageError` if an experiment has no such column.
    """
    from xoff import dots, plots  # matplotlib takes a second to import

    entries = record["experiments"]
    if not {panel.experiment for panel in compared.picture} <= entries.keys():
        return
    for panel in compared.picture:
        _check(panel, entries[panel.experiment].get("numbers", {}))
    panels = [
        dots.Panel(one.title, one.x_label, numbers(entries[one.experiment]), one.columns, one.log)
        for one in compared.picture
    ]
    groups = entries[compared.picture[0].experiment]["groups"]
    drawn = dots.figure(panels, groups, compared.heading)
    plots.save_picture(drawn, folder / PICTURE, DPI, digest(record))


def _check(panel: PicturePanel, known: Mapping[str, Any]) -> None:
    for title in panel.columns:
        if title not in known:
            hint = suggestion(title, known)
            raise UsageError(f"{FILE}: `{panel.experiment}` has no column `{title}`{hint}")


def numbers(entry: Entry) -> dict[str, dict[str, list[float | None]]]:
    """Return the recorded numbers of an experiment as numbers."""
    return {
        title: {
            case: [None if x is None else float(x) for x in seeds] for case, seeds in own.items()
        }
        for title, own in entry["numbers"].items()
    }


def digest(record: Entry) -> str:
    """Return a digest of all runs of a comparison."""
    return recorded.runs_digest(
        [{**run, "case": f"{run['experiment']} {run['case']}"} for run in record["runs"]]
    )


def text(record: Entry, compared: Comparison) -> str:
    """Format the page in Markdown; it links to pictures in a folder named after the comparison."""
    name = record["paper"]
    entries = recorded.experiments(dict(record))
    versions = ", ".join(sorted({entry["engine"] for entry in entries.values()}))
    scales = ", ".join(sorted({entry["scale"] for entry in entries.values()}))
    made = (
        f"Made by `xoff reproduce {name} --page FOLDER` with xoff {versions}, scale {scales}: "
        f"{len(record['runs'])} runs, digest `{digest(record)}`. "
        f"[results.json](../../papers/{name}/results.json) has every number and the digest of "
        "every run.\n"
    )
    parts = [
        f"# {compared.title}\n",
        f"![{compared.alt}]({name}/{PICTURE})\n",
        made,
        compared.text,
        *[_part(one, entries[one], name) for one in _ordered(entries, compared)],
        _schemes(next(iter(entries.values()))),
        _left_out(compared),
    ]
    return "\n".join(parts)


def _ordered(entries: Mapping[str, Entry], compared: Comparison) -> list[str]:
    """Return the experiments, those of the picture first."""
    shown = [panel.experiment for panel in compared.picture if panel.experiment in entries]
    return list(dict.fromkeys([*shown, *entries]))


def _part(name: str, entry: Entry, folder: str) -> str:
    return (
        f"## {entry['title']}\n\n![{entry['title']}]({folder}/{name}.png)\n\n"
        f"`{entry['command']}`, runs: {len(entry['runs'])}, digest "
        f"`{recorded.runs_digest(entry['runs'])}`.\n\n{entry['table']}"
    )


def _schemes(entry: Entry) -> str:
    """Format what each scheme consists of."""
    schemes: Mapping[str, Mapping[str, str]] = entry.get("schemes", {})
    if not schemes:
        return ""
    header = ["case", *next(iter(schemes.values()))]
    rows = [[case, *parts.values()] for case, parts in schemes.items()]
    said = "From the effective scenarios of these runs; `xoff check` prints one with every setting."
    return f"## What differs\n\n{said}\n\n{markdown(header, rows, left=len(header))}"


def _left_out(compared: Comparison) -> str:
    rows = [[f"`{name}`", reason] for name, reason in compared.left_out.items()]
    return f"## Presets left out\n\n{markdown(('preset', 'why'), rows, left=2)}"
