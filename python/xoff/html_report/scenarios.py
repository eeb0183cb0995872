"""What the page takes from effective scenarios: intervals, and how several runs differ."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MISSING = "-"
"""Stands for a setting that a scenario does not have."""


_PS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}


def interval_ps(scenario: str, table: str) -> int:
    """Return the interval of a table of intervals, such as `port_samples`; 0 without it."""
    try:
        run = tomllib.loads(scenario).get("run", {})
    except tomllib.TOMLDecodeError:  # a case of another simulator
        return 0
    found = re.fullmatch(r"([0-9.]+) *([a-z]+)", str(run.get(table, "")))
    return round(float(found[1]) * _PS[found[2]]) if found else 0


def differences(scenarios: Sequence[str]) -> list[dict[str, Any]]:
    """Return the settings in which effective scenarios differ: `key`, and its `values` by run.

    Derived values, which are comments, are compared, too. A case of another simulator is not TOML
    but has a key and its values on each line.
    """
    found = [dict(_settings(text)) for text in scenarios]
    keys = dict.fromkeys(key for settings in found for key in settings)
    rows = ({"key": key, "values": [s.get(key, MISSING) for s in found]} for key in keys)
    return [row for row in rows if len(set(row["values"])) > 1]


def _settings(text: str) -> Iterator[tuple[str, str]]:
    try:
        parsed = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return (_split(line) for line in text.splitlines() if line.strip())
    derived = re.findall(r"^# +([\w.]+) = (.*)$", text, re.M)
    return chain(_flat(parsed, ""), derived)


def _split(line: str) -> tuple[str, str]:
    key, _, value = line.strip().partition(" ")
    return key, value.strip()


def _flat(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for index, inner in enumerate(value):
            yield from _flat(inner, f"{path}.{index}")
    else:
        yield path, str(value).lower() if isinstance(value, bool) else str(value)
