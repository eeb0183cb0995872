"""Schemes that the laboratory compares, and what the kernel calls them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence

from xoff.errors import UsageError

BASELINES = {"Cubic": "cubic", "BBR": "bbr"}
"""Schemes without an allocator, and their congestion controls."""

SCHEMES = ("Flowtune", *BASELINES)


def available(asked: Sequence[str] | None, report: Callable[[str], None]) -> list[str]:
    """Return the schemes to run: those asked for, or all that the kernel has.

    Says which are left out. Raises `UsageError` if the kernel has not what was asked for.
    """
    missing = [scheme for scheme in asked or SCHEMES if not _has(BASELINES.get(scheme))]
    for scheme in missing:
        name = BASELINES[scheme]
        reason = f"{scheme}: this kernel has no congestion control `{name}`: `modprobe tcp_{name}`"
        if asked:
            raise UsageError(reason)
        report(f"left out {reason}")
    return [scheme for scheme in asked or SCHEMES if scheme not in missing]


def _has(control: str | None) -> bool:
    """Return whether a socket can have a congestion control; the kernel loads its module."""
    if control is None:
        return True
    with socket.socket() as tried:
        try:
            tried.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        except FileNotFoundError:
            return False
    return True


def controls(schemes: Sequence[str]) -> dict[str, str]:
    """Return the congestion control of each scheme; `default` is the one of the host's agent."""
    return {scheme: BASELINES.get(scheme, "default") for scheme in schemes}
