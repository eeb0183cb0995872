"""Counts of claims over all papers, kept up to date in Markdown files.

A file has the table between the lines `<!-- claims -->` and `<!-- end of claims -->`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xoff import comparison, page, recorded
from xoff.catalogue import RESULTS
from xoff.claims import SIMULATED, load_claims
from xoff.drafts import replace_text
from xoff.text import markdown
from xoff.verdicts import HOLDS, WORDS

BEGIN, END = "<!-- claims -->\n", "<!-- end of claims -->\n"
TITLES = {
    "bfc": "BFC (NSDI 2022)",
    "sfc": "SFC (2023)",
    "detail": "DeTail (UCB/EECS-2011-113)",
    "capfc": "CaPFC (IFIP Networking 2016)",
    "flowtune": "Flowtune (NSDI 2017)",
}
HEADER = ("paper", "simulated claims", *WORDS, "same direction", "computed", "by a test")


def records(root: Path) -> dict[str, dict[str, Any]]:
    """Return the recorded results of every paper that has some. Raises `UsageError`."""
    files = {paper: root / paper / RESULTS for paper in TITLES}
    return {paper: recorded.load(file) for paper, file in files.items() if file.is_file()}


def comparisons(root: Path) -> dict[str, dict[str, Any]]:
    """Return the recorded results of every comparison that has some. Raises `UsageError`."""
    folders = sorted(file.parent for file in root.glob(f"*/{comparison.FILE}"))
    files = {folder.name: folder / RESULTS for folder in folders}
    return {name: recorded.load(file) for name, file in files.items() if file.is_file()}


def table(found: Mapping[str, Mapping[str, Any]], pages: str) -> str:
    """Format one row per paper; `pages` is the path of the folder of pages."""
    rows = [_row(paper, found[paper]["claims"], pages) for paper in found]
    return markdown(HEADER, rows, left=1)


def _row(paper: str, claims: Sequence[Mapping[str, Any]], pages: str) -> list[str]:
    own = [claim for claim in claims if claim["kind"] == SIMULATED]
    said = [claim["verdict"] for claim in own]
    decided = [claim["direction"] for claim in own if claim["direction"] is not None]
    return [
        f"[{TITLES[paper]}]({pages}{paper}.md)",
        str(len(own)),
        *[_share(said.count(word), len(own)) for word in WORDS],
        f"{decided.count(True)} of {len(decided)}",
        *[_holding(claims, kind) for kind in ("computed", "test")],
    ]


def _share(count: int, total: int) -> str:
    return f"{count} ({count / total:.0%})" if total and count else str(count)


def _holding(claims: Sequence[Mapping[str, Any]], kind: str) -> str:
    own = [claim["verdict"] for claim in claims if claim["kind"] == kind]
    return f"{own.count(HOLDS)} of {len(own)}"


def with_table(text: str, shown: str) -> str:
    """Return a Markdown text with the table between its marks."""
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n{shown}\n{END}{after}"


def pages(project: Path) -> dict[Path, str]:
    """Return the text of every file that shows recorded results, from `results.json`."""
    root, folder = project / "papers", project / "docs" / "reproduction"
    found = records(root)
    texts = {
        folder / f"{name}.md": page.text(record, load_claims(root / name / "claims.toml"), root)
        for name, record in {**found, **comparisons(root)}.items()
    }
    for file, prefix in (
        (project / "README.md", "docs/reproduction/"),
        (folder / "README.md", ""),
    ):
        texts[file] = with_table(file.read_text(encoding="utf-8"), table(found, prefix))
    return texts


def update(project: Path) -> None:
    """Write every file that shows recorded results. Raises `OSError`."""
    for file, text in pages(project).items():
        replace_text(file, text)
