"""How the lines of a picture look, and its legend: readable in grey."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from matplotlib.lines import Line2D

from xoff.picture.groups import Box, Line

INK, FAULTY, SWITCH, HOST = "0.35", "#b2182b", "0.85", "1.0"
"""Colours of links, of faulty links, and of boxes."""
MOST_SPEEDS, MOST_FAULTS, MOST_NAMES = 6, 8, 2
"""Entries of the legend for links and faults, and links that a fault names."""
_DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1, 2)))
_WIDTHS = (0.6, 2.2)


class Looks:
    """The look of each speed of links: the width says the rate, the dashes the delay."""

    def __init__(self, lines: Iterable[Line]) -> None:
        speeds = {(line.rate_bps, line.delay_ps): line.speed for line in lines}
        self._speeds = dict(sorted(speeds.items()))
        self._rates = sorted({rate for rate, _ in speeds})
        self._delays = sorted({delay for _, delay in speeds})

    def of(self, rate_bps: int, delay_ps: int) -> dict[str, Any]:
        """Return width and dashes of a line."""
        rank = self._rates.index(rate_bps) / max(1, len(self._rates) - 1)
        width = _WIDTHS[0] + (_WIDTHS[1] - _WIDTHS[0]) * rank if len(self._rates) > 1 else 1.0
        dashes = _DASHES[min(self._delays.index(delay_ps), len(_DASHES) - 1)]
        return {"linewidth": round(width, 2), "linestyle": dashes}

    def handles(self) -> list[Line2D]:
        """Return one entry of the legend per speed, or of some of them if there are many."""
        known = list(self._speeds.items())
        stride = -(-len(known) // MOST_SPEEDS)
        chosen = known if stride <= 1 else [*known[:-1:stride], known[-1]]
        return [
            Line2D([], [], color=INK, label=spaced(text), **self.of(*speed))
            for speed, text in chosen
        ]


def box_handles(boxes: Iterable[Box]) -> list[Line2D]:
    """Return the entries of the legend for switches and hosts."""
    hosts = [box for box in boxes if box.is_host]
    label = "host"
    if any(box.count > 1 for box in hosts):
        label = "hosts with the same switches, and how many"
    kinds = [("s", SWITCH, "switch"), ("o", HOST, label)]
    return [
        Line2D([], [], linestyle="", marker=marker, markersize=9, markerfacecolor=face,
               markeredgecolor="black", label=text)
        for marker, face, text in kinds
    ]  # fmt: skip


def fault_handles(faults: dict[str, tuple[int, list[str]]]) -> list[Line2D]:
    """Return an entry for each fault: its number, where it is, and what happens."""
    shown = list(faults.items())[:MOST_FAULTS]
    found = []
    for number, (text, (links, names)) in enumerate(shown, 1):
        more = links - min(links, MOST_NAMES)
        where = "; ".join(names[:MOST_NAMES]) + (f"; {more} more links" if more else "")
        label = f"{number}  {where}: {spaced(text)}"
        found.append(Line2D([], [], color=FAULTY, marker="x", markersize=7, label=label))
    if len(faults) > len(shown):
        label = f"{len(faults) - len(shown)} more faults"
        found.append(Line2D([], [], linestyle="", label=label))
    return found


def faults_of(lines: Iterable[Line], name: Any) -> dict[str, tuple[int, list[str]]]:
    """Return the number of links with each fault, and the names of its lines."""
    found: dict[str, tuple[int, list[str]]] = {}
    for line in lines:
        for text, links in line.faults.items():
            count, names = found.get(text, (0, []))
            found[text] = (count + links, [*names, name(line)])
    return found


def spaced(text: str) -> str:
    """Return a text of the engine with quantities such as `100 Gb/s` instead of `100Gbps`."""
    return re.sub(r"(\d)([A-Za-z])", r"\1 \2", text).replace("bps", "b/s")
