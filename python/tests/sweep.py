"""Checks whether each setting of each preset has an effect, for `test_settings.py`.

A setting of the effective scenario is alive if another legal value changes the digest of one of
several short runs. Each run exercises other parts of the engine (`worlds.py`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from worlds import BY_HAND, WORLDS, World

from xoff import _native
from xoff.strict import tomllib

FILE = "world.toml"

UNITS = r"(\d+(?:\.\d+)?)(ps|ns|us|ms|s|[TGMK]?bps|[GMK]?B)"
QUANTITY = re.compile(UNITS)

# Values to try for a setting of zero, which means "derived" or "never".
FROM_ZERO = {
    "s": ["1us", "20us", "200us"],
    "bps": ["1Gbps", "20Gbps"],
    "B": ["2KB", "20KB", "200KB"],
}

# Settings that change the results instead of the digest.
OF_RESULTS = {"run", "name", "class"}


class Refused(Exception):
    """A scenario refused by the engine."""


def check(text: str, overrides: list[str]) -> dict[str, Any]:
    """Return the effective scenario; raise `Refused`."""
    try:
        return tomllib.loads(_native.check(text, FILE, overrides))
    except _native.ScenarioError as error:
        raise Refused(str(error)) from None


@dataclass
class Outcome:
    """What a run came to: the digest by simulated time, and what it left at its end."""

    digests: dict[int, str]
    end: str | None = None


def outcome(
    text: str, overrides: list[str], of_results: bool, known: Outcome | None = None
) -> Outcome:
    """Run a scenario; with `of_results` its end also has row counts and the summary.

    The run ends early, without an end, once its digest differs from the one at the same time of an
    outcome that is `known`. Raise `Refused`.
    """
    try:
        run = _native.open_run(text, FILE, overrides, 1)
    except _native.ScenarioError as error:
        raise Refused(str(error)) from None
    found = Outcome({})
    rows: Counter[str] = Counter()
    try:
        more = True
        while more:
            more = run.step_once()
            for table, batch in run.take_tables():
                rows[table] += len(batch)
            for name, data in run.take_files():
                rows[name] += len(data)
            now, digest = run.progress()["sim_ps"], run.digest()
            found.digests[now] = digest
            if known is not None and known.digests.get(now, digest) != digest:
                return found
    except _native.RunError as error:
        found.end = str(error)
        return found
    found.end = run.digest()
    if of_results:
        found.end += f" {sorted(rows.items())} {run.summary()}"
    return found


@dataclass(frozen=True)
class Setting:
    """A key of a section, or of an entry of a list, and its value in the effective scenario."""

    section: str
    key: str
    value: Any
    kind: str = ""

    @property
    def name(self) -> str:
        """Return what it is called in the tables: `switch.quantum`, `traffic.incast.bytes`."""
        section = re.sub(r"\.\d+$", "", self.section)
        return ".".join(part for part in (section, self.kind, self.key) if part)

    def override(self, value: Any) -> str:
        """Return the override that sets it."""
        shown = json.dumps(value)
        return f"{self.section}.{self.key}={shown}" if self.section else f"{self.key}={shown}"


def settings(effective: dict[str, Any]) -> Iterator[Setting]:
    """Yield every setting of an effective scenario, but the scheme and kinds of entries."""
    for name, value in effective.items():
        if isinstance(value, list):
            for number, entry in enumerate(value):
                for key, one in entry.items():
                    if key != "kind":
                        yield Setting(f"{name}.{number}", key, one, entry["kind"])
        elif isinstance(value, dict):
            for key, one in value.items():
                yield Setting(name, key, one)
        elif name != "scheme":
            yield Setting("", name, value)


@cache
def schema() -> dict[str, Any]:
    """Return the properties of the JSON schema of scenarios."""
    return json.loads(_native.schema())["properties"]


def choices(setting: Setting) -> list[str]:
    """Return the names that a setting can have, if it is one of a few."""
    section, _, number = setting.section.partition(".")
    if not section:
        found = schema()[setting.key]
    elif number:
        kinds = [one["properties"] for one in schema()[section]["items"]["anyOf"]]
        of_kind = next(one for one in kinds if setting.kind in one["kind"]["enum"])
        found = of_kind[setting.key]
    else:
        found = schema()[section]["properties"][setting.key]
    return found.get("enum", [])


def default(section: str, key: str) -> str:
    """Return a setting's default, as a scenario would write it."""
    found = re.search(r"Default: (.*)$", schema()[section]["properties"][key]["description"])
    assert found, f"{section}.{key} has no default"
    return found[1]


def scaled(value: str) -> list[str]:
    """Return other values of a quantity, such as "10us"."""
    number, unit = QUANTITY.fullmatch(value).groups()
    if float(number) == 0:
        return FROM_ZERO[next(end for end in ("bps", "B", "s") if unit.endswith(end))]
    return [f"{float(number) * factor:.6f}".rstrip("0").rstrip(".") + unit for factor in FACTORS]


FACTORS = [2, 0.5, 1.25, 0.1, 10, 0.01, 100]


def alternatives(setting: Setting) -> list[Any]:
    """Return other values of a setting, legal or not."""
    value = setting.value
    if setting.name in BY_HAND:
        return [other for other in BY_HAND[setting.name] if other != value]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        others = [2 * value, value // 2, value + 1, value - 1, 10 * value, value // 10, 0, 1, 4]
    elif isinstance(value, float):
        others = [value * 0.5, value * 2, value * 0.9, value * 1.1, 0.0, 0.1, 0.5, 0.9, 1.0, 2.0]
    elif names := choices(setting):
        others = names
    elif QUANTITY.fullmatch(value):
        others = scaled(value)
    else:
        others = []
    return [other for other in dict.fromkeys(others) if other != value]


@dataclass
class Place:
    """A world combined with a preset: a scenario that the engine runs.

    `required` are the overrides that make it legal, `wishes` further overrides it accepts.
    """

    world: World
    text: str
    required: list[str]
    wishes: list[str]
    before: dict[tuple[Any, ...], Outcome]

    def settings(self) -> Iterator[Setting]:
        """Yield the settings to check in this world."""
        for setting in settings(check(self.text, self.required + self.wishes)):
            if self.world.asks(setting.section):
                yield setting

    def changes(self, setting: Setting, value: Any) -> bool:
        """Return whether another value of a setting changes the outcome. Raise `Refused`."""
        override = setting.override(value)
        of_results = bool({setting.section, setting.key} & OF_RESULTS)
        try:
            return self.differs(self.wishes, override, of_results)
        except Refused:
            return self.differs(self.beside(override), override, of_results)

    def differs(self, wishes: list[str], override: str, of_results: bool) -> bool:
        """Return whether an override changes the outcome, given wishes. Raise `Refused`."""
        key = (of_results, *wishes)
        if key not in self.before:
            self.before[key] = outcome(self.text, self.required + wishes, of_results)
        known = self.before[key]
        after = outcome(self.text, [*self.required, *wishes, override], of_results, known)
        return after.end != known.end

    def beside(self, override: str) -> list[str]:
        """Return the wishes compatible with an override. Raise `Refused` if it is illegal."""
        check(self.text, [*self.required, override])
        kept: list[str] = []
        for wish in self.wishes:
            if accepts(self.text, [*self.required, override, *kept, wish]):
                kept.append(wish)
        return kept


def accepts(text: str, overrides: list[str]) -> bool:
    """Return whether the engine runs a scenario."""
    try:
        _native.check(text, FILE, overrides)
    except _native.ScenarioError:
        return False
    return True


def place(world: World, preset: str) -> Place:
    """Combine a preset with a world: find the required overrides and the accepted wishes."""
    for text in world.texts:
        for rescue in world.rescues:
            required = [f"scheme={preset}", *rescue]
            if not accepts(text, required):
                continue
            wishes: list[str] = []
            for choice in world.wishes:
                legal = (one for one in choice if accepts(text, required + wishes + one))
                wishes += next(legal, [])
            return Place(world, text, required, wishes, {})
    raise AssertionError(f"{preset} runs in no form of the world {world.name!r}")


@dataclass(frozen=True)
class Verdicts:
    """Results for a preset: settings as "NAME", values of a choice as "NAME = VALUE"."""

    alive: set[str]
    dead: set[str]
    refused: set[str]


def verdicts(preset: str) -> Verdicts:
    """Check every setting of a preset.

    Each value of a choice must have an effect or be refused; of any other setting, one value must
    have an effect.
    """
    found: dict[str, list[tuple[Place, Setting]]] = {}
    for where in (place(world, preset) for world in WORLDS if world.takes(preset)):
        for setting in where.settings():
            found.setdefault(setting.name, []).append((where, setting))
    of = Verdicts(set(), set(), set())
    for name, uses in found.items():
        values = dict.fromkeys(value for _, setting in uses for value in alternatives(setting))
        if any(isinstance(setting.value, bool) or choices(setting) for _, setting in uses):
            judged = {f"{name} = {value}": verdict(value, uses) for value in values}
            of.dead.update(value for value, said in judged.items() if said == "dead")
            continue
        getattr(of, best(values, uses)).add(name)
    return of


def best(values: Iterable[Any], uses: list[tuple[Place, Setting]]) -> str:
    """Return "alive" if any value is alive, else "dead" if any is accepted, else "refused"."""
    found = "refused"
    for value in values:
        said = verdict(value, uses)
        if said == "alive":
            return said
        found = said if said == "dead" else found
    return found


def verdict(value: Any, uses: list[tuple[Place, Setting]]) -> str:
    """Return "alive" if a value has an effect in any world, else "dead", or "refused" in all."""
    found = "refused"
    for where, setting in uses:
        if value == setting.value:
            continue
        try:
            if where.changes(setting, value):
                return "alive"
            found = "dead"
        except Refused:
            continue
    return found
