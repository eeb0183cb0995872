"""The settings of scenarios by name, as the engine declares them in its schema.

A setting has a path such as `run.measure`; entries of a list are numbered or have the name of their
class: `traffic.0.load`, `traffic.background.load`. The last part alone, `load`, names a setting
where a scenario has only one place for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from xoff import engine
from xoff.errors import ScenarioError

Spec = Mapping[str, Any]
Tables = Mapping[str, Any]

# What the schema says of a text that is no quantity and no choice.
PLAIN_TEXT = "Expects a quoted string."
# Choices that presets leave to the scenario. Each value has a section of its name.
CHOICES = ("engine", "network.topology")
# Places that an error lists.
MOST_PLACES = 8


def top_level() -> Mapping[str, Spec]:
    """Return the keys and sections of a scenario in their order, with what the schema has."""
    return engine.top_level()


def is_list(spec: Spec) -> bool:
    """Return whether a scenario has any number of sections of this name."""
    return spec.get("type") == "array"


def is_section(spec: Spec) -> bool:
    """Return whether it is a section of settings."""
    return spec.get("type") == "object"


def kinds(spec: Spec) -> dict[str, Spec]:
    """Return the entries that a list may have, by their kind."""
    entries = spec["items"]["anyOf"]
    return {entry["properties"]["kind"]["enum"][0]: entry for entry in entries}


def default_class(entry: Spec) -> str | None:
    """Return the name that flows of an entry of this kind have if none is given."""
    spec = entry["properties"].get("class", {})
    _, _, default = str(spec.get("description", "")).rpartition('Default: "')
    return default.removesuffix('"') or None


def is_plain_text(spec: Spec | None) -> bool:
    """Return whether a setting is a text in which a number alone is sensible, such as a host."""
    return spec is not None and PLAIN_TEXT in spec.get("description", "")


def spec_of(path: str, tables: Tables) -> Spec | None:
    """Return what the schema says of the setting at a path; None if there is no such setting."""
    first, _, rest = path.partition(".")
    spec = top_level().get(first)
    if spec is None or not rest:
        return spec
    if is_section(spec):
        found = spec["properties"].get(rest)
    elif is_list(spec):
        index, _, key = rest.partition(".")
        found = _keys_of(spec, tables.get(first), index).get(key)
    else:
        return None
    return None if found is None else dict(found)


def _keys_of(spec: Spec, entries: Any, index: str) -> dict[str, Spec]:
    """Return the settings of an entry of a list; none if there is no such entry."""
    if not isinstance(entries, list) or not index.isdigit() or int(index) >= len(entries):
        return {}
    entry = entries[int(index)]
    kind = entry.get("kind") if isinstance(entry, dict) else None
    known = kinds(spec).get(str(kind))
    return dict(known["properties"]) if known else {}


def places(name: str, tables: Tables) -> list[str]:
    """Return the paths of all settings whose last part is `name`, in this scenario."""
    return [path for path in paths(tables) if path.rpartition(".")[2] == name]


def paths(tables: Tables) -> Iterator[str]:
    """Yield the path of every setting that this scenario may have."""
    for first, spec in top_level().items():
        if is_section(spec):
            yield from (f"{first}.{key}" for key in spec["properties"])
        elif is_list(spec):
            entries = tables.get(first)
            for index in range(len(entries) if isinstance(entries, list) else 0):
                yield from (f"{first}.{index}.{key}" for key in _keys_of(spec, entries, str(index)))
        else:
            yield first


def resolved(name: str, tables: Tables, in_force: Callable[[], Tables | None]) -> str:
    """Return the path of the setting that `name` means: a path, or the last part of one.

    `in_force` gives the tables of the effective scenario, or None if it is not valid; they decide
    between several places. Raises `ScenarioError` with the places, or with the nearest names.
    """
    if name in top_level():
        return name
    if "." in name:
        return _whole(name, tables)
    found = places(name, tables)
    if len(found) > 1:
        found = _in_force(found, tables, in_force()) or found
    if len(found) == 1:
        return found[0]
    if not found:
        raise ScenarioError(f'error: unknown setting "{name}"{_elsewhere(name, tables)}')
    raise ScenarioError(
        f'error: "{name}" is the last part of several settings\nhelp: write one of '
        + _listed(found)
    )


def _in_force(found: list[str], tables: Tables, effective: Tables | None) -> list[str]:
    """Return the places that a scenario uses, as far as they are known where it is not valid."""
    if effective is not None:
        return [path for path in found if holds(effective, path)]
    left_out = {section for choice in CHOICES for section in _left_out(choice, tables)}
    return [path for path in found if path.partition(".")[0] not in left_out]


def _left_out(choice: str, tables: Tables) -> list[str]:
    """Return the sections of the values that a choice does not have."""
    spec = spec_of(choice, tables) or {}
    section, _, key = choice.rpartition(".")
    given = tables.get(section, {}) if section else tables
    _, _, default = str(spec.get("description", "")).rpartition('Default: "')
    chosen = given.get(key, default.removesuffix('"')) if isinstance(given, Mapping) else None
    return [one.replace("-", "_") for one in spec.get("enum", ()) if one != chosen]


def _whole(path: str, tables: Tables) -> str:
    """Return a path with the number of its entry in place of the entry's class."""
    first, _, rest = path.partition(".")
    spec = top_level().get(first)
    if spec is None:
        near = _nearest(first, top_level())
        raise ScenarioError(f'error: unknown section "{first}" in "{path}"{near}')
    if is_list(spec):
        index, _, key = rest.partition(".")
        path = f"{first}.{_entry(first, index, tables)}.{key}"
    if spec_of(path, tables) is None:
        within = path.rpartition(".")[0] + "."
        known = [one for one in paths(tables) if one.startswith(within)]
        raise ScenarioError(f'error: unknown setting "{path}"{_nearest(path, known)}')
    return path


def _entry(name: str, index: str, tables: Tables) -> int:
    """Return the number of an entry of a list given by its number or the name of its class."""
    entries = tables.get(name)
    entries = entries if isinstance(entries, list) else []
    classes = [_class_of(name, entry) for entry in entries]
    if index in classes and classes.count(index) == 1:
        return classes.index(index)
    if index.isdigit() and int(index) < len(entries):
        return int(index)
    if classes.count(index) > 1:
        numbers = [str(i) for i, cls in enumerate(classes) if cls == index]
        raise ScenarioError(
            f'error: several entries of [[{name}]] have the class "{index}"\nhelp: write the '
            f"number of one: {', '.join(numbers)}"
        )
    known = ", ".join(f"{i} ({cls})" if cls else str(i) for i, cls in enumerate(classes))
    raise ScenarioError(
        f'error: [[{name}]] has no entry "{index}"\nhelp: '
        + (f"it has {known}" if known else f"the list is empty; set {name} to a list of entries")
    )


def _class_of(name: str, entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return None
    known = kinds(top_level()[name]).get(str(entry.get("kind")))
    own = entry.get("class", default_class(known) if known else None)
    return None if own is None else str(own)


def holds(tables: Tables, path: str) -> bool:
    """Return whether tables have a value at a path."""
    here: Any = tables
    for part in path.split("."):
        if isinstance(here, list):
            if not part.isdigit() or int(part) >= len(here):
                return False
            here = here[int(part)]
        elif isinstance(here, Mapping) and part in here:
            here = here[part]
        else:
            return False
    return True


def _elsewhere(name: str, tables: Tables) -> str:
    """Say where a name that this scenario has no place for belongs, or which names are near."""
    of_kinds = [
        f'[[{first}]] with kind = "{kind}"'
        for first, spec in top_level().items()
        if is_list(spec)
        for kind, entry in kinds(spec).items()
        if name in entry["properties"]
    ]
    if of_kinds:
        return f"\nhelp: it is a setting of {' or of '.join(of_kinds)}"
    last = {path.rpartition(".")[2]: path for path in paths(tables)}
    near = get_close_matches(name, [*top_level(), *last], n=3)
    return _advice(list(dict.fromkeys(last.get(one, one) for one in near)))


def _nearest(name: str, known: Any) -> str:
    return _advice(get_close_matches(name, list(known), n=3, cutoff=0.5))


def _advice(near: list[str]) -> str:
    if near:
        return f"\nhelp: did you mean {_listed(near)}?"
    return "\nhelp: docs/settings.md lists all settings; so does `xoff check --schema`"


def _listed(found: list[str]) -> str:
    shown = [f'"{path}"' for path in found[:MOST_PLACES]]
    if len(found) > MOST_PLACES:
        return f"{', '.join(shown)} and {len(found) - MOST_PLACES} more"
    return ", ".join(shown[:-1]) + f" or {shown[-1]}" if len(shown) > 1 else shown[0]
