"""Files of Chakra execution traces, in protobuf: schema 0.0.4 of mlcommons/chakra, et_def.proto."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xoff.protobuf import field, varint
from xoff.protobuf import number as whole

COMP, SEND, RECV, COLLECTIVE = 4, 5, 6, 7
"""Types of nodes."""
ALL_REDUCE, ALL_GATHER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER, BARRIER = 0, 2, 5, 6, 7, 9
"""Types of collective operations, in the attribute `comm_type`."""
COLLECTIVES = (ALL_REDUCE, ALL_GATHER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER, BARRIER)


def file(nodes: Iterable[bytes]) -> bytes:
    """Return the file of a rank: each message follows its length."""
    messages = [field(1, b"0.0.4"), *nodes]
    return b"".join(varint(len(message)) + message for message in messages)


def node(
    number: int,
    kind: int,
    name: str = "",
    after: Iterable[int] = (),
    micros: int = 0,
    attributes: Mapping[str, int | str] | None = None,
) -> bytes:
    """Return a node. `after` has the ids of the nodes for which it waits, `micros` its duration."""
    parts = [whole(1, number), field(2, name), whole(3, kind)]
    parts.append(field(5, b"".join(map(varint, after))))
    parts.append(whole(7, micros))
    for key, value in (attributes or {}).items():
        # `int64_val` or `string_val`.
        content = whole(9, value) if isinstance(value, int) else field(29, value)
        parts.append(field(10, field(1, key) + content))
    return b"".join(parts)
