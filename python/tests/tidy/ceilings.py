"""Counts that may only fall, in `ceilings.toml`.

A count above its ceiling fails, and so does one below it, until the ceiling is lowered:
`XOFF_LOWER_CEILINGS=1 pytest python/tests/test_tidy.py` lowers all of them and raises none.
"""

import json
import os
from pathlib import Path

from xoff.strict import tomllib

FILE = Path(__file__).with_suffix(".toml")
HEADER = "# Counts that may only fall; see ceilings.py. A count of 0 needs no line.\n"


def hold(table: str, found: dict[str, int]) -> None:
    """Fail unless each count of a table is at its ceiling."""
    ceilings = tomllib.loads(FILE.read_text(encoding="utf-8"))
    if os.environ.get("XOFF_LOWER_CEILINGS"):
        ceilings = lowered(ceilings, table, found)
        FILE.write_text(written(ceilings), encoding="utf-8")
    problems = compare(ceilings[table], found)
    assert not problems, f"[{table}] of {FILE.name}:\n" + "\n".join(problems)


def compare(ceilings: dict[str, int], found: dict[str, int]) -> list[str]:
    """Return a line for each count that is not at its ceiling."""
    problems = []
    for name in sorted(ceilings.keys() | found.keys()):
        count, ceiling = found.get(name, 0), ceilings.get(name, 0)
        if count > ceiling:
            problems.append(f"{name}: {count}, but at most {ceiling} are allowed")
        elif count < ceiling:
            problems.append(f"{name}: lower the ceiling from {ceiling} to {count}")
    return problems


def lowered(
    ceilings: dict[str, dict[str, int]], table: str, found: dict[str, int]
) -> dict[str, dict[str, int]]:
    """Return the ceilings with those of a table lowered to the counts."""
    lower = {name: min(ceiling, found.get(name, 0)) for name, ceiling in ceilings[table].items()}
    return {**ceilings, table: {name: count for name, count in lower.items() if count > 0}}


def written(ceilings: dict[str, dict[str, int]]) -> str:
    """Return the ceilings as TOML."""
    text = HEADER
    for table, entries in ceilings.items():
        text += f"\n[{table}]\n"
        text += "".join(
            f"{json.dumps(name)} = {count}\n" for name, count in sorted(entries.items())
        )
    return text
