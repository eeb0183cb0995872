"""Draws worlds that the engine accepts, and counts the reasons of its refusals."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from xoff.toml_text import parse_toml
from xoff.torture import settings, worlds
from xoff.torture.pool import Worker
from xoff.torture.scales import Fabric
from xoff.torture.worlds import World

# One world in RASH keeps all changes, even those the engine refuses.
RASH = 20
# Attempts with other links for a preset that is refused.
TRIES = 5
CHANGES = (0, 0, 1, 2, 3, 5)
# Keys of a traffic source that are not changed: the size of its traffic follows from them.
DRAWN = frozenset({"kind", "class", "file", "bytes"})


class Draw:
    """Draws one world; counts the refusals on the way."""

    def __init__(self, rng: random.Random, worker: Worker, schema: Mapping[str, Any]) -> None:
        self.rng = rng
        self.refused: Counter[str] = Counter()
        self.last_reason = ""
        self._worker = worker
        self._schema = schema
        self._rash = rng.randrange(RASH) == 0
        self.world = World()
        self.failure: dict[str, Any] | None = None
        self._effective: dict[str, Any] = {}
        self._hosts = 0

    def make(self, presets: list[str]) -> bool:
        """Draw the world; False if the engine refuses it or fails on it (`failure`)."""
        rng = self.rng
        self.world = worlds.base(rng, presets, self._schema)
        if not self._find_a_base():
            return False
        topology = str(self.world.sections["network"]["topology"])
        section = worlds.section_of(topology)
        if rng.random() < 0.4:
            self._try(partial(_update, section=section, to=self._links()))
        if rng.random() < 0.3:
            payload = settings.size(rng.choice(worlds.PAYLOADS))
            self._try(partial(World.set, section="frame", key="payload", value=payload))
        fabric = worlds.fabric(topology, self._effective[section], self._hosts)
        at = worlds.times(fabric, settings.quantity("size", self._effective["frame"]["payload"]))
        self.world.sections["run"] = worlds.run_section(at, fabric)
        self._try(partial(_update, section="run", to=worlds.outputs(rng, at)))
        placeholder = self.world.traffic[0]
        kinds = worlds.traffic_kinds(self._schema)
        for _ in range(rng.randrange(1, 4)):
            self._try(lambda world: worlds.add_source(rng, world, kinds, fabric, at))
        if len(self.world.traffic) > 1:
            self._try(lambda world: world.traffic.remove(placeholder))
        for _ in range(rng.choice((0, 0, 0, 1, 2))):
            drawn = worlds.fault(rng, topology, fabric, at)
            self._try_losses(partial(_add_fault, fault=drawn), fabric)
        if "pfc" in self._effective and rng.random() < 0.3:
            drawn = worlds.watchdog(rng, fabric)
            self._try_losses(partial(_update, section="pfc", to=drawn), fabric)
        if rng.random() < 0.3:
            shares = worlds.shares(rng, "pfc" in self._effective)
            self._try_losses(partial(_update, section="buffer", to=shares), fabric)
        if "pfc" in self._effective and rng.random() < 0.2:
            times: worlds.Section = {"headroom_oversubscription": rng.choice((1, 2, 16))}
            self._try_losses(partial(_update, section="pfc", to=times), fabric)
        for _ in range(rng.choice(CHANGES)):
            self._change_a_setting()
        return self.failure is None and self._accept(self.world)

    def _find_a_base(self) -> bool:
        """Find an accepted base: some presets need labelled traffic or other links."""
        if self._accept(self.world):
            return True
        labelled: worlds.Section = {"kind": "incast", "degree": 1, "bytes": "10KB"}
        self.world.traffic = [{**labelled, "labelled": True}]
        for _ in range(TRIES):
            if self.failure is not None or self._accept(self.world):
                return self.failure is None
            self.world = worlds.base(self.rng, [str(self.world.top["scheme"])], self._schema)
            topology = str(self.world.sections["network"]["topology"])
            self.world.sections[worlds.section_of(topology)].update(self._links())
        return False

    def _links(self) -> worlds.Section:
        topology = worlds.section_of(str(self.world.sections["network"]["topology"]))
        return worlds.links(self.rng, self._schema["properties"][topology]["properties"])

    def _change_a_setting(self) -> None:
        """Change an effective setting, or a setting of a traffic source."""
        if self.rng.random() < 0.2:
            self._change_a_source()
            return
        topology = worlds.section_of(str(self.world.sections["network"]["topology"]))
        in_effect = [
            (section, key)
            for section, values in self._effective.items()
            if isinstance(values, dict) and section not in {*settings.FIXED_SECTIONS, topology}
            for key in values
        ]
        section, key = self.rng.choice(in_effect)
        declared = self._schema["properties"][section]["properties"][key]
        value = settings.other_value(self.rng, declared, self._effective[section][key])
        if value is not None:
            self._try(partial(World.set, section=section, key=key, value=value))

    def _change_a_source(self) -> None:
        number = self.rng.randrange(len(self.world.traffic))
        source = self.world.traffic[number]
        known = worlds.traffic_kinds(self._schema)[str(source["kind"])]
        key = self.rng.choice([key for key in known if key not in DRAWN])
        present = source.get(key, _default(known[key]))
        value = settings.other_value(self.rng, known[key], present)
        if value is not None:
            self._try(partial(_set_in_source, number=number, key=key, value=value))

    def _try(self, change: Callable[[World], None]) -> None:
        """Apply a change if the engine accepts it, or in any case in a rash world."""
        if self.failure is not None:
            return
        changed = self.world.copy()
        change(changed)
        if self._rash or self._accept(changed):
            self.world = changed

    def _try_losses(self, change: Callable[[World], None], fabric: Fabric) -> None:
        """Apply a change that loses packets. Under most recoveries it needs a timeout."""
        before = self.world
        self._try(change)
        if self.world is before:
            timeout = settings.duration(20 * fabric.round_trip_ps)

            def both(world: World) -> None:
                change(world)
                world.set("transport", "timeout", timeout)

            self._try(both)

    def _accept(self, world: World) -> bool:
        answer = self._worker.check(world)
        if answer["status"] == "accepted":
            self._effective = parse_toml(answer["effective"])
            self._hosts = _hosts(answer["effective"])
            return True
        if answer["status"] == "refused":
            self.last_reason = reason(answer["message"])
            self.refused[self.last_reason] += 1
        else:
            self.world, self.failure = world, answer
        return False


def _update(world: World, section: str, to: worlds.Section) -> None:
    world.sections.setdefault(section, {}).update(to)


def _add_fault(world: World, fault: worlds.Section) -> None:
    world.faults.append(fault)


def _set_in_source(world: World, number: int, key: str, value: settings.Value) -> None:
    world.traffic[number][key] = value


def _default(declared: Mapping[str, Any]) -> settings.Value:
    text = str(declared["description"]).rpartition("Default: ")[2]
    value: settings.Value = json.loads(text)
    return value


def _hosts(effective: str) -> int:
    """Read the number of hosts from what an effective scenario derives."""
    found = re.search(r"^# +hosts = (\d+)$", effective, re.MULTILINE)
    return int(found[1]) if found else 0


def reason(diagnostic: str) -> str:
    """Reduce a diagnostic to its reason: the first line without numbers and names."""
    line = diagnostic.strip().splitlines()[0].removeprefix("error: ")
    line = re.sub(r'"[^"]*"', '"..."', line)
    line = re.sub(r"\b(leaf|spine|core|gateway|switch|host|hosts) [0-9:]+", r"\1 N", line)
    unit = r"(\s?([kKMGTnum]i?(B|bps|s)|ps|us|ns|ms|s|B|bps)\b)?"
    return re.sub(rf"[0-9][0-9.,]*{unit}", "N", line)[:150]
