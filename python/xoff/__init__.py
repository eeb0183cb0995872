"""xoff: a packet-level simulator of data-center congestion schemes.

    import xoff
    result = xoff.run("scenario.toml", set=["scheme=bfc"])
    result.flows                     # a pyarrow table, one row per finished flow
    result.summary["buffer"]         # time-weighted occupancy of switch buffers, in bytes

Times are in picoseconds of simulated time (`*_ps`), sizes in bytes, rates in bit/s.
Errors: `ScenarioError` and `UsageError` (nothing ran), `RunError` (the run failed) and
`Interrupted` (Ctrl-C).
"""

from __future__ import annotations

from xoff.api import check, run
from xoff.engine import Progress
from xoff.engine import version as _version
from xoff.errors import (
    IncompleteRunError,
    Interrupted,
    RunError,
    ScenarioError,
    UsageError,
    XoffError,
)
from xoff.result import Result, load

__version__ = _version()

__all__ = [
    "IncompleteRunError",
    "Interrupted",
    "Progress",
    "Result",
    "RunError",
    "ScenarioError",
    "UsageError",
    "XoffError",
    "__version__",
    "check",
    "load",
    "run",
]
