"""Random values for settings, according to their type in the schema."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Mapping
from typing import Any

Value = str | int | float | bool

# Not changed at random: the times of a run follow from its world, the topology is drawn before.
FIXED_SECTIONS = frozenset({"run", "network"})

RATES_BPS = (10e6, 100e6, 1e9, 2.5e9, 10e9, 25e9, 33e9, 40e9, 56e9, 100e9, 200e9, 400e9, 800e9)
DELAYS_PS = (10e3, 5e10)
BYTES = (64, 64e6)

_UNITS = {
    "duration": {"ps": 1, "ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12},
    "rate": {"bps": 1, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12},
    "size": {
        **{"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9},
        **{"KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
    },
}


def kind_of(declared: Mapping[str, Any]) -> str:
    """Return the type of a setting: choice, flag, whole, number, duration, rate, size or text."""
    if "enum" in declared:
        return "choice"
    simple = {"boolean": "flag", "integer": "whole", "number": "number"}
    if declared.get("type") in simple:
        return simple[declared["type"]]
    expects = declared.get("description", "").rpartition("Expects a ")[2]
    return next((kind for kind in _UNITS if expects.startswith(kind)), "text")


def quantity(kind: str, text: str) -> float:
    """Parse a value with its unit into picoseconds, bits per second or bytes."""
    number, unit = re.fullmatch(r"([0-9.eE+-]+)\s*([A-Za-z]+)", text).groups()  # type: ignore[union-attr]
    return float(number) * _UNITS[kind][unit]


def duration(ps: float) -> str:
    """Format a duration, in whole nanoseconds from 10 ns on."""
    return f"{round(ps / 1e3)}ns" if ps >= 1e4 else f"{round(ps)}ps"


def rate(bps: float) -> str:
    """Format a rate in bit/s."""
    return f"{max(1, round(bps))}bps"


def size(count: float) -> str:
    """Format a size in bytes."""
    return f"{max(0, round(count))}B"


def between(rng: random.Random, low: float, high: float) -> float:
    """Draw a log-uniform number between `low` and `high`."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def _scaled(rng: random.Random, value: float, low: float, high: float) -> float:
    if value <= 0 or rng.random() < 0.3:
        return between(rng, low, high)
    return value * rng.choice((0.1, 0.5, 0.9, 1.1, 2, 10))


def _whole(rng: random.Random, value: int) -> int:
    others = (0, 1, value // 2, value + 1, value * 2, rng.randrange(1, 65))
    return min(rng.choice(others), 4096)


def _number(rng: random.Random, value: float) -> float:
    others = (0.0, 1.0, value / 10, value / 2, value * 2, value * 10, rng.random())
    return float(f"{rng.choice(others):.4g}")


def _example(declared: Mapping[str, Any]) -> str | None:
    """Return the example in the description of a text with a form of its own, if it has one."""
    found = re.search(r'Expects .*such as "([^"]*)"', declared.get("description", ""))
    return found and found[1]


def other_value(rng: random.Random, declared: Mapping[str, Any], value: Value) -> Value | None:
    """Draw another value for a setting; None for plain texts, or if the draw is the same value."""
    kind = kind_of(declared)
    draw: dict[str, Callable[[], Value | None]] = {
        "choice": lambda: rng.choice([o for o in declared["enum"] if o != value] or [None]),
        "flag": lambda: not value,
        "whole": lambda: _whole(rng, int(value)),
        "number": lambda: _number(rng, float(value)),
        "duration": lambda: duration(_scaled(rng, quantity(kind, str(value)), *DELAYS_PS)),
        "rate": lambda: rate(_scaled(rng, quantity(kind, str(value)), 10e6, 800e9)),
        "size": lambda: size(_scaled(rng, quantity(kind, str(value)), *BYTES)),
        "text": lambda: _example(declared),
    }
    drawn = draw[kind]()
    return None if drawn == value else drawn
