"""Changes of a scenario's tables, and the one order that its settings have as text."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xoff import engine, settings, toml_text
from xoff.errors import ScenarioError
from xoff.toml_text import parse_toml

Tables = dict[str, Any]


def applied(tables: Tables, changes: Mapping[str, Any]) -> Tables:
    """Return tables with changes: whole sections and values first, then paths, then last parts."""
    top = settings.top_level()
    by_rank = sorted(changes, key=lambda key: 0 if key in top else 1 if "." in key else 2)
    for key in by_rank:
        path = settings.resolved(key, tables, in_force(tables))
        spec = top.get(path, {})
        if settings.is_section(spec):
            _set_section(tables, path, changes[key])
        elif settings.is_list(spec):
            tables[path] = _entries(path, changes[key])
        else:
            above, _, last = path.rpartition(".")
            value = _value(path, changes[key], settings.spec_of(path, tables))
            table_at(tables, above, make=True)[last] = value
    return tables


def in_force(tables: Tables) -> Callable[[], Tables | None]:
    """Return a function of the effective scenario, None if it is not valid yet."""

    def find() -> Tables | None:
        try:
            return parse_toml(engine.check(toml_text.write(tables), "scenario.toml", []))
        except ScenarioError:
            return None

    return find


def table_at(tables: Tables, path: str, make: bool = False) -> Any:
    """Return the table at a path; an empty path is the whole."""
    here: Any = tables
    for part in filter(None, path.split(".")):
        if isinstance(here, list):
            here = here[int(part)]
        else:
            here = here.setdefault(part, {}) if make else here[part]
    return here


def _set_section(tables: Tables, name: str, given: Any) -> None:
    if not isinstance(given, Mapping):
        raise ScenarioError(f'error: "{name}" is a section: give a dict, not {given!r:.60}')
    own = tables.setdefault(name, {})
    for key, value in given.items():
        path = settings.resolved(f"{name}.{key}", tables, lambda: None)
        own[key] = _value(path, value, settings.spec_of(path, tables))


def _entries(name: str, given: Any) -> list[Tables]:
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise ScenarioError(f'error: "{name}" is a list of dicts, not {given!r:.60}')
    known = settings.kinds(settings.top_level()[name])
    made: list[Tables] = []
    for entry in given:
        kind = entry.get("kind") if isinstance(entry, Mapping) else None
        if kind not in known:
            raise ScenarioError(
                f'error: each entry of "{name}" is a dict with a "kind", which is one of '
                f"{', '.join(known)}; found {entry!r:.60}"
            )
        made.append({"kind": kind})
        tables = {name: made}
        for key, value in entry.items():
            path = settings.resolved(f"{name}.{len(made) - 1}.{key}", tables, lambda: None)
            made[-1][key] = _value(path, value, settings.spec_of(path, tables))
    return made


def _value(path: str, given: Any, spec: settings.Spec | None) -> Any:
    """Return a value as TOML has it; hosts may be numbers where their setting is a text."""
    if isinstance(given, os.PathLike):
        given = os.fspath(given)
    if hasattr(given, "item") and not hasattr(given, "__len__"):
        given = given.item()  # a number of NumPy
    if settings.is_plain_text(spec) and not isinstance(given, (str, bool)):
        if isinstance(given, int):
            return str(given)
        if isinstance(given, Sequence) and all(isinstance(one, int) for one in given):
            return ",".join(map(str, given))
    if not isinstance(given, (str, bool, int, float)):
        raise ScenarioError(f'error: "{path}" takes text, a number or a truth value: {given!r:.60}')
    return given


def ordered(tables: Mapping[str, Any]) -> Tables:
    """Return tables with all keys in the order of the declarations: equal settings, equal text."""
    keys = _sorted(tables, list(settings.top_level()))
    return {key: _ordered(key, found) for key, found in keys.items()}


def _ordered(name: str, found: Any) -> Any:
    """Return a section, or the entries of a list, in the order of the declarations."""
    spec = settings.top_level().get(name, {})
    if settings.is_section(spec) and isinstance(found, Mapping):
        return _sorted(found, list(spec["properties"]))
    if settings.is_list(spec) and isinstance(found, list):
        known = settings.kinds(spec)
        return [
            _sorted(one, list(known[one["kind"]]["properties"]))
            if isinstance(one, Mapping) and one.get("kind") in known
            else one
            for one in found
        ]
    return found


def _sorted(table: Mapping[str, Any], order: list[str]) -> Tables:
    keys = [key for key in order if key in table]
    return {key: table[key] for key in [*keys, *sorted(table.keys() - set(keys))]}


def anchor(tables: Tables, folder: Path) -> None:
    """Make paths of files in a scenario independent of the folder that they are relative to."""
    entries = [one for one in tables.values() if isinstance(one, dict)]
    for name, spec in settings.top_level().items():
        if settings.is_list(spec) and isinstance(tables.get(name), list):
            entries += [one for one in tables[name] if isinstance(one, dict)]
    for entry in entries:
        for key in ("file", "groups", "loads", "sizes"):
            path = entry.get(key)
            # `sizes` may also name a table of the engine.
            if isinstance(path, str) and path and (key != "sizes" or path.endswith(".csv")):
                entry[key] = str(folder / path)
