"""Hosts of the laboratory: network namespaces around a switch, which is a bridge.

Everything that is made here has a name that begins with `PREFIX`, or is in a namespace with such a
name and vanishes with it, as do its processes. So `down` finds all of it, also after `kill -9`.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from xoff.errors import RunError, UsageError

PREFIX = "xofflab"
STATE = Path("/run/xoff/lab.json")
FILES = Path("/run/xoff/lab")
NETNS = Path("/run/netns")
# Time that a process has to end in order.
PATIENCE_S = 5.0


@dataclass(frozen=True)
class Setup:
    """A switch with hosts. `bottleneck_bps` limits what the switch sends to the receiver."""

    senders: int
    bottleneck_bps: int
    buffer_bytes: int

    @property
    def receiver(self) -> int:
        """Number of the receiver."""
        return 0

    @property
    def allocator(self) -> int:
        """Number of the host with the allocator."""
        return self.senders + 1

    @property
    def hosts(self) -> range:
        """All hosts: the receiver, the senders, the allocator's."""
        return range(self.senders + 2)


SETUPS = {"8to1": Setup(senders=8, bottleneck_bps=1_000_000_000, buffer_bytes=250_000)}
"""What can be built."""


def namespace(host: int | str) -> str:
    """Return the name of a host's namespace."""
    return f"{PREFIX}-{host}"


def address(host: int) -> str:
    """Return the address of a host."""
    return f"10.213.0.{host + 1}"


def inside(host: int | str, command: Sequence[str]) -> list[str]:
    """Return the command that runs another one on a host."""
    # `ip netns exec` would hide the eBPF file system.
    return ["nsenter", f"--net={NETNS / namespace(host)}", *command]


def unavailable() -> str | None:
    """Return why this machine cannot have a laboratory; None if it can."""
    if sys.platform != "linux":
        return "a laboratory needs Linux"
    if os.geteuid() != 0:
        return "a laboratory needs root"
    missing = [tool for tool in ("ip", "tc", "nsenter") if shutil.which(tool) is None]
    return (
        f"`{'`, `'.join(missing)}` not found: install iproute2 and util-linux" if missing else None
    )


def existing() -> list[str]:
    """Return the laboratory's namespaces."""
    if not NETNS.is_dir():
        return []
    return sorted(entry.name for entry in NETNS.iterdir() if entry.name.startswith(f"{PREFIX}-"))


def current() -> Setup:
    """Return the set-up that is up. Raises `UsageError` if none is."""
    try:
        return SETUPS[json.loads(STATE.read_text())["setup"]]
    except (OSError, ValueError, KeyError) as error:
        raise UsageError("no laboratory is up: `xoff lab up 8to1` builds one") from error


def up(name: str) -> Setup:
    """Build a set-up. Raises `UsageError` if it cannot be, `RunError` if that fails."""
    reason = unavailable()
    if reason:
        raise UsageError(reason)
    if STATE.exists() or existing():
        raise UsageError("a laboratory is up or was left behind: `xoff lab down` removes it")
    setup = SETUPS[name]
    FILES.mkdir(parents=True, exist_ok=True)
    STATE.write_text(json.dumps({"setup": name}))
    try:
        _build(setup)
    except BaseException:
        down()
        raise
    return setup


def _build(setup: Setup) -> None:
    switch = namespace("switch")
    _ip(f"netns add {switch}")
    _ip("link add name br0 type bridge", "link set br0 up", where=switch)
    for host in setup.hosts:
        own = namespace(host)
        _ip(f"netns add {own}")
        _ip(f"link add eth0 netns {own} type veth peer name p{host} netns {switch}")
        _ip(
            f"addr add {address(host)}/24 dev eth0",
            "link set eth0 up",
            "link set lo up",
            where=own,
        )
        _ip(f"link set p{host} master br0", f"link set p{host} up", where=switch)
    # The bucket holds a few frames, so that the qdisc takes large segments apart and drops frames.
    shaping = f"rate {setup.bottleneck_bps}bit burst 8kb limit {setup.buffer_bytes}"
    port = f"p{setup.receiver}"
    call(["tc", "-n", switch, "qdisc", "add", "dev", port, "root", "tbf", *shaping.split()])


def _ip(*commands: str, where: str | None = None) -> None:
    command = ["ip", *(["-n", where] if where else []), "-batch", "-"]
    call(command, "\n".join(commands) + "\n")


def call(command: Sequence[str], text: str = "") -> str:
    """Run a command with `text` as its input; return its output. Raises `RunError`."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RunError(f"`{' '.join(command)}` failed: {done.stderr.strip() or done.stdout}")
    return done.stdout


def processes() -> list[int]:
    """Return the processes on the laboratory's hosts."""
    found: list[int] = []
    for name in existing():
        with suppress(RunError):
            found += map(int, call(["ip", "netns", "pids", name]).split())
    return sorted(set(found) - {os.getpid()})


def end_processes() -> None:
    """End all processes on the laboratory's hosts, in order if they can."""
    for kind in (signal.SIGTERM, signal.SIGKILL):
        for process in processes():
            with suppress(ProcessLookupError):
                os.kill(process, kind)
        deadline = time.monotonic() + PATIENCE_S
        while processes() and time.monotonic() < deadline:
            time.sleep(0.02)


def down() -> None:
    """Remove everything of the laboratory that there is, also what was left by `kill -9`."""
    from xoff.lab import deploy

    end_processes()
    if existing():
        deploy.clean_up()
    for name in existing():
        call(["ip", "netns", "del", name])
    shutil.rmtree(FILES, ignore_errors=True)
    STATE.unlink(missing_ok=True)
