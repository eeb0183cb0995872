"""Instruction counts from the processor's counters, if the system allows reading them."""

from __future__ import annotations

import ctypes
import os
import platform
import struct

# perf_event_open(2): system call numbers and the fields of `struct perf_event_attr` used here.
_CALL = {"x86_64": 298, "aarch64": 241}
_ATTRIBUTES_SIZE = 112
_HARDWARE, _INSTRUCTIONS = 0, 1
_EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR = 1 << 5, 1 << 6


class Instructions:
    """Counts the user-space instructions of the thread that creates it, from then on.

    `read()` returns the count, or None without a counter: a virtual machine that has none, a
    system that forbids it, or a system other than Linux.
    """

    def __init__(self) -> None:
        self._file = _open()

    def read(self) -> int | None:
        """Return the instructions so far, or None without a counter."""
        if self._file is None:
            return None
        return int.from_bytes(os.read(self._file, 8), "little")

    def close(self) -> None:
        """Release the counter."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _open() -> int | None:
    call = _CALL.get(platform.machine())
    if platform.system() != "Linux" or call is None:
        return None
    attributes = bytearray(_ATTRIBUTES_SIZE)
    struct.pack_into("<IIQ", attributes, 0, _HARDWARE, _ATTRIBUTES_SIZE, _INSTRUCTIONS)
    struct.pack_into("<Q", attributes, 40, _EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR)
    buffer = (ctypes.c_char * _ATTRIBUTES_SIZE).from_buffer(attributes)
    this_thread, any_processor, no_group = 0, -1, -1
    file = ctypes.CDLL(None, use_errno=True).syscall(
        call, buffer, this_thread, any_processor, no_group, 0
    )
    return file if file >= 0 else None
