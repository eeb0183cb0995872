"""Cases of a reference simulator as CSV files: what was offered, its answer, its parameters.

A folder holds `flows.csv` (src, dst, size_bytes, start_ps), `fct.csv` (the same rows with fct_ps:
from the start to the arrival at the sender of the acknowledgement of the last byte) and
`params.json` (the simulator, its transport, and the parameters of hosts and network).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from xoff.errors import RunError

FLOWS, ANSWER, PARAMETERS = "flows.csv", "fct.csv", "params.json"

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
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise RunError(f"cannot read {file}: {error}") from None
    if not isinstance(found, dict):
        raise RunError(f"{file}: expected an object of parameters, found {type(found).__name__}")
    return found


def _text(folder: Path, parameters: dict[str, Any], key: str) -> str:
    found = parameters.get(key)
    if not isinstance(found, str):
        raise RunError(f"{folder / PARAMETERS}: {key} is missing, or not a text")
    return found


def _rows(file: Path, columns: Iterable[str]) -> list[list[int]]:
    """Read the named columns of a table of whole numbers."""
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
        if min(values) < 0 or max(values) >= 2**63:
            raise RunError(f"{file}:{number}: a number is negative or too large: {line!r}")
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


Settings = dict[str, str]
"""Settings by key, such as `star.hosts`, as TOML values."""


def scenario(case: CsvCase, folder: Path, flows_file: Path) -> str:
    """Return the scenario equal to a case, as TOML.

    Writes the flows, sorted by their start, to `flows_file`. Raises `RunError` for a simulator or
    transport that no preset stands for, or a parameter that is missing or wrong.
    """
    found = _of(case, folder)
    order = sorted(range(len(case.flows)), key=lambda row: case.flows[row].start_ps)
    with flows_file.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(COLUMNS)
        rows.writerows(case.flows[row] for row in order)
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


class _Parameters:
    """Numbers of a case's parameters."""

    def __init__(self, found: dict[str, Any], file: Path) -> None:
        self.found, self.file = found, file

    def number(self, *names: str) -> int:
        """Return the first of these parameters that is present, a whole number."""
        for name in names:
            value = self.found.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63:
                return value
            if value is not None:
                raise RunError(f"{self.file}: {name} must be a whole number, found {value!r}")
        raise RunError(f"{self.file}: {' or '.join(names)} is missing")


def _of(case: CsvCase, folder: Path) -> Settings:
    found = _Parameters(case.parameters, folder / PARAMETERS)
    for simulator, transports in FORMS.items():
        if simulator in case.simulator:
            if case.transport in transports:
                preset, settings = transports[case.transport]
                return {"scheme": json.dumps(preset)} | settings(found)
            known = ", ".join(transports)
            raise RunError(
                f"{found.file}: transport {case.transport!r} of {simulator} has no preset: known "
                f"are {known}"
            )
    raise RunError(
        f"{found.file}: simulator {case.simulator!r} is not known: known are {', '.join(FORMS)}"
    )


def _star(found: _Parameters, header: int) -> Settings:
    """Hosts around one switch; the receiver, host 0, may have a slower link."""
    payload = found.number("mss_bytes", "payload_bytes")
    ack = found.number("wire_bytes_pure_ack")
    return {
        "network.topology": '"star"',
        "star.hosts": str(found.number("hosts")),
        "star.rate": f'"{found.number("host_link_bps")}bps"',
        "star.first_rate": f'"{found.number("receiver_link_bps")}bps"',
        "star.delay": f'"{found.number("link_delay_ps")}ps"',
        "frame.payload": f'"{payload}B"',
        "frame.header": f'"{header}B"',
        "frame.ack": f'"{ack}B"',
        "tcp.min_rto": f'"{found.number("min_rto_ps")}ps"',
    }


SYN_BYTES = 52
"""A SYN of ns-3 on the wire: an acknowledgement with 10 B of options (window scale, SACK)."""


def _ns3(found: _Parameters) -> Settings:
    """ns-3: a device's queue counts packets, without the one in service."""
    header = found.number("header_bytes_data")
    full = header + found.number("mss_bytes")
    marks = found.found.get("ecn_threshold_pkts") is not None
    waiting = found.number("switch_queue_pkts") + marks
    serialisation = 2 * SYN_BYTES * 8 * 10**12
    links = ("host_link_bps", "receiver_link_bps")
    handshake = 4 * found.number("link_delay_ps")
    handshake += sum(serialisation // max(1, found.number(link)) for link in links)
    settings = _star(found, header) | {
        "buffer.size": f'"{waiting * full}B"',
        "tcp.initial_window_packets": str(found.number("initial_cwnd_segments")),
        "tcp.initial_rto": f'"{found.number("min_rto_ps")}ps"',
        "tcp.handshake_rtt": f'"{handshake}ps"',
    }
    if marks:
        # One packet waits in the device's queue, below the discipline that marks.
        threshold = f'"{(found.number("ecn_threshold_pkts") + 1) * full}B"'
        settings |= {"ecn.kmin": threshold, "ecn.kmax": threshold}
    return settings


def _ns3_cubic(found: _Parameters) -> Settings:
    hystart = found.found.get("hystart") is not False
    return _ns3(found) | {"ns3_cubic.hystart": str(hystart).lower()}


FORMS: dict[str, dict[str, tuple[str, Callable[[_Parameters], Settings]]]] = {
    "ns-3": {
        "TcpNewReno": ("ns3-newreno", _ns3),
        "TcpCubic": ("ns3-cubic", _ns3_cubic),
        "TcpDctcp": ("ns3-dctcp", _ns3),
    },
}
"""The preset and the settings of each transport, by simulator."""
