"""Everything xoff prints: what comes from a file cannot command the terminal.

Names of scenarios, classes and files, and the lines that a diagnostic quotes, are shown as they
are, but for characters that a terminal would obey; these are shown by their numbers.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from typing import TextIO

# Control characters but for newline and tab, marks that reverse the direction of text, and halves
# of characters, which no terminal can be sent.
_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def _number(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def escaped(text: str) -> str:
    """Return a text in which characters that a terminal would obey stand as `\\x1b`, `\\u202e`."""
    return _COMMANDS.sub(_number, text)


def escaped_line(text: str) -> str:
    """Return `escaped` text that takes one line."""
    return escaped(text).replace("\n", "\\n").replace("\t", "\\t")


def say(text: str, end: str = "\n", flush: bool = False) -> None:
    """Print a text, escaped, on stdout. Raises `OSError`."""
    write(sys.stdout, escaped(text) + end)
    if flush:
        sys.stdout.flush()


def complain(text: str) -> None:
    """Print a text, escaped, on stderr, if there is anybody to read it."""
    with suppress(OSError, ValueError):
        write(sys.stderr, escaped(text) + "\n")
        sys.stderr.flush()


def write(stream: TextIO, text: str) -> None:
    """Write a text; what the stream's encoding does not have stands as a number."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def open_standard_streams() -> None:
    """Put the null device in the place of standard streams that are closed.

    Otherwise the next files that are opened would get their numbers, and messages meant for a
    stream would go into these.
    """
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= 2:
        os.set_inheritable(descriptor, True)
        descriptor = os.open(os.devnull, os.O_RDWR)
    os.close(descriptor)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Kept open to the end, as a standard stream is.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
