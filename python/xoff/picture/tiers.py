"""A picture of a large network: one box per layer, with the numbers of nodes and links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from xoff.picture import legend
from xoff.picture.groups import Box, Line, lines_between
from xoff.picture.layout import LAYERS
from xoff.picture.nodes import new_picture

_ROW, _WIDTH, _ASIDE = 1.5, 5.0, 1.6
"""Height of a layer, width of the drawing, and how far bent lines are from the middle."""


def draw_tiers(network: Mapping[str, Any], title: str) -> Figure:
    """Draw one box per layer, and one line per speed of the links between two layers."""
    nodes = network["nodes"]
    counts = Counter(node["layer"] for node in nodes)
    present = [layer for layer in LAYERS if layer in counts]
    boxes = [Box(layer, layer, counts[layer]) for layer in present]
    box_of = {at: present.index(node["layer"]) for at, node in enumerate(nodes)}
    lines = lines_between(network["links"], box_of)
    looks = legend.Looks(lines)
    faults = legend.faults_of(_faulty(network), lambda line: _ends(nodes, line))
    handles = [*looks.handles(), *legend.fault_handles(faults)]
    figure, ax = new_picture(_WIDTH, _ROW * (len(boxes) - 1), title, handles)
    for at, box in enumerate(boxes):
        _draw_box(ax, box, _ROW * at, [line for line in lines if line.ends == (at, at)])
    pairs = sorted({line.ends for line in lines if line.ends[0] != line.ends[1]})
    for pair in pairs:
        _draw_lines(ax, [line for line in lines if line.ends == pair], looks)
    ax.set_xlim(-_WIDTH / 2, _WIDTH / 2)
    ax.set_ylim(-_ROW / 2, _ROW * (len(boxes) - 0.5))
    return figure


def _faulty(network: Mapping[str, Any]) -> list[Line]:
    """Return the faulty links, each a line of its own between nodes."""
    return [
        Line(tuple(link["ends"]), link["speed"], link["rate_bps"], link["delay_ps"], 1,
             Counter(link["faults"]))
        for link in network["links"] if link["faults"]
    ]  # fmt: skip


def _ends(nodes: list[Mapping[str, str]], line: Line) -> str:
    return " to ".join(nodes[end]["name"] for end in line.ends)


def _draw_box(ax: Any, box: Box, y: float, within: list[Line]) -> None:
    kind = "" if box.is_host else " switches"
    text = f"{box.count:,} {box.name}{'s' if box.is_host and box.count > 1 else kind}"
    for line in within:
        text += f"\nand {line.links:,} links among them, {legend.spaced(line.speed)}"
    shape = "round,pad=0.5" if box.is_host else "square,pad=0.5"
    face = legend.HOST if box.is_host else legend.SWITCH
    look = {"boxstyle": shape, "facecolor": face, "edgecolor": "black"}
    ax.text(0, y, text, ha="center", va="center", bbox=look, zorder=3)


def _draw_lines(ax: Any, lines: list[Line], looks: legend.Looks) -> None:
    """Draw the lines between two layers: several side by side."""
    for at, line in enumerate(lines):
        low, high = (_ROW * end for end in line.ends)
        x = _ASIDE * (at - (len(lines) - 1) / 2)
        if line.ends[1] - line.ends[0] > 1:
            x += _ASIDE  # past the layers between
        colour = legend.FAULTY if line.faults else legend.INK
        ax.plot([x, x], [low, high], color=colour, **looks.of(line.rate_bps, line.delay_ps))
        text = f"{line.links:,} links, {legend.spaced(line.speed)}"
        faulty = line.faults.total()
        text += f"\n{faulty:,} fault{'s' if faulty > 1 else ''}" if faulty else ""
        ax.text(x + 0.08, (low + high) / 2, text, va="center", fontsize=8)
