"""Sender and receiver of the laboratory: whole transfers over TCP, with times of one clock.

This file is run by itself on a host, so it imports nothing of xoff:

    traffic.py receive ADDRESS PORT STOP_NS INTERVAL_NS CONNECTIONS
    traffic.py send ADDRESS PORT CONTROL FIRST_NS LAST_NS CONNECTIONS BYTES NAME

Times are of `CLOCK_MONOTONIC`, which all network namespaces of a machine share. A connection begins
with a line, its name. The sender sends BYTES on each connection, or until LAST_NS if that is 0. The
receiver prints one JSON object per connection: its name, the time of its first and last bytes, its
bytes, in all and by interval, and the longest time without any. With CONTROL `default`, connections
have the congestion control of the host.

The sender opens all connections at once and writes nothing before FIRST_NS. Otherwise transfers of
a sender would begin one after another, each after a handshake through the queue of those before it.
"""

from __future__ import annotations

import json
import selectors
import socket
import struct
import sys
import time
from dataclasses import dataclass, field

CHUNK = bytes(65536)
# Data that waits in a sender's kernel, over all of its connections, and at least for each. More
# would only blur when a transfer ends, and senders would keep the processors busy writing it.
SEND_BUFFER, LEAST_BUFFER = 1 << 20, 1 << 16


@dataclass
class Received:
    """What has come over a connection."""

    name: str = ""
    header: bytes = b""
    first_ns: int = 0
    last_ns: int = 0
    total: int = 0
    longest_gap_ns: int = 0
    intervals: dict[int, int] = field(default_factory=dict)
    is_whole: bool = False

    def take(self, data: bytes, now: int, interval_ns: int) -> None:
        """Count bytes; the first line is the name."""
        if not self.name:
            self.header += data
            head, found, rest = self.header.partition(b"\n")
            if not found:
                return
            self.name, data, self.first_ns = head.decode(), rest, now
        if self.last_ns:
            self.longest_gap_ns = max(self.longest_gap_ns, now - self.last_ns)
        self.last_ns = now
        self.total += len(data)
        at = now // interval_ns
        self.intervals[at] = self.intervals.get(at, 0) + len(data)

    def line(self) -> str:
        """Return the JSON object."""
        shown = {
            "name": self.name,
            "first_ns": self.first_ns,
            "last_ns": self.last_ns,
            "bytes": self.total,
            "longest_gap_ns": self.longest_gap_ns,
            "is_whole": self.is_whole,
            "intervals": sorted(self.intervals.items()),
        }
        return json.dumps(shown)


def receive(address: str, port: int, stop_ns: int, interval_ns: int, expected: int) -> None:
    """Receive until `stop_ns`, or until the expected connections have come and ended."""
    found: list[Received] = []
    waiting = selectors.DefaultSelector()
    listener = socket.create_server((address, port), backlog=1024)
    listener.setblocking(False)
    waiting.register(listener, selectors.EVENT_READ, None)
    sys.stdout.write("listening\n")
    sys.stdout.flush()
    open_connections = 0
    while time.monotonic_ns() < stop_ns and (len(found) < expected or open_connections):
        for key, _ in waiting.select(timeout=0.05):
            if key.data is None:
                connection, _ = listener.accept()
                connection.setblocking(False)
                found.append(Received())
                waiting.register(connection, selectors.EVENT_READ, found[-1])
                open_connections += 1
                continue
            try:
                data = key.fileobj.recv(1 << 18)  # type: ignore[union-attr]
                key.data.is_whole = not data
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if data:
                key.data.take(data, time.monotonic_ns(), interval_ns)
            else:
                waiting.unregister(key.fileobj)
                key.fileobj.close()  # type: ignore[union-attr]
                open_connections -= 1
    for each in found:
        sys.stdout.write(each.line() + "\n")


def _connect(address: str, port: int, control: str, send_buffer: int) -> socket.socket:
    made = socket.socket()
    if control != "default":
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
    made.connect((address, port))
    return made


def send(
    address: str,
    port: int,
    control: str,
    times_ns: tuple[int, int],
    connections: int,
    size: int,
    name: str,
) -> None:
    """Send over connections at once, each `size` bytes, or until the second time if that is 0."""
    first_ns, last_ns = times_ns
    buffer = max(LEAST_BUFFER, SEND_BUFFER // connections)
    connected = [_connect(address, port, control, buffer) for _ in range(connections)]
    time.sleep(max(0, first_ns - time.monotonic_ns()) / 1e9)
    waiting = selectors.DefaultSelector()
    left: dict[socket.socket, int] = {}
    for number, each in enumerate(connected):
        each.sendall(f"{name}.{number}\n".encode())
        each.setblocking(False)
        left[each] = size or 1 << 62
        waiting.register(each, selectors.EVENT_WRITE)
    while left:
        if not size and time.monotonic_ns() >= last_ns:
            break
        for key, _ in waiting.select(timeout=0.01):
            each = key.fileobj  # type: ignore[assignment]
            try:
                left[each] -= each.send(CHUNK[: min(len(CHUNK), left[each])])
            except BlockingIOError:
                continue
            except ConnectionError:
                # The receiver has given up and says what it got.
                left[each] = 0
            if not left[each]:
                waiting.unregister(each)
                each.close()
                del left[each]
    for each in left:
        # What waits to be sent is dropped, so that the connection ends now.
        each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        each.close()


def main(arguments: list[str]) -> None:
    """Send or receive."""
    kind, address, port, *rest = arguments
    if kind == "receive":
        receive(address, int(port), *map(int, rest))
    else:
        control, first, last, connections, size, name = rest
        times = int(first), int(last)
        send(address, int(port), control, times, int(connections), int(size), name)


if __name__ == "__main__":
    main(sys.argv[1:])
