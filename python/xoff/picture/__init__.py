"""A picture of a scenario's network: hosts, switches by layer, links by speed, and what fails.

`figure` chooses how to place the nodes. A network of too many lines is drawn as one box per layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from matplotlib.figure import Figure

from xoff import api
from xoff.errors import UsageError
from xoff.picture.groups import Drawn, grouped
from xoff.picture.layout import Places, circle, grid, layers, needs_circle
from xoff.picture.nodes import draw_nodes
from xoff.picture.tiers import draw_tiers
from xoff.source import Given

MOST_LINES = 1500
"""Lines of a picture that shows each switch."""
MOST_HOSTS = 64
"""Hosts that are drawn one by one."""
MOST_HOSTS_OF_CIRCLE = 24
"""The same around a circle, which has less room."""


def of(scenario: Given, set: Iterable[str] = (), max_memory: str | int | None = None) -> Figure:
    """Draw the network of a scenario. Arguments and errors are those of `api.network`.

    Raises `UsageError` for an engine without packets.
    """
    network = api.network(scenario, set, max_memory)
    if network is None:
        raise UsageError("an engine without packets has no network to draw")
    return figure(network, network["name"])


def figure(network: Mapping[str, Any], title: str) -> Figure:
    """Draw a network, as `api.network` describes it."""
    drawn, places = _placed(network)
    if places is None:
        return draw_tiers(network, title)
    return draw_nodes(drawn, places, title)


def _placed(network: Mapping[str, Any]) -> tuple[Drawn, Places | None]:
    """Return what to draw and where; no places if it is too much."""
    is_grid, is_circle = network["grid"] is not None, needs_circle(network)
    most_hosts = 0 if is_grid else MOST_HOSTS_OF_CIRCLE if is_circle else MOST_HOSTS
    drawn = grouped(network, most_hosts)
    if len(drawn.lines) > MOST_LINES:
        return drawn, None
    if is_grid:
        return drawn, grid(drawn, network["grid"])
    return drawn, circle(drawn) if is_circle else layers(drawn)
