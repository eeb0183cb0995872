"""The command `xoff`: exit codes and signals; `commands` has the subcommands.

Exit codes: 0 success, 1 a run failed, 2 usage or scenario error, 3 a run ended early by a limit,
130 interrupted. A user's mistake prints one message on stderr; a traceback means a bug in xoff.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType

from xoff import commands, lean
from xoff.errors import ScenarioError, XoffError, is_disk_full, reason
from xoff.terminal import complain, open_standard_streams

INTERRUPTED = 130


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _catch_signals() -> None:
    # A background job inherits an ignored SIGINT from its shell; handle the signal anyway.
    for kind in (signal.SIGINT, signal.SIGTERM):
        signal.signal(kind, _interrupt)
    # `nohup` ignores SIGHUP on purpose: keep that. Windows has no SIGHUP.
    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is not None and signal.getsignal(hang_up) is not signal.SIG_IGN:
        signal.signal(hang_up, _interrupt)


def _drop_stdout() -> None:
    """Discard the rest of stdout's buffer, so that flushing it at exit does not fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _flush_or_drop_stdout() -> None:
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _drop_stdout()  # the terminal is gone


def _complete(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Answer the shell's completion, and exit, if it asks."""
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    open_standard_streams()
    _catch_signals()
    try:
        args = _complete(commands.parser()).parse_args(argv)
        if argv is None and "lean" in args and not args.live:
            lean.import_pyarrow()
        code: int = args.action(args)
        sys.stdout.flush()
    except KeyboardInterrupt as stop:
        complain(f"\nxoff: {stop or 'interrupted'}")
        _flush_or_drop_stdout()
        return INTERRUPTED
    except ScenarioError as error:
        # The engine renders the whole diagnostic: location, underlined text, hint.
        complain(str(error).rstrip())
        return error.exit_code
    except XoffError as error:
        complain(f"error: {error}")
        return error.exit_code
    except BrokenPipeError:
        _drop_stdout()  # the reader (`| head`) is gone
        return 1
    except OSError as error:
        if not is_disk_full(error):
            raise
        _drop_stdout()
        complain(f"error: cannot write the output: {reason(error)}")
        return 1
    return code
