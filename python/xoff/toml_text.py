"""Tables as TOML and back, without loss."""

from __future__ import annotations

import datetime
import json
import math
import re
import sys
from collections.abc import Mapping
from typing import Any

from xoff.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML. Raises `ValueError` with the place of a mistake."""
    parsed: dict[str, Any] = tomllib.loads(text)
    return parsed


def write(tables: Mapping[str, Any]) -> str:
    """Return tables as TOML: values first, then sections, then lists of sections."""
    values, sections, lists = [], [], []
    for key, found in tables.items():
        if isinstance(found, Mapping):
            sections.append(f"\n[{_key(key)}]\n{_lines(found)}")
        elif isinstance(found, list) and found and all(isinstance(one, Mapping) for one in found):
            lists += [f"\n[[{_key(key)}]]\n{_lines(one)}" for one in found]
        else:
            values.append(f"{_key(key)} = {value(found)}\n")
    return "".join([*values, *sections, *lists]).removeprefix("\n")


def _lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{_key(key)} = {value(found)}\n" for key, found in table.items())


def value(found: Any) -> str:
    """Return a value as TOML. Raises `UsageError` for a value that TOML does not have."""
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, int):
        return str(found)
    if isinstance(found, float):
        return str(found) if math.isfinite(found) else f"{found:+}".replace("+nan", "nan")
    if isinstance(found, str):
        return _text(found)
    if isinstance(found, (datetime.date, datetime.time)):
        return found.isoformat()
    if isinstance(found, list):
        return f"[{', '.join(map(value, found))}]"
    if isinstance(found, Mapping):
        inner = ", ".join(f"{_key(key)} = {value(one)}" for key, one in found.items())
        return f"{{{inner}}}"
    raise UsageError(f"{found!r:.60} is no value of a setting: use text, a number or a truth value")


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(found: str) -> str:
    try:
        found.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{found!r:.60} is not valid Unicode at character {error.start}") from None
    return json.dumps(found, ensure_ascii=False).replace("\x7f", "\\u007f")
