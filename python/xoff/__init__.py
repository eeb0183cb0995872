"""xoff: a packet-level simulator of data-center congestion schemes.

    import xoff
    scenario = xoff.scenario("bfc", load=0.8)     # or a file: xoff.scenario("scenario.toml")
    result = scenario.run()
    result.flows                     # a pyarrow table, one row per finished flow
    result.summary["buffer"]         # time-weighted occupancy of switch buffers, in bytes
    xoff.compare([result, scenario.with_(scheme="dctcp").run()])

Times are in picoseconds of simulated time (`*_ps`), sizes in bytes, rates in bit/s.
Errors: `ScenarioError` and `UsageError` (nothing ran), `RunError` (the run failed), `EndedEarly`
(it reached its budget) and `Interrupted` (Ctrl-C).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from xoff.api import check, presets, run
from xoff.engine import Progress
from xoff.engine import version as _version
from xoff.errors import (
    EndedEarly,
    IncompleteRunError,
    Interrupted,
    RunError,
    ScenarioError,
    UsageError,
    XoffError,
)
from xoff.result import Result, load
from xoff.scenarios import Checked, Scenario, scenario

if TYPE_CHECKING:
    from xoff.side_by_side import Comparison, compare
    from xoff.sweeps import Swept, sweep

__version__: str

# Modules that import NumPy, which a run does without.
_LATER = {
    **dict.fromkeys(("Comparison", "compare"), "xoff.side_by_side"),
    **dict.fromkeys(("Swept", "sweep"), "xoff.sweeps"),
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name not in _LATER:
        raise AttributeError(f"module 'xoff' has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(_LATER[name]), name)
    return found


__all__ = [
    "Checked",
    "Comparison",
    "EndedEarly",
    "IncompleteRunError",
    "Interrupted",
    "Progress",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Swept",
    "UsageError",
    "XoffError",
    "__version__",
    "check",
    "compare",
    "load",
    "presets",
    "run",
    "scenario",
    "sweep",
]
