"""`readings.toml`: what a paper leaves open, the candidates, and the evidence for the choice.

A reading is a parameter that the paper does not state. Its candidates come from sources; the
*fingerprint*, a number of the paper that is not a headline, decides among them. The settings of
the chosen candidate apply to every case of every experiment of the paper, unless `experiments`
limits them to some experiments, or `schemes` to cases of some schemes. They come before the
settings of the experiment itself. Settings of a section that a case does not use are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from xoff import api
from xoff.errors import ScenarioError, UsageError
from xoff.experiment import Point
from xoff.strict import Reader, read_toml
from xoff.text import suggestion
from xoff.toml_text import parse_toml

FILE = "readings.toml"


@dataclass(frozen=True)
class Candidate:
    """One value of an open parameter: its source, its settings, what the fingerprint measured."""

    value: str
    source: str
    overrides: tuple[str, ...]
    found: str


@dataclass(frozen=True)
class Reading:
    """An open parameter of a paper."""

    id: str
    what: str
    where: str
    open: str
    fingerprint: str
    experiment: str
    choice: str
    reason: str
    schemes: tuple[str, ...]
    experiments: tuple[str, ...]
    candidates: tuple[Candidate, ...]

    def concerns(self, experiment: str) -> bool:
        """Return whether its settings are for an experiment (name without the paper)."""
        return not self.experiments or experiment in self.experiments

    def candidate(self, value: str) -> Candidate:
        """Return the candidate of that value. Raises `UsageError` if there is none."""
        for one in self.candidates:
            if one.value == value:
                return one
        known = ", ".join(one.value for one in self.candidates)
        raise UsageError(f"reading `{self.id}` has no candidate `{value}`; there are {known}")

    @property
    def alternatives(self) -> list[Candidate]:
        """The candidates that were not chosen and differ in their settings."""
        chosen = self.candidate(self.choice)
        return [
            one
            for one in self.candidates
            if one.value != self.choice and one.overrides != chosen.overrides
        ]


def load_readings(file: Path) -> list[Reading]:
    """Read a paper's readings; none if the file does not exist. Raises `UsageError`."""
    if not file.is_file():
        return []
    top = Reader(read_toml(file), str(file))
    found = [
        _reading(table, f"{file}: reading {i}")
        for i, table in enumerate(top.get("reading", list, []), 1)
    ]
    top.done()
    ids = [one.id for one in found]
    twins = {name for name in ids if ids.count(name) > 1}
    if twins:
        raise UsageError(f"{file}: duplicate reading {min(twins)}")
    return found


def _reading(table: Any, where: str) -> Reading:
    reader = Reader(table, where)
    candidates = tuple(
        _candidate(one, f"{where}: candidate {i}")
        for i, one in enumerate(reader.get("candidate", list, []), 1)
    )
    found = Reading(
        id=reader.need("id", str),
        what=reader.need("what", str),
        where=reader.need("where", str),
        open=reader.need("open", str),
        fingerprint=reader.need("fingerprint", str),
        experiment=reader.get("experiment", str, ""),
        choice=reader.choice("choice", [one.value for one in candidates]),
        reason=reader.need("reason", str),
        schemes=tuple(reader.strings("schemes")),
        experiments=tuple(reader.strings("experiments")),
        candidates=candidates,
    )
    reader.done()
    return found


def _candidate(table: Any, where: str) -> Candidate:
    reader = Reader(table, where)
    found = Candidate(
        value=reader.need("value", str),
        source=reader.need("source", str),
        overrides=tuple(reader.strings("set")),
        found=reader.get("found", str, ""),
    )
    reader.done()
    return found


def choose(readings: Sequence[Reading], chosen: Mapping[str, str]) -> list[Reading]:
    """Return the readings with other choices by their id. Raises `UsageError` for unknown ones."""
    ids = [one.id for one in readings]
    for name in chosen:
        if name not in ids:
            hint = suggestion(name, ids) or f"; there are {', '.join(ids) or 'none'}"
            raise UsageError(f"no reading is called `{name}`{hint}")
    return [
        replace(one, choice=one.candidate(chosen.get(one.id, one.choice)).value) for one in readings
    ]


def apply(points: Sequence[Point], readings: Sequence[Reading]) -> tuple[Point, ...]:
    """Return the points with the settings of each reading's choice, before their own.

    Raises `ScenarioError` if a point's scenario is invalid.
    """
    settings = [(one.schemes, one.candidate(one.choice).overrides) for one in readings]
    settings = [(schemes, sets) for schemes, sets in settings if sets]
    if not settings:
        return tuple(points)
    return tuple(point if point.compute else _with(point, settings) for point in points)


def _with(point: Point, settings: Sequence[tuple[tuple[str, ...], tuple[str, ...]]]) -> Point:
    own: list[str] = []
    for schemes, sets in settings:
        if not schemes or scheme_of(point.scenario, point.overrides) in schemes:
            own += _fitting(point, sets)
    return replace(point, overrides=(*own, *point.overrides))


def _fitting(point: Point, sets: tuple[str, ...]) -> tuple[str, ...]:
    """Return the settings without those of sections that the point's scenario does not use.

    A scheme's case without congestion control, say, has no use for a reading about HPCC.
    """
    try:
        api.check(point.scenario, (*sets, *point.overrides))
    except ScenarioError:
        used = parse_toml(api.check(point.scenario, point.overrides))
        return tuple(one for one in sets if one.split(".")[0] in used)
    return sets


@lru_cache(maxsize=4096)
def scheme_of(scenario: Path, overrides: tuple[str, ...]) -> str:
    """Return the name of the scheme that a scenario runs; empty without packets."""
    return str(parse_toml(api.check(scenario, overrides)).get("scheme", ""))
