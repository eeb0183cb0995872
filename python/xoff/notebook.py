"""What notebooks show of results and scenarios: HTML in which every text is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def text(found: str) -> str:
    """Return plain text as HTML, with its columns aligned."""
    return f"<pre>{html.escape(found)}</pre>"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Return a table; the first `left` columns align left, the others right."""
    lines = [_row("th", header, left), *(_row("td", row, left) for row in rows)]
    return f"<table>{''.join(lines)}</table>"


def folded(title: str, found: str) -> str:
    """Return HTML below a title that opens and closes it."""
    return f"<details><summary>{html.escape(title)}</summary>{found}</details>"


def _row(tag: str, cells: Sequence[str], left: int) -> str:
    sides = ("left" if i < left else "right" for i in range(len(cells)))
    shown = (
        f'<{tag} style="text-align: {side}">{html.escape(cell)}</{tag}>'
        for side, cell in zip(sides, cells, strict=True)
    )
    return f"<tr>{''.join(shown)}</tr>"
