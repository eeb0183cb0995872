"""Which sections `summary.json` has, and of what kind each is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xoff.errors import IncompleteRunError

Kinds = Mapping[str, type | tuple[type, ...]]

OR_NULL = type(None)

EVERY_RUN: Kinds = {"name": str, "seed": int, "digest": str, "classes": list}
"""Sections of every run."""
NUMERICAL: Kinds = {"engine": str}
"""Sections of a run without packets that tell it from others."""
PACKETS: Kinds = {
    "scheme": str,
    "buffer": (dict, OR_NULL),
    "active_flows": (dict, OR_NULL),
    "pfc": (dict, OR_NULL),
    "frame": dict,
    "utilisation": dict,
    "load": dict,
    "monitors": list,
    "drops_packets": int,
    "sim_ps": int,
    "packet_hops": int,
    "warmup_ps": int,
    "measured_ps": int,
    "warnings": list,
}
"""Sections of a run with packets that figures, tables or the terminal show."""
CLASS: Kinds = {"class": str, "flows": int, "finished": int, "unfinished": int, "bins": list}
"""Keys of each traffic class."""

_NAMES = {
    str: "a string",
    int: "a whole number",
    list: "a list",
    dict: "an object",
    OR_NULL: "null",
}


def read_summary(text: str, file: Path) -> dict[str, Any]:
    """Read the text of a `summary.json`.

    Raises `IncompleteRunError` naming the section that is missing or of the wrong kind.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _damaged(file, f"is not JSON ({error})") from None
    if not isinstance(found, dict):
        raise _damaged(file, "is not a JSON object")
    _check(found, {**EVERY_RUN, **(NUMERICAL if "engine" in found else PACKETS)}, "", file)
    for index, entry in enumerate(found["classes"]):
        if not isinstance(entry, dict):
            raise _damaged(file, f"`classes.{index}` must be an object, not {entry!r:.60}")
        _check(entry, CLASS, f"classes.{index}.", file)
    return found


def _check(table: Mapping[str, Any], kinds: Kinds, within: str, file: Path) -> None:
    for key, wanted in kinds.items():
        allowed = wanted if isinstance(wanted, tuple) else (wanted,)
        if key not in table:
            raise _damaged(file, f"`{within}{key}` is missing")
        if type(table[key]) not in allowed:
            kind = " or ".join(_NAMES[one] for one in allowed)
            raise _damaged(file, f"`{within}{key}` must be {kind}, not {table[key]!r:.60}")


def _damaged(file: Path, problem: str) -> IncompleteRunError:
    return IncompleteRunError(f"{file} is damaged: {problem}; run it again")
