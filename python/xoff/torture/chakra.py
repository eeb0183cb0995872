"""Files of Chakra execution traces, in the protobuf schema 0.0.4 (mlcommons/chakra, et_def.proto)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

COMP, SEND, RECV, COLLECTIVE = 4, 5, 6, 7
"""Types of nodes."""
ALL_REDUCE, ALL_GATHER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER, BARRIER = 0, 2, 5, 6, 7, 9
"""Types of collective operations, in the attribute `comm_type`."""


def file(nodes: Iterable[bytes]) -> bytes:
    """Return the file of a rank: each message follows its length."""
    messages = [_field(1, b"0.0.4"), *nodes]
    return b"".join(_varint(len(message)) + message for message in messages)


def node(
    number: int,
    kind: int,
    name: str = "",
    after: Iterable[int] = (),
    micros: int = 0,
    attributes: Mapping[str, int | str] | None = None,
) -> bytes:
    """Return a node. `after` has the ids of the nodes for which it waits, `micros` its duration."""
    parts = [_number(1, number), _field(2, name.encode()), _number(3, kind)]
    parts.append(_field(5, b"".join(map(_varint, after))))
    parts.append(_number(7, micros))
    for key, value in (attributes or {}).items():
        # `int64_val` or `string_val`.
        content = _number(9, value) if isinstance(value, int) else _field(29, value.encode())
        parts.append(_field(10, _field(1, key.encode()) + content))
    return b"".join(parts)


def _varint(value: int) -> bytes:
    digits = bytearray()
    while value >= 128:
        digits.append(value & 127 | 128)
        value >>= 7
    digits.append(value)
    return bytes(digits)


def _number(tag: int, value: int) -> bytes:
    return _varint(tag << 3) + _varint(value)


def _field(tag: int, content: bytes) -> bytes:
    return _varint(tag << 3 | 2) + _varint(len(content)) + content
