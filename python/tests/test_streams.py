"""Closed standard streams, and text from files that would control the terminal."""

import io
import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest

import xoff
from xoff import cli, terminal
from xoff.manifest import read_manifest
from xoff.progress import Line

XOFF = [sys.executable, "-m", "xoff"]
TITLE = "\x1b]0;owned\x07\x9b31m\u202e"


def shell(command, *args):
    """Run a shell command with `"$@"` as xoff's arguments."""
    words = ["sh", "-c", command, "sh", *XOFF, *map(str, args)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


ALL = "<&- >&- 2>&-"


@pytest.mark.parametrize(
    ("closed", "more"),
    [
        *((closed, []) for closed in (">&-", "2>&-", "<&-", "<&- >&-", ALL)),
        *((ALL, more) for more in (["--quiet"], ["--progress-json"], ["--threads", "9"])),
    ],
)
def test_a_run_completes_without_its_standard_streams(scenario, tmp_path, closed, more):
    out = tmp_path / "out"
    done = shell(f'exec "$@" {closed}', "run", scenario, "--out", out, *more)
    assert (done.returncode, done.stderr) == (0, "")
    assert xoff.load(out).flows.num_rows == 6


@pytest.mark.parametrize("closed", [">&-", ALL])
def test_other_commands_without_standard_streams(scenario, tmp_path, closed):
    xoff.run(scenario, tmp_path / "out")
    for args in (
        ["check", scenario],
        ["presets"],
        ["bench", "bfc-google-128"],
        ["plot", tmp_path / "out", "--out", tmp_path / "figure"],
    ):
        done = shell(f'exec "$@" {closed}', *args)
        warns = args[0] == "check" and "2>" not in closed
        warning = "warning: a setting cannot matter\n" if warns else ""
        assert (done.returncode, done.stderr) == (0, warning)
    assert shell(f'exec "$@" {closed}', "run", "missing.toml").returncode == 2


def test_no_file_gets_the_number_of_a_closed_stream(scenario, tmp_path):
    """Output of a library on stderr must not end up in a table."""
    code = (
        "import os, sys; from xoff import api, cli; real = api.engine.drive;"
        "api.engine.drive = lambda *a: (real(*a), os.write(2, b'warning'))[0];"
        f"sys.exit(cli.main(['run', {str(scenario)!r}, '--out', {str(tmp_path / 'out')!r}]))"
    )
    closing = f'exec {sys.executable} -c "$1" <&- >&- 2>&-'
    done = subprocess.run(["sh", "-c", closing, "sh", code], check=False)
    assert done.returncode == 0
    assert xoff.load(tmp_path / "out").flows.num_rows == 6


def test_progress_that_nobody_reads_does_not_end_a_run(monkeypatch):
    class Gone(io.StringIO):
        def flush(self):
            raise BrokenPipeError

    line = Line(Gone())
    line.show("1 %")
    line.note("more")
    assert not line.due()
    monkeypatch.setattr(sys, "stderr", None)
    line = Line()
    line.note("nobody hears it")
    assert not line.due()


@pytest.mark.parametrize("ignored", [False, True])
def test_the_end_of_the_session_stops_a_run_unless_it_is_to_be_ignored(scenario, tmp_path, ignored):
    before = "trap '' HUP; " if ignored else ""
    args = ["run", scenario, "--out", tmp_path / "out"]
    args += ["--set", "run.slices=30", "--set", "run.sleep_ms=50"]
    words = ["sh", "-c", f'{before}exec "$@"', "sh", *XOFF, *map(str, args)]
    # The tests themselves may run under nohup, whose choice a child would inherit.
    inherited = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    child = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    signal.signal(signal.SIGHUP, inherited)
    flag = tmp_path / "out.partial" / "scenario.toml"
    deadline = time.monotonic() + 30
    while not flag.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    child.send_signal(signal.SIGHUP)
    _, said = child.communicate(timeout=30)
    if ignored:
        assert child.returncode == 0
        assert (tmp_path / "out").exists()
    else:
        assert child.returncode == 130
        assert "(marked incomplete)" in said
        assert read_manifest(tmp_path / "out.partial")["status"] == "interrupted"


def test_escaping_keeps_text_and_shows_commands():
    assert terminal.escaped("2 µs → “é”\n\tx") == "2 µs → “é”\n\tx"
    assert terminal.escaped(TITLE) == r"\x1b]0;owned\x07\x9b31m\u202e"
    assert terminal.escaped("a\rb\ud800") == r"a\x0db\ud800"
    assert terminal.escaped_line("a\nb\tc") == r"a\nb\tc"


def test_a_stream_of_few_characters(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    terminal.write(stream, "1 µs")
    stream.seek(0)
    assert stream.read() == r"1 \xb5s"


def on_terminal(args):
    """Run xoff on a pseudo-terminal; return its output."""
    main, other = pty.openpty()
    child = subprocess.Popen([*XOFF, *map(str, args)], stdout=other, stderr=other)
    os.close(other)
    said = b""
    try:
        while block := os.read(main, 65536):
            said += block
    except OSError:  # the other end is closed
        pass
    child.wait(timeout=30)
    os.close(main)
    return said.decode()


# Control sequences of xoff itself: carriage return and clear to the end of the line.
OWN = re.compile(r"\r|\x1b\[K")


@pytest.mark.parametrize(
    "args",
    [
        ["run", "FILE", "--out", "OUT"],
        ["run", "FILE", "--out", "OUT", "--set", "x\x1b[31m=1"],
        ["run", "FILE", "--out", "OUT", "--set", "run.fail=1"],
        ["run", "\x1b[31mmissing.toml"],
        ["check", "FILE"],
        ["plot", "\x1b[31mmissing"],
        ["plot", "a", "--\x1b[31m"],
        ["\x1b[31m"],
        ["bench", "\x1b[31m"],
        ["reproduce", "\x1b[31m"],
    ],
)
def test_nothing_from_outside_commands_the_terminal(tmp_path, args):
    file = tmp_path / f"{TITLE}.toml"
    file.write_text(f'name = "{TITLE}"\n')
    places = {"FILE": file, "OUT": tmp_path / f"out{TITLE}"}
    said = OWN.sub("", on_terminal([places.get(arg, arg) for arg in args]))
    assert said
    assert not [c for c in said if c in TITLE and not c.isprintable()]
    assert "\\x1b" in said


def test_every_place_is_checked(scenario, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for args in (
        ["run", str(scenario), "--out", ""],
        ["reproduce", "bfc/fig10", "--out", ""],
        ["reproduce", "bfc", "--page", ""],
        ["plot", "run", "--out", ""],
    ):
        with pytest.raises(SystemExit) as stop:
            cli.main(args)
        assert stop.value.code == 2
        assert "is empty" in capsys.readouterr().err
    for place in ("/", ".", ".."):
        assert cli.main(["plot", "run", "--out", place]) == 2
        assert "is a folder; give the figure" in capsys.readouterr().err
    assert cli.main(["run", str(scenario), "--out", "/"]) == 2
    assert "root of the file system" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["small.toml"]


@pytest.mark.parametrize("threads", [0, -1, 2**70, 1.5, "4", True])
def test_threads_are_a_number_that_a_machine_can_have(scenario, threads):
    with pytest.raises(xoff.UsageError, match=r"threads must be a whole number from 1 to 65536"):
        xoff.run(scenario, threads=threads)


@pytest.mark.parametrize("call", [xoff.run, xoff.check, xoff.load])
@pytest.mark.parametrize("given", ["a\0b", "a\ud800b", ""])
def test_names_that_no_file_can_have(call, given):
    with pytest.raises(xoff.UsageError):
        call(given)


def test_text_longer_than_a_name_is_text():
    name = "a" * 5000
    assert xoff.run(f'name = "{name}"').summary["name"] == name
    with pytest.raises(xoff.UsageError, match=r"cannot read a+: file name too long"):
        xoff.run(name)


@pytest.mark.real_engine
@pytest.mark.parametrize("text", ["name = 'a\0b'\n", "name = 'a\ud800b'\n"])
def test_text_that_no_scenario_can_have(text):
    with pytest.raises(xoff.UsageError):
        xoff.check(text)
    with pytest.raises(xoff.UsageError):
        xoff.run(text)
    with pytest.raises(xoff.UsageError):
        xoff.check("seed = 1\n", set=[text.strip()])
