"""Senders' shares of a link, and pause times of links, from the ports of a run."""

from __future__ import annotations

from collections.abc import Sequence

from xoff.result import Result

# A host that sends less than this share of its link rate is not counted as a sender.
IDLE_SHARE = 0.001


def sent_bps(result: Result, first: int = 0, last: int | None = None) -> list[float]:
    """Return the rates of hosts `first` to `last` over the measured time, in bit/s on the wire.

    Hosts that sent less than `IDLE_SHARE` are left out.
    """
    seconds = result.summary["measured_ps"] * 1e-12
    found = []
    for row in result.ports.select(["node", "link", "rate_bps", "tx_bytes"]).to_pylist():
        sent = row["tx_bytes"] * 8 / seconds
        chosen = row["node"] >= first and (last is None or row["node"] <= last)
        if row["link"].startswith("host-") and chosen and sent > IDLE_SHARE * row["rate_bps"]:
            found.append(sent)
    return found


def jain(shares: Sequence[float]) -> float | None:
    """Return Jain's fairness index: 1 if all shares are equal, 1/n if one sender has all."""
    if not shares:
        return None
    return sum(shares) ** 2 / (len(shares) * sum(share**2 for share in shares))


def paused_share(result: Result, link: str) -> float | None:
    """Return the mean share of the measured time in which ports had a paused queue.

    `link` is a kind of link such as `leaf-spine`. All causes of pauses count. None without such
    links.
    """
    table = result.ports.select(["link", "paused_ps"]).to_pylist()
    found = [row["paused_ps"] for row in table if row["link"] == link]
    return sum(found) / len(found) / result.summary["measured_ps"] if found else None


def read(result: Result, what: str) -> float | None:
    """Read `jain` (of all senders), or the total rate of hosts `FIRST[-LAST]` in bit/s."""
    if what == "jain":
        return jain(sent_bps(result))
    first, _, last = what.partition("-")
    return sum(sent_bps(result, int(first), int(last or first)))
