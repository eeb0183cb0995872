"""Text helpers: numbers with units, aligned tables, spelling suggestions."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Sequence

_BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_TIMES = ((1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns"))
_BAR = re.compile(r"(?<!\\)\|")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_COUNTS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
# From this share of a unit on, three digits are one of it.
_ROUNDS_UP = 0.9995


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ` (did you mean X?)` for the nearest known name, else an empty string."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean `{near[0]}`?)" if near else ""


def number(value: float | None, digits: int = 3) -> str:
    """Format a number with `digits` significant digits; `-` for None, `inf` if infinite."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return f"{value:g}"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value)}"
    if abs(value) >= 10**digits - 0.5:  # where rounding would add a digit
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def with_interval(
    value: float | None, interval: tuple[float, float] | None, at_least: bool = False
) -> str:
    """Format a number, with "at least" for a bound, and its interval if it has a width."""
    text = ("at least " if at_least else "") + number(value)
    if interval is not None and interval[0] < interval[1]:
        text += f" ({number(interval[0])} to {number(interval[1])})"
    return text


def jsonable(value: float | None) -> float | str | None:
    """Return a number for JSON, with nine digits; an infinite one becomes `"inf"` or `"-inf"`."""
    if value is None or math.isnan(value):
        return None
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(f"{value:.9g}")


def fixed(value: float | None, places: int = 2) -> str:
    """Format a number with `places` decimals, so that columns line up; `-` for None."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:g}" if math.isinf(value) else f"{value:,.{places}f}"


def _scaled(value: float, scales: Sequence[tuple[float, str]], unit: str) -> str:
    for factor, name in scales:
        if abs(value) >= _ROUNDS_UP * factor:
            return f"{number(value / factor)} {name}"
    return f"{number(value)} {unit}".rstrip()


def byte_text(value: float | None) -> str:
    """Format bytes as `1.2 MB` (powers of 1000)."""
    return "-" if value is None else _scaled(value, _BYTES, "B")


def time_text(ps: float | None) -> str:
    """Format picoseconds as `1.2 us`."""
    return "-" if ps is None else _scaled(ps, _TIMES, "ps")


def count_text(value: float | None) -> str:
    """Format a count as `1.2 M`."""
    return "-" if value is None else _scaled(value, _COUNTS, "")


def clock_text(seconds: float) -> str:
    """Format a wall-clock duration as `m:ss` or `h:mm:ss`."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    if hours:
        return f"{hours}:{rest // 60:02d}:{rest % 60:02d}"
    return f"{rest // 60}:{rest % 60:02d}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Format an aligned text table; the first `left` columns align left, the others right."""
    grid = [list(header), *[list(row) for row in rows]]
    widths = [max(len(row[i]) for row in grid) for i in range(len(header))]
    lines = []
    for row in grid:
        cells = [
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Format a Markdown table; the first `left` columns align left, the others right."""
    rule = ["---" if i < left else "---:" for i in range(len(header))]
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in (header, rule, *rows)]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Return text that stays in its cell: a name may have a bar, a line break or a tag."""
    return _TAG.sub("&lt;", _BAR.sub(r"\\|", " ".join(text.splitlines())))
