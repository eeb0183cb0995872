"""Output of xoff, escaped: text from a file cannot control the terminal.

Names of scenarios, classes and files and the lines quoted in a diagnostic are printed unchanged,
except for control characters, which are printed as escape sequences such as `\\x1b`.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from typing import TextIO

# Control characters except newline and tab, bidirectional text marks, and lone surrogates, which
# cannot be encoded.
_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def _number(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def escaped(text: str) -> str:
    """Replace characters that control a terminal by escapes such as `\\x1b` and `\\u202e`."""
    return _COMMANDS.sub(_number, text)


def escaped_line(text: str) -> str:
    """Return `escaped` text on one line: newlines and tabs are escaped, too."""
    return escaped(text).replace("\n", "\\n").replace("\t", "\\t")


def say(text: str, end: str = "\n", flush: bool = False) -> None:
    """Print escaped text on stdout. Raises `OSError`."""
    write(sys.stdout, escaped(text) + end)
    if flush:
        sys.stdout.flush()


def complain(text: str) -> None:
    """Print escaped text on stderr; a closed or broken stderr is ignored."""
    with suppress(OSError, ValueError):
        write(sys.stderr, escaped(text) + "\n")
        sys.stderr.flush()


def write(stream: TextIO, text: str) -> None:
    """Write text; characters missing in the stream's encoding become backslash escapes."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def open_standard_streams() -> None:
    """Open the null device in place of closed standard streams.

    Otherwise the next file opened would get the number of the closed stream, and messages for
    that stream would be written into the file.
    """
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= 2:
        os.set_inheritable(descriptor, True)
        descriptor = os.open(os.devnull, os.O_RDWR)
    os.close(descriptor)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Stays open until the process ends, like any standard stream.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
