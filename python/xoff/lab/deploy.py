"""The allocator and the agents on the hosts of the laboratory."""

from __future__ import annotations

import json
import os
import secrets
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xoff import engine
from xoff.errors import RunError
from xoff.lab import network
from xoff.lab.network import FILES, Setup, address, inside

XOFF = [sys.executable, "-m", "xoff"]
CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
# Ports of the control messages.
ALLOCATOR_PORT = 4300
AGENT_PORT = 4301
# Ports of the relay, to which a host's number is added.
OUTER_PORTS, INNER_PORTS = 4400, 4500
RELAY = Path(__file__).with_name("relay.py")
# Counters of agents that are added up.
SUMMED = (
    "started",
    "rates",
    "fall_backs",
    "sent_datagrams",
    "sent_bytes",
    "received_datagrams",
    "received_bytes",
    "reactions",
)
START_S = 20.0
# So that other work of the machine does not disturb: niceness only counts within a session.
# Daemons come before transfers.
PRIORITY = ["chrt", "--fifo", "10"]
TRANSFER_PRIORITY = ["chrt", "--fifo", "5"]


def control(host: int) -> str:
    """Return the name of a host's congestion control with allocated rates."""
    return f"xoff_ft_lab{host}"


@dataclass
class Daemon:
    """A process on a host and its log."""

    host: int
    process: subprocess.Popen[bytes]
    log: Path

    def lines(self, event: str) -> list[dict[str, Any]]:
        """Return the log's lines about an event."""
        found = []
        for line in self.log.read_text().splitlines():
            with suppress(ValueError):
                parsed = json.loads(line)
                if parsed.get("event") == event:
                    found.append(parsed)
        return found

    def end(self, kind: int = signal.SIGTERM) -> int:
        """Send a signal, wait for the end, return the exit code."""
        with suppress(ProcessLookupError):
            self.process.send_signal(kind)
        return self.process.wait()


@dataclass(frozen=True)
class Faults:
    """Shares of control messages that are lost, and that are late."""

    loss: float
    reordered: float
    seed: int = 1


@dataclass
class Flowtune:
    """An allocator, and an agent on each sender."""

    setup: Setup
    trace: bool = False
    faults: Faults | None = None
    gamma: float | None = None
    allocator: Daemon | None = None
    agents: dict[int, Daemon] = field(default_factory=dict)
    relay: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start everything; return when all agents have rates in force. Raises `RunError`."""
        self.write()
        self.start_allocator()
        if self.faults:
            self.start_relay(self.faults)
        for host in senders(self.setup):
            self.start_agent(host)
        for host in senders(self.setup):
            self.wait_for(host)

    def write(self) -> None:
        """Write keys and configuration files."""
        hosts = [*senders(self.setup), self.setup.receiver]
        for host in hosts:
            _write_secret(FILES / f"{host}.key", secrets.token_hex(32))
        lines = [
            f'listen = "{address(self.setup.allocator)}:{ALLOCATOR_PORT}"',
            'iteration = "1ms"',
            'user = "daemon"',
            *([] if self.gamma is None else [f"gamma = {self.gamma}"]),
            "[network]",
            'kind = "big-switch"',
            f'rate = "{self.setup.bottleneck_bps}bps"',
        ]
        for host in hosts:
            lines += ["[[endpoint]]", f"id = {host}", f'key = "{host}.key"']
            lines += [f'address = "{self._agent_at(host)}"']
        (FILES / "allocator.toml").write_text("\n".join(lines) + "\n")
        for host in senders(self.setup):
            (FILES / f"agent{host}.toml").write_text(self.agent_text(host))

    def agent_text(self, host: int) -> str:
        """Return the configuration of an agent."""
        to = OUTER_PORTS + host if self.faults else ALLOCATOR_PORT
        others = [each for each in senders(self.setup) if each != host]
        lines = [
            f"endpoint = {host}",
            f'key = "{host}.key"',
            f'listen = "{address(host)}:{AGENT_PORT}"',
            f'allocators = ["{address(self.setup.allocator)}:{to}"]',
            f'congestion_control = "{control(host)}"',
            f"trace = {str(self.trace).lower()}",
            "[endpoints]",
            *(f'"{address(each)}" = {each}' for each in [self.setup.receiver, *others]),
        ]
        return "\n".join(lines) + "\n"

    def _agent_at(self, host: int) -> str:
        """Return where the allocator finds an agent: behind the relay, if there is one."""
        if self.faults and host != self.setup.receiver:
            return f"{address(self.setup.allocator)}:{INNER_PORTS + host}"
        return f"{address(host)}:{AGENT_PORT}"

    def start_relay(self, faults: Faults) -> None:
        """Start what loses and reorders control messages. Raises `RunError`."""
        routes = []
        for host in senders(self.setup):
            ports = AGENT_PORT, OUTER_PORTS + host, INNER_PORTS + host, ALLOCATOR_PORT
            routes.append(":".join([address(host), *map(str, ports)]))
        own = address(self.setup.allocator)
        shares = [str(faults.loss), str(faults.reordered), str(faults.seed)]
        command = [*PRIORITY, sys.executable, "-I", str(RELAY), own, *shares, *routes]
        where = inside(self.setup.allocator, command)
        self.relay = subprocess.Popen(where, stdout=subprocess.PIPE, text=True)
        assert self.relay.stdout is not None
        if self.relay.stdout.readline() != "relaying\n":
            raise RunError("the relay did not start")

    def start_allocator(self) -> None:
        """Start the allocator."""
        self.allocator = run(self.setup.allocator, ["allocator", "allocator.toml"])

    def start_agent(self, host: int) -> None:
        """Start an agent."""
        self.agents[host] = run(host, ["agent", f"agent{host}.toml"])

    def wait_for(self, host: int) -> None:
        """Wait until an agent is ready and has found the allocator. Raises `RunError`."""
        agent = self.agents[host]
        deadline = time.monotonic() + START_S
        while not (agent.lines("ready") and agent.lines("allocator")):
            daemons = [agent, *([self.allocator] if self.allocator else [])]
            for daemon in daemons:
                if daemon.process.poll() is not None or time.monotonic() > deadline:
                    said = daemon.log.read_text().strip()
                    raise RunError(f"host {daemon.host} did not start: {said}")
            time.sleep(0.02)

    def stop(self) -> None:
        """End everything in order. Raises `RunError` if an agent fails to restore its host."""
        codes = {host: agent.end() for host, agent in self.agents.items()}
        if self.allocator:
            self.allocator.end()
        if self.relay:
            self.relay.terminate()
            self.relay.wait()
        wrong = [host for host, code in codes.items() if code != 0]
        if wrong:
            raise RunError(f"agents of hosts {wrong} failed: see their logs in {FILES}")

    def counters(self) -> dict[str, object]:
        """Return the last counters of all agents: sums, and the medians of reaction times."""
        last = [lines[-1] for agent in self.agents.values() if (lines := agent.lines("counters"))]
        sums = {key: sum(int(each[key]) for each in last) for key in SUMMED}
        reactions = ("reaction_p50_us", "reaction_p99_us")
        medians = {key: statistics.median(float(each[key]) for each in last) for key in reactions}
        return {**sums, **medians} if last else {}


def senders(setup: Setup) -> range:
    """Return the senders' hosts."""
    return range(1, setup.senders + 1)


def run(host: int, arguments: Sequence[str]) -> Daemon:
    """Start a subcommand of xoff on a host."""
    log = FILES / f"{arguments[0]}{host}.log"
    with log.open("wb") as output:
        command = inside(host, [*PRIORITY, *XOFF, *arguments])
        process = subprocess.Popen(command, cwd=FILES, stdout=output, stderr=output)
    return Daemon(host, process, log)


def _write_secret(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


def clean_up() -> None:
    """Undo what killed agents left."""
    engine.clean_up_agents()


def remains() -> list[str]:
    """Return what agents of the laboratory have left on the machine."""
    known = CONTROLS.read_text().split()
    controls = [name for name in known if name.startswith("xoff_ft_lab")]
    for name in network.existing():
        command = ["nsenter", f"--net={network.NETNS / name}", "cat"]
        value = network.call([*command, "/proc/sys/net/ipv4/tcp_congestion_control"]).strip()
        if value.startswith("xoff_ft_lab"):
            controls.append(f"{value}, the default in {name}")
    return controls
