"""Values over time in a bounded number of frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Array = Any
Reduce = Callable[..., Array]


class Frames:
    """Rows of values at regular times, merged in pairs when there are more than `most`.

    A column has the shape `(times, values)`. Its function of `columns` merges neighbours along
    one axis, such as `np.max`. A merged frame has the time of its last part. The last frame can
    have fewer parts than the others.
    """

    def __init__(self, most: int, columns: Mapping[str, Reduce]) -> None:
        self._most = max(1, most)
        self._columns = dict(columns)
        self._times: list[Array] = []
        self._blocks: dict[str, list[Array]] = {name: [] for name in columns}
        self._count = 0
        self._waiting_times: Array = np.empty(0)
        self._waiting: dict[str, Array] = {}
        self.stride = 1
        """Rows in a frame."""

    def add(self, times: Array, columns: Mapping[str, Array]) -> None:
        """Append rows: `times` in ascending order, and the values of each column."""
        if self._waiting:
            times = np.concatenate([self._waiting_times, times])
            columns = {k: np.concatenate([v, columns[k]]) for k, v in self._waiting.items()}
        while len(times) >= self.stride:
            take = min(2 * self._most - self._count, len(times) // self.stride)
            rows = take * self.stride
            self._append(times[:rows], {name: columns[name][:rows] for name in self._columns})
            times = times[rows:]
            columns = {name: columns[name][rows:] for name in self._columns}
        self._waiting_times, self._waiting = times, dict(columns)

    def _append(self, times: Array, columns: Mapping[str, Array]) -> None:
        self._times.append(times[self.stride - 1 :: self.stride])
        for name, merge in self._columns.items():
            self._blocks[name].append(_merged(columns[name], self.stride, merge))
        self._count += len(self._times[-1])
        if self._count == 2 * self._most:
            self._halve()

    def _halve(self) -> None:
        self._times = [np.concatenate(self._times)[1::2]]
        for name, merge in self._columns.items():
            self._blocks[name] = [_merged(np.concatenate(self._blocks[name]), 2, merge)]
        self._count = self._most
        self.stride *= 2

    def read(self) -> tuple[Array, dict[str, Array]]:
        """Return the times and the columns of all frames."""
        times, blocks = list(self._times), {k: list(v) for k, v in self._blocks.items()}
        if len(self._waiting_times):
            times.append(self._waiting_times[-1:])
            for name, merge in self._columns.items():
                rows = self._waiting[name]
                blocks[name].append(_merged(rows, len(rows), merge))
        if not times:
            return np.empty(0), {}
        return np.concatenate(times), {k: np.concatenate(v) for k, v in blocks.items()}


def _merged(rows: Array, stride: int, merge: Reduce) -> Array:
    """Merge each `stride` rows into one."""
    if stride == 1:
        return np.asarray(rows)
    return merge(rows.reshape(len(rows) // stride, stride, *rows.shape[1:]), axis=1)
