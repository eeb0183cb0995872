"""Faults at file operations of xoff, for `test_crashes.py`; as a command, kills at random times.

    PYTHONPATH=python python python/tests/crashes.py --kills 500

A fault happens in a process of its own, before the Nth time that it opens a file for writing,
renames, removes or makes something in a folder. Afterwards nothing finished may be lost, nothing
half-written may look whole, and the same command must succeed.
"""

from __future__ import annotations

import argparse
import errno
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

FAKE = Path(__file__).parent / "fake"
BUILT = bool(list((Path(__file__).parents[1] / "xoff").glob("_native*.so")))

KILL, FULL, READ_ONLY, VANISH = "kill", "full disk", "read-only", "vanishing folder"
FAULTS = (KILL, FULL, READ_ONLY, VANISH)
_ERRORS = {
    FULL: OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    READ_ONLY: OSError(errno.EROFS, os.strerror(errno.EROFS)),
}
_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code (negative: a signal), what it said, its operations."""

    code: int
    said: str
    operations: int


def ended(args, place, fault=None, at=0, most_bytes=None, timeout_s=60):
    """Run the command in a process of its own, with a fault in `place` before operation `at`.

    With `most_bytes` no file can grow larger.
    """
    log, count = place.with_name("said.txt"), place.with_name("count.txt")
    pid = os.fork()
    if pid == 0:
        _child(args, place, fault, at, most_bytes, log, count)
    deadline = time.monotonic() + timeout_s
    while not (found := os.waitpid(pid, os.WNOHANG))[0]:
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            raise AssertionError(f"{args} hangs with {fault} at operation {at}")
        time.sleep(0.002)
    operations = int(count.read_text() or 0) if count.exists() else 0
    return Ended(os.waitstatus_to_exitcode(found[1]), log.read_text(), operations)


def _child(args, place, fault, at, most_bytes, log, count):
    """Be the process: never returns."""
    code = 70
    try:
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - until the process ends
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
        faults = _Faults(place, fault, at)
        sys.addaudithook(faults)
        if most_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
        from xoff import cli

        code = cli.main([str(arg) for arg in args])
        faults.off = True
        if most_bytes is None:
            count.write_text(str(faults.count))
    except SystemExit as stop:
        code = stop.code
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)


class _Faults:
    """An audit hook that counts changes in a folder and lets them fail from the Nth on."""

    def __init__(self, place, fault, at):
        self.place, self.fault, self.at = str(place), fault, at
        self.count, self.off = 0, False

    def __call__(self, event, args):
        if self.off or not self._is_change(event, args):
            return
        self.count += 1
        if self.fault is None or self.count < self.at:
            return
        if self.fault == KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fault == VANISH:
            self.off = True
            shutil.rmtree(self.place, ignore_errors=True)
        elif self.fault == READ_ONLY or event in ("open", "os.mkdir"):
            raise _ERRORS[self.fault]

    def _is_change(self, event, args):
        if event == "open":
            path, _, flags = args
            if not flags & _WRITING:
                return False
        elif event in _CHANGES:
            path = args[0]
        else:
            return False
        return isinstance(path, (str, bytes, os.PathLike)) and os.fspath(path).startswith(
            self.place
        )


def only_says_what_is_wrong(found, fault):
    """Check that a process with a fault has died, or succeeded, or printed one error."""
    assert "Traceback" not in found.said, found.said
    if fault == KILL and found.code == -signal.SIGKILL:
        return
    assert found.code in (0, 1, 2), found
    if found.code:
        errors = [line for line in found.said.splitlines() if line.startswith("error:")]
        assert len(errors) == 1, found.said


def wholes(*folders):
    """Return the digests of the finished runs in folders. Readers refuse damaged ones."""
    import xoff

    found = set()
    for folder in folders:
        with suppress(xoff.UsageError):
            found.add(xoff.load(folder).digest)
    return found


def outputs(folder):
    """Return what a command has written, except run directories."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and "runs" not in file.relative_to(folder).parts[:-1]
    }


@dataclass
class Target:
    """A command that is killed at random times.

    It writes into `out`. `start` is what `out` holds before, `expected` what it holds at the end.
    It has the fake engine unless `is_real`.
    """

    args: list
    out: Path
    start: Path | None = None
    expected: dict | None = None
    is_real: bool = False
    takes_s: float = 0.0

    def prepare(self):
        """Run the command once without a kill."""
        self.reset()
        began = time.monotonic()
        self.finish()
        self.takes_s = time.monotonic() - began
        self.expected = self.found()

    def reset(self):
        """Make `out` what it was before the command."""
        for folder in self.out.parent.glob(f"*{self.out.name}*"):
            shutil.rmtree(folder) if folder.is_dir() else folder.unlink()
        if self.start is not None:
            shutil.copytree(self.start, self.out)

    def found(self):
        """Return what is comparable of what the command wrote: a run's files by their hashes."""
        import xoff
        from xoff.manifest import read_manifest

        if (manifest := read_manifest(self.out)) is None:
            return outputs(self.out)
        return {"files": manifest["files"], "digest": xoff.load(self.out).digest}

    def kill(self, after_s, with_workers):
        """Start the command and kill it; return whether it was still running."""
        process = self._begin()
        time.sleep(after_s)
        own = []
        if process.poll() is None:
            os.kill(process.pid, signal.SIGSTOP)
            listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
            own = [int(child) for child in listed.split()] if with_workers else []
        running = process.poll() is None
        for pid in (process.pid, *own):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _, said = process.communicate()
        assert "Traceback" not in said, said
        return running

    def finish(self):
        """Run the command to its end."""
        process = self._begin()
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
        assert "Traceback" not in said, said

    def check(self):
        """Check what a kill has left: files are whole or absent, run directories, too."""
        from xoff.manifest import is_complete, partial_of
        from xoff.publishing import old_of

        if self.start is not None:
            assert wholes(self.out, partial_of(self.out), old_of(self.out))
        elif not is_complete(self.out):
            left = {name: data for name, data in outputs(self.out).items() if name in self.expected}
            assert left.items() <= self.expected.items()
        for run in self.out.glob("runs/*"):
            if is_complete(run):
                assert wholes(run), run

    def _begin(self):
        package = str(Path(__file__).parents[1])
        path = package if self.is_real else os.pathsep.join([str(FAKE), package])
        return subprocess.Popen(
            [sys.executable, "-m", "xoff", *map(str, self.args)],
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


SCENARIO = 'name = "small"\nscheme = "bfc"\n'
GRID = 'scenario = "small.toml"\nset = ["run.sleep_ms=10"]\n[grid]\nscheme = ["bfc", "dctcp"]\n'
REAL = """
scheme = "bfc"
leaf_spine = { leaves = 2, spines = 1, hosts_per_leaf = 2 }
run = { warmup = "0us", measure = "50us" }
[[traffic]]
kind = "open-loop"
load = 0.5
"""
EXPERIMENT = """
title = "Slowdown"
source = "Fig. 1"
scenario = "scenario.toml"
[scale.quick]
set = ["run.slices=2"]
[[case]]
name = "BFC"
set = ["scheme=bfc"]
[[case]]
name = "HPCC"
set = ["scheme=hpcc"]
[[plot]]
kind = "buffer-cdf"
"""
CLAIMS = """
[[claim]]
id = "C1"
where = "1"
text = "the tail is better"
experiment = "fig1"
paper = "2"
metric = "ratio"
cases = ["HPCC", "BFC"]
range = "short"
low = 1
"""


def targets(place):
    """Return commands of several kinds, by name."""
    scenario, grid, paper = place / "small.toml", place / "grid.toml", place / "papers" / "demo"
    (paper / "fig1").mkdir(parents=True)
    for file, text in (
        (scenario, SCENARIO),
        (grid, GRID),
        (paper / "fig1" / "scenario.toml", SCENARIO),
        (paper / "fig1" / "experiment.toml", EXPERIMENT),
        (paper / "claims.toml", CLAIMS),
    ):
        file.write_text(text)
    run, earlier = Target([], place / "run"), place / "earlier"
    first = Target(["run", scenario, "--out", earlier, "--set", "seed=2"], earlier)
    first.finish()
    sets = ("--set", "run.capture=9", "--set", "run.sleep_ms=10")
    run.args, run.start = ["run", scenario, "--out", run.out, *sets], earlier
    sweep = Target([], place / "sweep")
    sweep.args = ["sweep", grid, "--out", sweep.out, "--jobs", 2]
    own = Target([], place / "own")
    own.args = ["experiment", paper / "fig1", "--out", own.out, "--jobs", 2]
    own.args += ["--results", own.out / "results.json"]
    return {"run": run, "sweep": sweep, "experiment": own}


def report(place):
    """Return the command that writes a report. Requires the built engine."""
    scenario, run = place / "real.toml", place / "real"
    scenario.write_text(REAL)
    Target(["run", scenario, "--out", run, "--quiet"], run, is_real=True).finish()
    target = Target([], place / "page", is_real=True)
    target.args = ["report", run, "--out", target.out / "report.html"]
    return target


def kill_at_random(found, chosen, kills):
    """Kill commands at random times; return how many were running, by kind."""
    counts = Counter()
    for target in found.values():
        target.prepare()
    for _ in range(kills):
        kind = chosen.choice(list(found))
        target = found[kind]
        target.reset()
        running = target.kill(chosen.uniform(0, target.takes_s), chosen.random() < 0.5)
        target.check()
        target.finish()
        assert target.found() == target.expected, kind
        counts[f"{kind}, {'running' if running else 'ended before'}"] += 1
    return counts


def main():
    """Kill as many commands as asked for."""
    import tempfile

    sys.path.insert(0, str(FAKE))
    import fake_native

    sys.modules["xoff._native"] = fake_native
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        commands = targets(Path(place))
        if BUILT:
            commands["report"] = report(Path(place))
        counts = kill_at_random(commands, random.Random(given.seed), given.kills)
    for kind, count in sorted(counts.items()):
        sys.stdout.write(f"{kind}: {count}\n")


if __name__ == "__main__":
    main()
