"""Fields of protobuf messages, for the few messages that are written here."""

from __future__ import annotations


def varint(value: int) -> bytes:
    """Return a whole number of at least 0 in groups of seven bits, the lowest first."""
    digits = bytearray()
    while value >= 128:
        digits.append(value & 127 | 128)
        value >>= 7
    digits.append(value)
    return bytes(digits)


def number(tag: int, value: int) -> bytes:
    """Return a field with a whole number of at least 0."""
    return varint(tag << 3) + varint(value)


def field(tag: int, content: bytes | str) -> bytes:
    """Return a field with bytes, a text, packed numbers or a message."""
    data = content.encode() if isinstance(content, str) else content
    return varint(tag << 3 | 2) + varint(len(data)) + data
