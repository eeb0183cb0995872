"""Prints when control messages with news arrive at the allocator's host, and when they leave.

This file is run by itself on that host, so it imports nothing of xoff:

    tap.py PORT

PORT is the allocator's. A line is a time (ns of `CLOCK_MONOTONIC`), `report` or `rates`, and the
endpoint. Messages without starts, ends and rates, such as acknowledgements, are left out.
"""

from __future__ import annotations

import socket
import struct
import sys
import time

ETH_P_ALL, ETH_P_IP, UDP = 0x0003, 0x0800, 17
SO_TIMESTAMPNS = 35
ETHERNET_BYTES, UDP_BYTES = 14, 8
# docs/flowtune-protocol.md: kind and endpoint, and the numbers of ends and starts, or of rates.
KINDS = {4: "report", 5: "rates"}
HEAD, COUNTS = struct.Struct("!2sBBI"), struct.Struct("!HH")
COUNTS_AT = {"report": 50, "rates": 52}


def news(frame: bytes, port: int) -> tuple[str, int] | None:
    """Return the kind and the endpoint of a message with news; None of any other frame."""
    if len(frame) < ETHERNET_BYTES + 20 or frame[12:14] != ETH_P_IP.to_bytes(2, "big"):
        return None
    try:
        return _news(frame[ETHERNET_BYTES:], port)
    except struct.error:
        # The datagram is too short for a message.
        return None


def _news(packet: bytes, port: int) -> tuple[str, int] | None:
    datagram = packet[(packet[0] & 15) * 4 :]
    if packet[9] != UDP or port not in struct.unpack_from("!HH", datagram):
        return None
    message = datagram[UDP_BYTES:]
    magic, version, number, endpoint = HEAD.unpack_from(message)
    kind = KINDS.get(number)
    if (magic, version) != (b"FT", 1) or kind is None:
        return None
    counts = COUNTS.unpack_from(message, COUNTS_AT[kind])
    return (kind, endpoint) if (any(counts) if kind == "report" else counts[0]) else None


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def tap(port: int) -> None:
    """Print messages without end."""
    since_boot = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns()
    taken = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    taken.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    say("listening")
    while True:
        frame, control, _, _ = taken.recvmsg(2048, 64)
        if found := news(frame, port):
            seconds, ns = struct.unpack("qq", control[0][2])
            at = seconds * 1_000_000_000 + ns - since_boot
            say(f"{at} {found[0]} {found[1]}")


if __name__ == "__main__":
    tap(int(sys.argv[1]))
