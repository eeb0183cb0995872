"""Scenarios made from traces: `xoff import`.

A trace is a set of Chakra files, a GOAL schedule in text or binary form, or a CSV file of flows.
The scenario says in comments what each part of the trace became.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from xoff import api
from xoff.errors import ScenarioError, UsageError
from xoff.source import Source
from xoff.terminal import escaped_line
from xoff.toml_text import value
from xoff.units import in_unit

GOAL_MAGIC = (4223, 2342)
"""First 64 bits of a binary GOAL schedule, before and after LogGOPSim has used it."""
DEPENDENT = "id,src,dst,size_bytes,after,delay_ps"
LIST = "src,dst,size_bytes,start_ps"
"""Headers of CSV files; the second one may have more columns."""

MOST_IN_STAR, RACK = 32, 16
"""Hosts of the largest star, and of a rack of larger networks."""
MOST_HOSTS = 65_536
"""Hosts of the largest network that is written."""
_HEAD = 1 << 20
"""Bytes of a file that are read to find the number of ranks."""
_IDLE_GROUPS = "the trace names none of its groups"
"""What the engine says of a file of groups without effect."""
_MESSAGE_US = 20.0
"""A round trip with room to spare, for the longest time that a message can add."""

GIVEN: dict[str, tuple[str, ...]] = {
    "chakra": ("groups",),
    "goal": (),
    "dependent": (),
    "list": ("dscp_map",),
}
"""Settings of each kind of traffic that a trace may need and does not have."""

FORMS = (
    "a Chakra trace (PREFIX.0.et, PREFIX.1.et, ...), a GOAL schedule (text or txt2bin), or a CSV "
    f"file with the header {DEPENDENT} or {LIST}"
)


@dataclass(frozen=True)
class Trace:
    """What a file was recognised as: a kind of traffic and its settings."""

    kind: str
    what: str
    hosts: int
    settings: dict[str, str]
    name: str
    measure_us: float = 1000.0


def scenario_of(
    file: Path, folder: Path, scheme: str = "dcqcn", given: Mapping[str, str] | None = None
) -> str:
    """Return the scenario of a trace as TOML, with paths relative to `folder`.

    `given` has settings that the trace does not: `groups` (a file) or `dscp_map`. Raises
    `UsageError` if the file is no trace or has no such setting, and `ScenarioError` if the engine
    refuses it.
    """
    trace = recognise(file)
    for key, text in (given or {}).items():
        if key not in GIVEN[trace.kind]:
            option = f"--{key.replace('_', '-')}"
            raise UsageError(f"{file}: {option} has no meaning for kind = {trace.kind!r}")
        trace.settings[key] = text
    if trace.hosts > MOST_HOSTS:
        raise UsageError(
            f"{file} needs {trace.hosts} hosts, for ranks 0 to {trace.hosts - 1}, but at most "
            f"{MOST_HOSTS} can be imported: number them from 0"
        )
    for key in ("file", "groups"):
        if key in trace.settings:
            trace.settings[key] = _relative(Path(trace.settings[key]), folder)
    where = str(folder / "imported.toml")
    derived = _checked(trace, scheme, where, found="groups" not in (given or {}))
    text = _text(trace, scheme, _comments(trace, derived), _longest_us(derived))
    api.check(Source(text, where))
    return text


def _checked(trace: Trace, scheme: str, where: str, *, found: bool) -> dict[str, str]:
    """Return what the engine derives from a trace.

    Groups that were `found` next to a trace, not given, are left out if it uses none of them.
    """
    try:
        return _derived(api.check(Source(_text(trace, scheme, [], 1.0), where)))
    except ScenarioError as error:
        if not (found and _IDLE_GROUPS in str(error)):
            raise
    del trace.settings["groups"]
    return _derived(api.check(Source(_text(trace, scheme, [], 1.0), where)))


def recognise(file: Path) -> Trace:
    """Find out what a file is, and how many hosts it needs.

    Raises `UsageError` if it is none of `FORMS`, or cannot be read.
    """
    prefix = re.sub(r"\.\d+\.et$", "", str(file))
    if prefix != str(file) or Path(f"{file}.0.et").exists():
        return _chakra(prefix)
    try:
        with file.open("rb") as opened:
            head = opened.read(_HEAD)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror or error}") from None
    for read in (_binary_goal, _text_goal, _csv):
        found = read(file, head)
        if found is not None:
            return found
    raise UsageError(f"{file} is none of the traces that can be imported: {FORMS}")


def _chakra(prefix: str) -> Trace:
    start = Path(prefix)
    numbers = sorted(
        int(found[1])
        for path in start.parent.glob(f"{_escaped(start.name)}.*.et")
        if (found := re.search(r"\.(\d+)\.et$", path.name))
    )
    if not numbers:
        raise UsageError(f"cannot read {prefix}.0.et: no such file")
    missing = next((at for at, number in enumerate(numbers) if at != number), None)
    if missing is not None:
        raise UsageError(f"{prefix}.{missing}.et is missing, but {prefix}.{numbers[-1]}.et exists")
    settings = {"file": prefix}
    for groups in (f"{prefix}.groups.json", f"{prefix}.json"):
        if "groups" not in settings and Path(groups).exists():
            settings["groups"] = groups
    what = f"a Chakra execution trace, {prefix}.0.et to {prefix}.{numbers[-1]}.et"
    return Trace("chakra", what, len(numbers), settings, start.name)


def _escaped(name: str) -> str:
    return re.sub(r"([\[\]*?])", r"[\1]", name)


def _binary_goal(file: Path, head: bytes) -> Trace | None:
    if len(head) < 12 or struct.unpack_from("<Q", head)[0] not in GOAL_MAGIC:
        return None
    ranks = struct.unpack_from("<I", head, 8)[0]
    return Trace("goal", f"a GOAL schedule, {file}", ranks, {"file": str(file)}, file.stem)


def _text_goal(file: Path, head: bytes) -> Trace | None:
    text = re.sub(rb"//[^\n]*|/\*.*?\*/", b" ", head, flags=re.DOTALL)
    found = re.match(rb"\s*num_ranks\s+(\d{1,9})\b", text)
    if found is None:
        return None
    what = f"a GOAL schedule, {file}"
    return Trace("goal", what, int(found[1]), {"file": str(file)}, file.stem)


def _csv(file: Path, head: bytes) -> Trace | None:
    header = (
        head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0].strip().decode("latin-1")
    )
    columns = header.split(",")
    if header != DEPENDENT and columns[:4] != LIST.split(","):
        return None
    what, settings = f"the flows of {file}", {"file": str(file)}
    largest = _largest(file, columns)
    hosts = 1 + max(largest["src"], largest["dst"])
    if header == DEPENDENT:
        return Trace("dependent", what, hosts, settings, file.stem)
    # Flows are measured if they begin in the measured time.
    last_us = largest["start_ps"] * 1e-6
    return Trace("list", what, hosts, settings, file.stem, measure_us=max(1000.0, last_us + 1))


def _largest(file: Path, columns: list[str]) -> dict[str, int]:
    """Return the largest number of each column, at least 0.

    The engine checks all rows, and places its errors.
    """
    largest = dict.fromkeys(columns, 0)
    with file.open(encoding="utf-8", errors="replace") as opened:
        next(opened)
        for row in opened:
            for column, text in zip(columns, row.split(","), strict=False):
                cell = text.strip()
                if cell.isascii() and cell.isdigit() and len(cell) < 19:
                    largest[column] = max(largest[column], int(cell))
    return largest


def _relative(file: Path, folder: Path) -> str:
    try:
        return file.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return file.resolve().as_posix()


def _text(trace: Trace, scheme: str, comments: list[str], longest_us: float) -> str:
    about = "\n".join(f"# {line}".rstrip() for line in comments)
    settings = "\n".join(f"{key} = {value(text)}" for key, text in trace.settings.items())
    return f"""\
{about}
name = {value(trace.name)}
scheme = {value(scheme)}

{_network(trace.hosts)}
[frame]
payload = "4096B"        # as RDMA networks have it

[run]
warmup = "0us"           # flows of a job are measured whenever they begin
measure = "{_rounded(trace.measure_us)}"
drain = "{_rounded(longest_us)}"           # at most; the run ends with the last flow

[[traffic]]
kind = {value(trace.kind)}
{settings}
"""


def _network(hosts: int) -> str:
    if hosts <= MOST_IN_STAR:
        return f"""\
[network]
topology = "star"
[star]
hosts = {max(2, hosts)}
"""
    return f"""\
[network]
topology = "leaf-spine"
[leaf_spine]
leaves = {-(-hosts // RACK)}
hosts_per_leaf = {RACK}
spines = {RACK}              # as much capacity above the leaves as below them
"""


def _rounded(least_us: float) -> str:
    """Return a time of at least this many microseconds: 1, 2 or 5 times a power of ten ms."""
    for zeros in range(7):
        for digit in (1, 2, 5):
            if digit * 10**zeros >= least_us * 1e-3:
                return f"{digit * 10**zeros}ms"
    return "10000s"


def _derived(effective: str) -> dict[str, str]:
    """Return the values that follow from the traffic, by name."""
    found = re.findall(r"^#   traffic\.0\.(\w+) = (.*)$", effective, re.MULTILINE)
    return dict(found)


def _longest_us(derived: dict[str, str]) -> float:
    """Return the microseconds of all operations one after another, messages at 10 Gb/s."""
    if "message_bytes" not in derived:
        return 100e3
    computing = in_unit(derived["computing"], "us")
    sending = in_unit(derived["message_bytes"], "B") / 1250.0
    return computing + sending + _MESSAGE_US * int(derived["messages"])


# What parts of a trace became, by the value that counts them; 0: there are none.
_BECAME = {
    "ranks": "{ranks} ranks: a host each, in the order of `placement`",
    "messages": "{messages} messages of {message_bytes} in all: flows",
    "computations": "{computations} computations of {computing} in all: waiting at their rank",
    "collectives": "{collectives} collective operations{by_kind}: flows of their algorithms",
    "operations_without_time": "{operations_without_time} nodes that do nothing: order only",
    "messages_without_bytes": "{messages_without_bytes} messages without bytes: flows of one byte",
}
_LEFT_OUT = {
    "chakra": "Left out: all attributes of nodes but those of messages and durations.",
    "goal": "Left out: the numbers of NICs, as a host has one.",
    "dependent": "Nothing is left out.",
    "list": "Nothing is left out: each row is a flow that begins at its time.",
}


def _comments(trace: Trace, derived: dict[str, str]) -> list[str]:
    by_kind = derived.get("collectives_by_kind", '""').strip('"')
    values = {**derived, "by_kind": f" ({by_kind})" if by_kind else ""}
    parts = [text for key, text in _BECAME.items() if derived.get(key, "0") != "0"]
    return [
        # A name may have line breaks, which would end the comment.
        f"Imported from {escaped_line(trace.what)}.",
        *[f"  {text.format(**values)}" for text in parts],
        _LEFT_OUT[trace.kind],
    ]
