"""Traces for https://ui.perfetto.dev: tracks with slices and counters.

The file is a `Trace` of protos/perfetto/trace/trace.proto: packets one after another, so it is
written as a stream. Numbers in this file are tags of its fields.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import BinaryIO

from xoff.protobuf import field, number

_PACKET = 1
# Fields of TracePacket.
_TIMESTAMP, _SEQUENCE, _EVENT, _TRACK = 8, 10, 11, 60
# Fields of TrackEvent, and its types.
_ANNOTATION, _TYPE, _TRACK_UUID, _NAME, _COUNTER_VALUE = 4, 9, 11, 23, 30
_BEGIN, _END, _COUNT = 1, 2, 4
BYTES, TIME_NS = 3, 1
"""Units of counters."""


class Trace:
    """A trace that is being written. Times are in ps and are rounded down to ns."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._tracks = 0
        self.events = 0

    def _track(self, fields: bytes) -> int:
        self._tracks += 1
        self._packet(field(_TRACK, number(1, self._tracks) + fields))
        return self._tracks

    def group(self, name: str) -> int:
        """Add a group of tracks, which the viewer shows as a process; return its number."""
        process = number(1, self._tracks + 1) + field(6, name)
        return self._track(field(3, process))

    def slices(self, group: int, name: str) -> int:
        """Add a track for slices that do not overlap; return its number."""
        return self._track(field(2, name) + number(5, group))

    def counter(self, group: int, name: str, unit: int) -> int:
        """Add a track for a counter; return its number."""
        return self._track(field(2, name) + number(5, group) + field(8, number(3, unit)))

    def slice(
        self, track: int, name: str, begin_ps: int, end_ps: int, about: Mapping[str, int | str]
    ) -> None:
        """Add a slice. `about` is shown when it is chosen."""
        notes = b"".join(
            field(_ANNOTATION, field(10, key) + _value(value)) for key, value in about.items()
        )
        on = number(_TRACK_UUID, track)
        self._event(begin_ps, number(_TYPE, _BEGIN) + on + field(_NAME, name) + notes)
        self._event(end_ps, number(_TYPE, _END) + on)

    def value(self, track: int, time_ps: int, value: int) -> None:
        """Add a value of a counter."""
        content = number(_TYPE, _COUNT) + number(_TRACK_UUID, track)
        self._event(time_ps, content + number(_COUNTER_VALUE, value))

    def _event(self, time_ps: int, content: bytes) -> None:
        self.events += 1
        self._packet(number(_TIMESTAMP, time_ps // 1000) + field(_EVENT, content))

    def _packet(self, content: bytes) -> None:
        self._file.write(field(_PACKET, content + number(_SEQUENCE, 1)))


def _value(value: int | str) -> bytes:
    return number(3, value) if isinstance(value, int) else field(6, value)


class Lanes:
    """Tracks of one name, for slices that may overlap and come in the order of their begins."""

    def __init__(self, trace: Trace, group: int, name: str) -> None:
        self._trace, self._group, self._name = trace, group, name
        # When each is free, and its track.
        self._free: list[tuple[int, int]] = []

    def slice(self, name: str, begin_ps: int, end_ps: int, about: Mapping[str, int | str]) -> None:
        """Add a slice to a track that is free at its begin, as the viewer sees it."""
        if self._free and self._free[0][0] <= begin_ps // 1000:
            track = heapq.heappop(self._free)[1]
        else:
            track = self._trace.slices(self._group, self._name)
        self._trace.slice(track, name, begin_ps, end_ps, about)
        heapq.heappush(self._free, (end_ps // 1000, track))
