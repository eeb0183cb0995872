"""The engine's module: the package's own, or the file in `XOFF_ENGINE`.

A crate that adds a scheme builds an engine of its own (`xoff new-scheme`). Errors of that engine
are raised where it is used first, so that importing `xoff` succeeds.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.metadata import version
from importlib.util import module_from_spec, spec_from_loader
from types import ModuleType
from typing import Any, NoReturn

from xoff.errors import UsageError

VARIABLE = "XOFF_ENGINE"
_NAME = "xoff._native"


class Broken:
    """An engine that could not be loaded. To use it raises `UsageError`."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __getattr__(self, name: str) -> NoReturn:
        raise UsageError(self._reason)


def load() -> Any:
    """Return the engine's module."""
    file = os.environ.get(VARIABLE)
    if not file:
        from xoff import _native

        return _native
    # Processes that this one starts may have another working directory.
    os.environ[VARIABLE] = file = os.path.abspath(file)
    try:
        return _from_file(file)
    except (ImportError, OSError) as error:
        return Broken(f"{VARIABLE}={file}: {error}; unset it to use the engine of xoff itself")


def _from_file(file: str) -> ModuleType:
    loader = ExtensionFileLoader(_NAME, file)
    spec = spec_from_loader(_NAME, loader)
    assert spec is not None  # a loader was given
    module = module_from_spec(spec)
    loader.exec_module(module)
    ours = version("xoff")
    if module.version != ours:
        raise ImportError(f"this engine has version {module.version}, xoff has {ours}")
    sys.modules[_NAME] = module
    return module
