"""Units and names of the numbers that claims measure."""

from __future__ import annotations

from collections.abc import Mapping

from xoff import completions
from xoff.claims import Check, Formula
from xoff.metrics import Term

RATIO, SHARE, SLOWDOWN, NUMBER = "ratio", "share", "slowdown", "number"
# Relations whose outcome has a unit of its own.
_OF_RELATION = {
    **dict.fromkeys(("ratio", "max-ratio", "ratio-order", "slope-ratio"), RATIO),
    **dict.fromkeys(("saving", "pair-saving", "max-pair-saving", "gain-share"), SHARE),
    **dict.fromkeys(("linear", "proportional", "rank-correlation", "count"), NUMBER),
    "cdf-distance": SHARE,
    "score-difference": "log2",
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
