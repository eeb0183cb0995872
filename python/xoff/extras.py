"""Packages that only some commands need: the extras of `pip install 'xoff[EXTRA]'`.

What needs one says so before it runs anything. Figures that stand next to tables are left out
without Matplotlib, with a note, as the tables are worth having and a later call draws the figures
from the finished runs.
"""

from __future__ import annotations

from importlib.util import find_spec

from xoff.errors import MissingExtraError

# The package of each extra, and what it is for. `all` has every one.
PLOT, DASK = "plot", "dask"
PACKAGES = {PLOT: "matplotlib", DASK: "distributed"}
PURPOSES = {PLOT: "figures", DASK: "`xoff sweep --dask`"}


def has(extra: str) -> bool:
    """Return whether the package of an extra can be imported, without importing it."""
    return find_spec(PACKAGES[extra]) is not None


def need(extra: str, what: str) -> None:
    """Raise `MissingExtraError` unless an extra is installed; `what` needs it."""
    if not has(extra):
        raise MissingExtraError(
            f"{what} needs {PACKAGES[extra]}, which is not installed: {advice(extra)}"
        )


def advice(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'xoff[{extra}]'"


def without_figures() -> str:
    """Return the note of a command that writes its tables and leaves out its figures."""
    return (
        f"no figures: {PACKAGES[PLOT]} is not installed. After {advice(PLOT)} the same command "
        "draws them from the finished runs"
    )
