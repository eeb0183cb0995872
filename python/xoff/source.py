"""A scenario as the engine reads it: its text, and the file that errors and paths refer to."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from xoff import engine, settings
from xoff.errors import ScenarioError, UsageError, as_path
from xoff.toml_text import parse_toml

Answer = TypeVar("Answer")
_NUMBER = re.compile(r"[+-]?\d+")


class AsToml(Protocol):
    """A scenario as a value, such as `xoff.Scenario`."""

    def to_toml(self) -> str:
        """Return it as TOML."""


def overrides_of(given: Iterable[str]) -> list[str]:
    """Return overrides `key=value` that may be given as a single text."""
    return [given] if isinstance(given, str) else list(given)


@dataclass(frozen=True)
class Source:
    """The text of a scenario. Relative paths in it start at the folder of `file`."""

    text: str
    file: str = "scenario.toml"
    is_file: bool = False

    def asked(self, overrides: Iterable[str], ask: Callable[[list[str]], Answer]) -> Answer:
        """Return the engine's answer to this scenario with overrides `key=value`.

        A key may be the last part of a path, such as `load`, and a text may be a bare number where
        the engine would refuse it. Raises `ScenarioError`.
        """
        given = overrides_of(overrides)
        try:
            return ask(given)
        except ScenarioError:
            self._refuse_other_files()
            meant = self.meant(given)
            if meant == given:
                raise
            return ask(meant)

    def _refuse_other_files(self) -> None:
        """Say which command takes a file that is no scenario. Raises `ScenarioError`."""
        try:
            tables = parse_toml(self.text)
        except ValueError:
            return
        folder = os.path.dirname(self.file) or "."
        for keys, kind, command in (
            (("grid", "zip"), "a sweep", f"xoff sweep {self.file}"),
            (("case",), "an experiment", f"xoff experiment {folder}"),
        ):
            if any(key in tables for key in keys):
                raise ScenarioError(f"error: {self.file} is {kind}: use `{command}`") from None

    def meant(self, overrides: list[str]) -> list[str]:
        """Return overrides with whole paths. Raises `ScenarioError` for an unknown name."""
        try:
            tables = parse_toml(self.text)
        except ValueError:  # a case of another simulator, or an error that the engine places
            return overrides
        if not settings.top_level():
            return overrides
        # Overrides that the engine understands decide which settings are in force.
        known = [one for one in overrides if "." in one or _key(one) in settings.top_level()]

        def in_force() -> Any:
            return self._effective(known)

        return [_resolved(one, tables, in_force) for one in overrides]

    def _effective(self, overrides: list[str]) -> Any:
        try:
            return parse_toml(engine.check(self.text, self.file, overrides))
        except ScenarioError:
            return None


def _key(override: str) -> str:
    return override.partition("=")[0].strip()


def _resolved(override: str, tables: Any, in_force: Callable[[], Any]) -> str:
    """Return an override with its whole path, and with quotes around a number that is a text."""
    key, equals, value = (part.strip() for part in override.partition("="))
    if not equals or not key:
        return override
    try:
        path = settings.resolved(key, tables, in_force)
    except ScenarioError as error:
        # The engine places an error in a section; of a bare name it can only list all sections.
        if "." in key:
            return override
        what, newline, advice = str(error).partition("\n")
        raise ScenarioError(f"{what}\n --> --set: {override}{newline}{advice}") from None
    if _NUMBER.fullmatch(value) and settings.is_plain_text(settings.spec_of(path, tables)):
        return f'{path}="{value}"'
    return override if path == key else f"{path}={value}"


Given = str | os.PathLike[str] | Source | AsToml
"""A scenario: a path, TOML text, or a value."""


def read(given: Given) -> Source:
    """Return a scenario given as a path, as TOML text, or as a value.

    A string with a newline is TOML text; so is one with an equals sign that names no file.
    Raises `UsageError` if a file cannot be read.
    """
    if isinstance(given, Source):
        return given
    if not isinstance(given, (str, os.PathLike)):
        return Source(given.to_toml())
    if isinstance(given, str) and ("\n" in given or "=" in given):
        is_text = "\n" in given or not os.path.exists(given)
        if is_text:
            return Source(given)
    path = as_path(given, "a scenario")
    if os.path.isdir(path):
        raise UsageError(f"{path} is a folder; name the scenario file in it")
    try:
        return Source(path.read_text(encoding="utf-8"), str(path), is_file=True)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None


def read_standard_input() -> Source:
    """Return the scenario on standard input; relative paths in it start at the working directory.

    Raises `UsageError` if it is not UTF-8.
    """
    try:
        return Source(sys.stdin.buffer.read().decode(), "<standard input>")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8 text (byte {error.start})") from None
