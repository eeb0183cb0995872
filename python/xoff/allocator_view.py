"""`xoff allocator --view`: a running allocator as text, from its metrics."""

from __future__ import annotations

import http.client
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from xoff.errors import RunError, UsageError
from xoff.strict import read_toml
from xoff.terminal import escaped_line, write
from xoff.text import fixed, table

Metrics = dict[str, float]

PREFIX = "xoff_allocator_"
SAMPLE = re.compile(r'^([a-z_]+)(?:\{\w+="((?:[^"\\]|\\.)*)"\})? (\S+)$')
LONGEST = 1 << 20
CLEAR = "\x1b[H\x1b[2J"

# What is shown per second, with the metric's name.
FLOWS = (
    ("starts", "starts_total"),
    ("ends", "ends_total"),
    ("reports", "reports_total"),
    ("datagrams received", "received_datagrams_total"),
    ("datagrams sent", "sent_datagrams_total"),
    ("rates sent", "rates_total"),
    ("resends", "resends_total"),
    ("iterations", "iterations_total"),
    ("late iterations", "late_iterations_total"),
)


@dataclass
class Look:
    """Metrics at a time; those with a label by metric and label."""

    at: float
    plain: Metrics = field(default_factory=dict)
    labelled: dict[str, Metrics] = field(default_factory=dict)


def metrics_address(config: str) -> tuple[str, int]:
    """Return the host and port of a configuration's metrics."""
    address = read_toml(Path(config)).get("metrics")
    host, _, port = str(address).rpartition(":")
    if not host or not port.isdecimal():
        raise UsageError(f'{config}: `--view` needs an address, metrics = "127.0.0.1:9430"')
    return host.strip("[]"), int(port)


def parse(text: str, at: float) -> Look:
    """Read metrics in Prometheus' text format."""
    look = Look(at)
    for line in text.splitlines():
        found = SAMPLE.match(line)
        if found and found[1].startswith(PREFIX):
            name, value = found[1].removeprefix(PREFIX), float(found[3])
            if found[2] is None:
                look.plain[name] = value
            else:
                look.labelled.setdefault(name, {})[found[2]] = value
    return look


def fetch(host: str, port: int) -> Look:
    """Ask an allocator for its metrics. Raises `RunError` if it does not answer."""
    try:
        connection = http.client.HTTPConnection(host, port, timeout=2)
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        text = answer.read(LONGEST).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        raise RunError(f"no allocator answers at {host}:{port}: {error}") from None
    if answer.status != http.client.OK:
        raise RunError(f"{host}:{port} answers {answer.status} {answer.reason}")
    return parse(text, time.monotonic())


def render(now: Look, before: Look) -> str:
    """Return the text for a look and an earlier one."""
    elapsed = max(now.at - before.at, 1e-9)

    def per_second(name: str) -> float:
        return (now.plain.get(name, 0) - before.plain.get(name, 0)) / elapsed

    role = "stands by" if now.plain.get("stands_by") else "allocates"
    longest = now.plain.get("longest_iteration_seconds", 0) * 1e6
    lines = [
        f"{role}; {now.plain.get('connections', 0):,.0f} of "
        f"{now.plain.get('endpoints', 0):,.0f} endpoints connected, "
        f"{now.plain.get('flowlets', 0):,.0f} flowlets",
        f"processor {per_second('cpu_seconds_total'):.1%}; longest iteration {longest:,.0f} us",
        "",
        table(("per second", ""), [[name, f"{per_second(metric):,.0f}"] for name, metric in FLOWS]),
    ]
    refused = now.labelled.get("refused_datagrams_total", {})
    if any(refused.values()):
        rows = [[escaped_line(reason), f"{n:,.0f}"] for reason, n in refused.items() if n]
        lines += ["", table(("refused since start", "datagrams"), rows)]
    links = now.labelled.get("link_demand_ratio", {})
    if links:
        rows = [[escaped_line(link), fixed(ratio, 3)] for link, ratio in links.items()]
        lines += ["", table(("busiest links", "demand/capacity"), rows)]
    return "\n".join(lines)


def show(config: str) -> None:
    """Show an allocator each second on a terminal until Ctrl-C; elsewhere once."""
    host, port = metrics_address(config)
    is_terminal = sys.stdout.isatty()
    before = fetch(host, port)
    while True:
        time.sleep(1)
        now = fetch(host, port)
        write(sys.stdout, (CLEAR if is_terminal else "") + render(now, before) + "\n")
        sys.stdout.flush()
        if not is_terminal:
            return
        before = now
