"""A scenario as a value: built in Python or read from TOML, changed by `with_`, then run.

    base = xoff.scenario("bfc", load=0.8)
    other = base.with_(scheme="dctcp", run={"measure": "2ms"})

A scenario never changes. Two with the same settings are equal, wherever they are from.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff import api, changing, engine, notebook, settings, source, toml_text
from xoff.engine import Report
from xoff.errors import ScenarioError, UsageError
from xoff.result import Result
from xoff.text import suggestion
from xoff.toml_text import parse_toml

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

    from xoff.declared_settings import Settings
    from xoff.sweeps import Swept

Tables = dict[str, Any]


@dataclass(frozen=True)
class Checked:
    """A valid scenario with every default.

    `settings` are its tables, `derived` what follows from them, such as `base_rtt`, `pause_cycles`
    says whether pauses can form a cycle between switches (None: switches do not pause each other),
    and `toml` is all of it as text.
    """

    toml: str
    pause_cycles: str | None

    @property
    def settings(self) -> Tables:
        """Return the tables, with the default of each setting that is not set."""
        return parse_toml(self.toml)

    @property
    def derived(self) -> dict[str, str]:
        """Return values that follow from the settings, by name, with their units."""
        _, _, below = self.toml.partition("\n# Derived:\n")
        pairs = (line.removeprefix("#").partition(" = ") for line in below.splitlines())
        return {key.strip(): value for key, equals, value in pairs if equals}

    def _repr_html_(self) -> str:
        return notebook.text("\n".join(filter(None, (self.toml, self.pause_cycles))))


@dataclass(frozen=True, init=False, repr=False)
class Scenario:
    """What is simulated: a network, a scheme, traffic, and how long. It never changes.

    Settings are given by section, or by their last part alone where only one setting has it:

        Scenario(scheme="bfc", run={"measure": "2ms"}, traffic=[{"kind": "open-loop"}], load=0.8)

    A mapping as the first argument takes whole paths, too: `{"traffic.0.load": 0.8}`.
    """

    _toml: str

    def __init__(
        self, changes: Mapping[str, Any] | None = None, /, **more: Unpack[Settings]
    ) -> None:
        self._become(changing.applied({}, {**(changes or {}), **more}))

    def _become(self, tables: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_toml", toml_text.write(changing.ordered(tables)))

    @classmethod
    def _of(cls, tables: Mapping[str, Any]) -> Scenario:
        made = cls.__new__(cls)
        made._become(tables)
        return made

    @classmethod
    def from_toml(cls, given: str | os.PathLike[str]) -> Scenario:
        """Read a scenario from a file, or from TOML text (with a newline or an equals sign).

        Every setting is kept, comments are not. Paths relative to the file's folder become
        absolute, so that the scenario means the same elsewhere. Raises `UsageError`, or
        `ScenarioError` if it is not TOML.
        """
        found = source.read(given)
        try:
            tables = parse_toml(found.text)
        except ValueError as error:
            engine.check(found.text, found.file, [])  # says where the mistake is
            raise ScenarioError(f"{found.file} is no TOML ({error}); `xoff.run` takes it") from None
        if found.is_file:
            changing.anchor(tables, Path(found.file).resolve().parent)
        return cls._of(tables)

    def to_toml(self) -> str:
        """Return it as TOML. `from_toml` reads an equal scenario."""
        return self._toml

    @property
    def tables(self) -> Tables:
        """Its settings as nested tables, without defaults: a copy."""
        return parse_toml(self._toml)

    def with_(
        self, changes: Mapping[str, Any] | None = None, /, **more: Unpack[Settings]
    ) -> Scenario:
        """Return a scenario with some settings changed.

        A section changes the settings that it has and leaves the others; a list (`traffic`,
        `fault`) replaces the whole list. Other names are the last part of a path: `load=0.8`.
        Raises `ScenarioError` for a name that is unknown or has several places, with the names to
        choose from. Values are checked by `check` and `run`.
        """
        return self._of(changing.applied(self.tables, {**(changes or {}), **more}))

    def without(self, *names: str) -> Scenario:
        """Return a scenario in which these settings or sections have their defaults again.

        Raises `ScenarioError` if one of them is not set.
        """
        tables = self.tables
        for name in names:
            path = settings.resolved(name, tables, lambda: tables)
            if not settings.holds(tables, path):
                raise ScenarioError(f'error: "{path}" is not set in this scenario')
            above, _, last = path.rpartition(".")
            del changing.table_at(tables, above)[last]
        return self._of(tables)

    def check(self, max_memory: str | int | None = None) -> Checked:
        """Validate it; return it with every default, and with what follows from its settings.

        `max_memory` is as in `xoff.check`. Raises `ScenarioError`.
        """
        toml = api.check(self, max_memory=max_memory)
        return Checked(toml, api.backpressure(self, max_memory=max_memory))

    def run(
        self,
        out: str | os.PathLike[str] | None = None,
        *,
        progress: Report | bool | None = None,
        threads: int | None = None,
        max_memory: str | int | None = None,
        max_wall: str | float | None = None,
        max_packet_hops: str | int | None = None,
    ) -> Result:
        """Run it to its end and return its result. `xoff.run` documents the arguments."""
        return api.run(
            self,
            out,
            progress=progress,
            threads=threads,
            max_memory=max_memory,
            max_wall=max_wall,
            max_packet_hops=max_packet_hops,
        )

    def sweep(
        self,
        grid: Mapping[str, Sequence[Any]],
        out: str | os.PathLike[str] | None = None,
        *,
        seeds: int | Sequence[int] | None = None,
        measures: Mapping[str, Any] | None = None,
        levels: Mapping[str, float | str] | None = None,
        relative_to: Mapping[str, Any] | None = None,
        relation: str | None = None,
        slots: int | None = None,
        progress: bool | None = None,
    ) -> Swept:
        """Run every combination of settings with every seed: `{"scheme": ["bfc", "dctcp"]}`.

        `xoff.sweep` documents the arguments.
        """
        from xoff.sweeps import sweep

        return sweep(
            self,
            out,
            grid=grid,
            seeds=seeds,
            measures=measures,
            levels=levels,
            relative_to=relative_to,
            relation=relation,
            slots=slots,
            progress=progress,
        )

    def draw(self) -> Figure:
        """Draw its network: hosts, switches by layer, links by speed, and the links that fail.

        Raises `ScenarioError`, `UsageError` for an engine without packets, and `MissingExtraError`.
        """
        from xoff import picture

        return picture.of(self)

    def __str__(self) -> str:
        return self._toml

    def __repr__(self) -> str:
        tables = self.tables
        return f"<xoff.Scenario {tables.get('name', '')!r} scheme={tables.get('scheme', '')!r}>"

    def _repr_html_(self) -> str:
        return notebook.text(self._toml)


def scenario(
    given: str | os.PathLike[str] | Mapping[str, Any], /, **more: Unpack[Settings]
) -> Scenario:
    """Return the scenario of a preset, a file, TOML text or a mapping, with settings changed.

    A preset's scenario has its scheme, the default network, and one traffic source: `open-loop` at
    its default load. `xoff.presets()` names all presets. Raises `ScenarioError` or `UsageError`.
    """
    if isinstance(given, Mapping):
        return Scenario(given, **more)
    if isinstance(given, str) and given in api.presets():
        start = Scenario({"scheme": given, "traffic": [{"kind": "open-loop"}]})
        return start.with_(**more)
    if isinstance(given, str) and "=" not in given and not os.path.exists(given):
        hint = suggestion(given, api.presets())
        raise UsageError(f"{given!r:.80} is neither a preset nor a file{hint}")
    return Scenario.from_toml(given).with_(**more)
