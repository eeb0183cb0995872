"""Results of the laboratory as text: what ran where, and numbers without noise digits."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xoff import engine

DIGITS = 4
CPUS = Path("/proc/cpuinfo")


def text(result: Mapping[str, Any], command: str, load: Sequence[float]) -> str:
    """Return JSON with a line per entry.

    `load` has the machine's load average before and after. Measurements depend on the machine and
    on what else it does, so both are recorded.
    """
    head = {
        "command": command,
        "engine": engine.build_id(),
        "machine": machine(),
        "load": load,
    }
    entries = [
        f'  "{key}": {json.dumps(rounded(value))}' for key, value in {**head, **result}.items()
    ]
    return "{\n" + ",\n".join(entries) + "\n}\n"


def machine() -> str:
    """Return processors and kernel."""
    names = [line.partition(":")[2] for line in _cpus() if line.startswith("model name")]
    name = names[0].strip() if names else platform.machine()
    return f"{os.cpu_count()} cores, {name}, Linux {platform.release()}"


def _cpus() -> list[str]:
    return CPUS.read_text().splitlines() if CPUS.exists() else []


def rounded(value: Any) -> Any:
    """Return the value with its numbers rounded."""
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, Mapping):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return value
