"""Units and names of the numbers that claims measure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from xoff import completions
from xoff.claims import Check, Formula
from xoff.errors import UsageError
from xoff.metrics import Term

RATIO, SHARE, SLOWDOWN, NUMBER = "ratio", "share", "slowdown", "number"
LOG2 = "log2"
# Relations whose outcome has a unit of its own.
_OF_RELATION = {
    **dict.fromkeys(("ratio", "max-ratio", "ratio-order", "slope-ratio"), RATIO),
    **dict.fromkeys(("saving", "pair-saving", "max-pair-saving", "gain-share"), SHARE),
    **dict.fromkeys(("linear", "proportional", "rank-correlation", "count"), NUMBER),
    "cdf-distance": SHARE,
    "score-difference": LOG2,
}
# Units by the suffix of a summary key or a column.
_SUFFIXES = {
    "_ps": "ps",
    "_us": "us",
    "_ms": "ms",
    "_bytes": "B",
    "_bps": "bit/s",
    "_gbps": "Gb/s",
    "_share": SHARE,
    "_share_by_link": SHARE,
}
_SCALED = {
    ("ps", 1e-6): "us",
    ("ps", 1e-9): "ms",
    ("ps", 1e-12): "s",
    ("us", 1e-3): "ms",
    ("B", 1e-3): "KB",
    ("B", 1e-6): "MB",
    ("bit/s", 1e-9): "Gb/s",
    (SHARE, 100.0): "%",
    (RATIO, 100.0): "%",
}

# Units of a quantity, and how many of its smallest unit each of them is.
_QUANTITIES = (
    {"ps": 1.0, "ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12},
    {"B": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9},
    {"bit/s": 1.0, "bps": 1.0, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Gb/s": 1e9, "Tbps": 1e12},
    {"%": 1.0, SHARE: 100.0},
    {"%": 1.0, RATIO: 100.0},
)


def in_unit(text: str, unit: str) -> float:
    """Return a number with or without a unit, such as "10us", in `unit`. Raises `UsageError`."""
    found = re.fullmatch(r"([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*([A-Za-z/%]*)", text.strip())
    known = next((table for table in _QUANTITIES if unit in table), {})
    if found is None or (found[2] and found[2] not in known):
        example = f"a number in {unit}, or with one of the units {', '.join(known)}"
        if not known:
            example = f"a number without a unit: it is a {unit}"
        raise UsageError(f"expected {example}; found {text!r}")
    return float(found[1]) * (known[found[2]] / known[unit] if found[2] else 1.0)


def after(number: str, unit: str) -> str:
    """Return a number with its unit; alone if it is a ratio or has no known unit."""
    bare = unit in (NUMBER, RATIO, SHARE, SLOWDOWN, LOG2) or "*" in unit
    return number if bare else f"{number} {unit}"


def with_unit(number: str, unit: str) -> str:
    """Return a number in words: `a slowdown of 3`, `10 us`, or alone if it has no known unit."""
    if unit == NUMBER or "*" in unit:
        return number
    if unit in (RATIO, SHARE, SLOWDOWN):
        return f"a {unit} of {number}"
    return f"{number} {unit}"


def of_check(check: Check, name: str) -> str:
    """Return the unit of a number that a check measured under a name."""
    if check.metric == "reach-ratio":
        return NUMBER if name.endswith(" reach") else RATIO
    if check.metric in _OF_RELATION:
        return _OF_RELATION[check.metric]
    first = next((term for term in check.terms if isinstance(term, Term)), None)
    return NUMBER if first is None else of_term(first)


def of_term(term: Term) -> str:
    """Return the unit of a term, scaled."""
    base = _base(term)
    if term.scale == 1.0:
        return base
    return _SCALED.get((base, term.scale), f"{base} * {term.scale:g}")


def _base(term: Term) -> str:
    if term.cdf is not None:
        return SHARE
    if term.path is None:
        return SLOWDOWN
    if completions.is_completion(term.path):
        return "us" if term.path.endswith("_us") else NUMBER
    for part in reversed(term.path.split(".")):
        for suffix, unit in _SUFFIXES.items():
            if part.endswith(suffix):
                return unit
    return SLOWDOWN if "slowdown" in term.path else NUMBER


def long_name(term: Term | Formula) -> str:
    """Return a name that tells apart several numbers of one case."""
    if isinstance(term, Formula):
        return term.case
    where = term.range if isinstance(term.range, str) else _bounds(term.range)
    parts = [term.path or term.cdf or f"{where} {term.statistic}", term.cls]
    return " ".join([term.case, *[part for part in parts if part]])


def _bounds(limits: Mapping[str, float]) -> str:
    low, high = limits.get("low", 0), limits.get("high")
    if limits.keys() & {"low_packets", "high_packets"}:
        low, high = limits.get("low_packets", 1), limits.get("high_packets")
    return f"[{low:g}, {'' if high is None else f'{high:g}'})"
