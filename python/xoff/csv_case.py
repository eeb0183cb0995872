"""Cases of a reference simulator as CSV files: what was offered, its answer, its parameters.

A folder holds `flows.csv` (src, dst, size_bytes, start_ps), `fct.csv` (the same rows with fct_ps:
from the start to the arrival at the sender of the acknowledgement of the last byte) and
`params.json` (the simulator, its transport, and the parameters of hosts and network).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from xoff.csv_forms import Parameters, Settings, settings_of
from xoff.errors import RunError

FLOWS, ANSWER, PARAMETERS = "flows.csv", "fct.csv", "params.json"

PATHS = "paths.csv"
"""Columns src, dst, start_ps, data_spine, ack_spine; optional."""

COLUMNS = ("src", "dst", "size_bytes", "start_ps")


class Flow(NamedTuple):
    """A row of `flows.csv`."""

    src: int
    dst: int
    size_bytes: int
    start_ps: int


class CsvCase(NamedTuple):
    """A case as it was read."""

    simulator: str
    transport: str
    parameters: dict[str, Any]
    flows: list[Flow]
    fct_ps: list[int]
    """The reference's completion time of each flow."""
    seeds: list[list[int]]
    """The same with its other seeds, from `fct_seedN.csv`; empty if nothing is random."""


def is_case(folder: Path) -> bool:
    """True if the folder has the three files."""
    return all((folder / name).is_file() for name in (FLOWS, ANSWER, PARAMETERS))


def read(folder: Path) -> CsvCase:
    """Read a case.

    Raises `RunError` with the file, and the line of a table, that is wrong.
    """
    parameters = _parameters(folder / PARAMETERS)
    flows = [Flow._make(row) for row in _rows(folder / FLOWS, COLUMNS)]
    answer = _answer(folder / ANSWER, flows)
    seeds = [_answer(file, flows) for file in sorted(folder.glob("fct_seed*.csv"))]
    simulator, transport = (_text(folder, parameters, key) for key in ("simulator", "transport"))
    return CsvCase(simulator, transport, parameters, flows, answer, seeds)


def _parameters(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"cannot read {file}: {error}") from None
    if not isinstance(found, dict):
        raise RunError(f"{file}: expected an object of parameters, found {type(found).__name__}")
    return found


def _text(folder: Path, parameters: dict[str, Any], key: str) -> str:
    found = parameters.get(key)
    if not isinstance(found, str):
        raise RunError(f"{folder / PARAMETERS}: {key} is missing, or not a text")
    return found


def _rows(file: Path, columns: Iterable[str], least: int = 0) -> list[list[int]]:
    """Read the named columns of a table of whole numbers, none below `least`."""
    try:
        lines = list(csv.reader(file.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RunError(f"cannot read {file}: {error}") from None
    header = lines[0] if lines else []
    missing = [column for column in columns if column not in header]
    if missing:
        raise RunError(f"{file}:1: no column {', '.join(missing)} in {','.join(header)!r}")
    places = [header.index(column) for column in columns]
    rows = []
    for number, line in enumerate(lines[1:], 2):
        try:
            values = [int(line[place]) for place in places]
        except (ValueError, IndexError):
            raise RunError(f"{file}:{number}: expected {','.join(columns)}: {line!r}") from None
        if min(values) < least or max(values) >= 2**63:
            raise RunError(f"{file}:{number}: a number is too small or too large: {line!r}")
        rows.append(values)
    return rows


def _answer(file: Path, flows: list[Flow]) -> list[int]:
    rows = _rows(file, (*COLUMNS, "fct_ps"))
    if len(rows) != len(flows):
        raise RunError(f"{file} has {len(rows)} flows, {FLOWS} has {len(flows)}")
    for number, (row, flow) in enumerate(zip(rows, flows, strict=True), 2):
        if tuple(row[:4]) != flow or row[4] == 0:
            raise RunError(f"{file}:{number}: not the flow of this line of {FLOWS}, or no time")
    return [row[4] for row in rows]


def _paths(file: Path, flows: list[Flow], shape: Parameters) -> list[tuple[int, int]]:
    """Read the spines of data and acknowledgements of each flow; 0 for those within a leaf."""
    per_leaf, spines = max(1, shape.number("hosts_per_leaf")), shape.number("spines")
    columns = ("src", "dst", "start_ps", "data_spine", "ack_spine")
    rows = _rows(file, columns, least=-1)
    if len(rows) != len(flows):
        raise RunError(f"{file} has {len(rows)} flows, {FLOWS} has {len(flows)}")
    for number, (row, flow) in enumerate(zip(rows, flows, strict=True), 2):
        if (row[0], row[1], row[2]) != (flow.src, flow.dst, flow.start_ps):
            raise RunError(f"{file}:{number}: not the flow of this line of {FLOWS}")
        within = flow.src // per_leaf == flow.dst // per_leaf
        if not all(spine == -1 if within else 0 <= spine < spines for spine in row[3:]):
            expected = "-1, within a leaf" if within else f"spines from 0 to {spines - 1}"
            raise RunError(f"{file}:{number}: expected {expected}: {row[3]},{row[4]}")
    return [(max(0, row[3]), max(0, row[4])) for row in rows]


def scenario(case: CsvCase, folder: Path, flows_file: Path) -> str:
    """Return the scenario equal to a case, as TOML.

    Writes the flows, sorted by their start, to `flows_file`. Raises `RunError` for a simulator or
    transport that no preset stands for, or a parameter that is missing or wrong.
    """
    parameters = Parameters(case.parameters, folder / PARAMETERS)
    found = settings_of(case.simulator, case.transport, parameters)
    given = folder / PATHS
    paths = _paths(given, case.flows, parameters) if given.is_file() else None
    if paths is not None:
        found["switch.balance"] = '"given"'
    with flows_file.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(COLUMNS if paths is None else (*COLUMNS, "data_path", "ack_path"))
        for row in rows_by_flow(case):
            rows.writerow((*case.flows[row], *(paths[row] if paths else ())))
    sections: dict[str, list[str]] = {}
    for key, value in (found | _times(case)).items():
        section, _, name = key.rpartition(".")
        sections.setdefault(section, []).append(f"{name} = {value}")
    parts = ["\n".join(sections.pop(""))]
    parts += [f"[{section}]\n" + "\n".join(lines) for section, lines in sections.items()]
    parts.append(f'[[traffic]]\nkind = "list"\nfile = {json.dumps(str(flows_file.resolve()))}')
    return "\n".join(parts) + "\n"


def rows_by_flow(case: CsvCase) -> list[int]:
    """Return the row of `flows.csv` of each flow of the run: flows are numbered by start."""
    return sorted(range(len(case.flows)), key=lambda row: case.flows[row].start_ps)


GRID_PS = 10_000_000

LONGEST_PS = 200_000_000_000_000
"""Simulated time after the last start within which all flows must have finished: 200 s."""


def _times(case: CsvCase) -> Settings:
    last = max((flow.start_ps for flow in case.flows), default=0)
    return {
        "run.warmup": '"0ps"',
        "run.measure": f'"{(last // GRID_PS + 1) * GRID_PS}ps"',
        "run.drain": f'"{LONGEST_PS}ps"',
        "run.watchdog": f'"{LONGEST_PS}ps"',
    }
