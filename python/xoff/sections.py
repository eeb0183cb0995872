"""Which sections `summary.json` must have. Their types come from `xoff.declared`."""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

from xoff.declared import Class, FluidSummary, Summary
from xoff.errors import IncompleteRunError

EVERY_RUN = ("name", "seed", "digest", "classes")
"""Sections of every run."""
NUMERICAL = ("engine",)
"""Sections of a run without packets that tell it from others."""
PACKETS = (
    "scheme",
    "buffer",
    "active_flows",
    "pfc",
    "frame",
    "utilisation",
    "load",
    "monitors",
    "drops_packets",
    "sim_ps",
    "packet_hops",
    "warmup_ps",
    "measured_ps",
    "warnings",
)
"""Sections of a run with packets that figures, tables or the terminal show."""
CLASS = ("class", "flows", "finished", "unfinished", "bins")
"""Keys of each traffic class."""

_NAMES = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
    types.NoneType: "null",
}


def read_summary(text: str, file: Path) -> dict[str, Any]:
    """Read the text of a `summary.json`.

    Raises `IncompleteRunError` naming the section that is missing or of the wrong type.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _damaged(file, f"is not JSON ({error})") from None
    if not isinstance(found, dict):
        raise _damaged(file, "is not a JSON object")
    of_engine = (NUMERICAL, FluidSummary) if "engine" in found else (PACKETS, Summary)
    _check(found, (*EVERY_RUN, *of_engine[0]), of_engine[1], "", file)
    for index, entry in enumerate(found["classes"]):
        if not isinstance(entry, dict):
            raise _damaged(file, f"`classes.{index}` must be an object, not {entry!r:.60}")
        _check(entry, CLASS, Class, f"classes.{index}.", file)
    return found


def _check(
    table: Mapping[str, Any], keys: tuple[str, ...], declared: type, within: str, file: Path
) -> None:
    hints = get_type_hints(declared)
    for key in keys:
        if key not in table:
            raise _damaged(file, f"`{within}{key}` is missing")
        allowed = _kinds(hints[key])
        if type(table[key]) not in allowed:
            kind = " or ".join(_NAMES[one] for one in allowed)
            raise _damaged(file, f"`{within}{key}` must be {kind}, not {table[key]!r:.60}")


def _kinds(hint: Any) -> list[type]:
    """Return the types of JSON values that a declared type allows."""
    if isinstance(hint, types.UnionType):
        return [kind for one in get_args(hint) for kind in _kinds(one)]
    if is_typeddict(hint):
        return [dict]
    if hint is float:
        return [float, int]
    return [get_origin(hint) or hint]


def _damaged(file: Path, problem: str) -> IncompleteRunError:
    return IncompleteRunError(f"{file} is damaged: {problem}; run it again")
