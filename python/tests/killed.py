"""A sweep that is killed with all its processes, again and again, for `test_killed_sweep.py`."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

# In every Python process of the sweep: note each run that begins, before it computes anything.
NOTING = """
import os
{engine}
import xoff._native as native

begin = native.open_run

def open_run(text, file, overrides, *more, **named):
    with open({log!r}, "ab", buffering=0) as log:
        log.write((" ".join(overrides) + "\\n").encode())
    return begin(text, file, overrides, *more, **named)

native.open_run = open_run
"""
FAKE = "import sys, fake_native; sys.modules['xoff._native'] = fake_native"


@dataclass
class Killed:
    """A sweep under attack: its command, its folder, and what was finished at each kill."""

    command: list[str]
    out: Path
    noting: Path
    finished: list[dict[str, bytes]] = field(default_factory=list)
    begun: list[Counter] = field(default_factory=list)

    @staticmethod
    def of(file, out, place, jobs, engine=FAKE):
        """Prepare the sweep of a file; `place` gets the notes of runs that begin."""
        place.mkdir()
        text = NOTING.format(engine=engine, log=str(place / "log"))
        (place / "sitecustomize.py").write_text(text)
        (place / "log").touch()
        command = [sys.executable, "-m", "xoff", "sweep", str(file), "--out", str(out)]
        return Killed([*command, "--jobs", str(jobs)], out, place)

    def runs(self):
        """Return the manifest of each finished run."""
        found = self.out.glob("runs/*/manifest.json")
        return {f.parent.name: f.read_bytes() for f in found if f.parent.suffix != ".partial"}

    def begins(self):
        """Return how often the run of each seed has begun."""
        lines = (self.noting / "log").read_text().splitlines()
        return Counter(int(line.rpartition("seed=")[2]) for line in lines)

    def kill_after(self, count, timeout_s=120):
        """Start the sweep; kill it and all its processes within a run, `count` runs later."""
        before, deadline = len(self.runs()), time.monotonic() + timeout_s
        begun = self.begins().total()
        with self._start() as process:
            while (
                len(self.runs()) < before + count
                or self.begins().total() - begun <= len(self.runs()) - before
            ):
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < deadline, f"{len(self.runs())} runs are finished"
                time.sleep(0.01)
            for pid in (process.pid, *workers(process.pid)):
                os.kill(pid, signal.SIGKILL)
        self.finished.append(self.runs())
        self.begun.append(self.begins())

    def end(self):
        """Run the sweep to its end; return what it said."""
        with self._start() as process:
            _, said = process.communicate()
        assert process.returncode == 0, said
        return said

    def _start(self):
        path = os.pathsep.join([str(self.noting), os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            self.command,
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )


def workers(pid):
    """Return the processes that a process has started; stops it first, so it starts no more."""
    os.kill(pid, signal.SIGSTOP)
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
