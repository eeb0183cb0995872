"""A sweep as an array job of Slurm: a file of commands, one per run, and the script."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from xoff.errors import writing
from xoff.jobs import Job
from xoff.manifest import replace_text

SCRIPT = """\
#!/bin/bash
# Made by `xoff sweep {file} --emit slurm`. Edit the limits, then: sbatch {script}
# When it has ended, `xoff sweep {file}` collects the results. Both need the same xoff.
#SBATCH --job-name=xoff-{name}
#SBATCH --array=1-{count}
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=4G
#SBATCH --time=01:00:00
#SBATCH --output=/dev/null
exec bash -c "$(sed -n "${{SLURM_ARRAY_TASK_ID}}p" {commands})"
"""


def emit(jobs: Sequence[Job], file: Path, out: Path) -> list[Path]:
    """Write `jobs.txt` and `array.sbatch` for the unfinished jobs into `out`; return both.

    A run's errors go to `runs/KEY.err`. Raises `RunError`.
    """
    unfinished = [job for job in jobs if not job.done]
    commands, script = out / "jobs.txt", out / "array.sbatch"
    lines = [
        f"{shlex.join(job.command('--quiet'))} 2> {shlex.quote(str(job.folder) + '.err')}\n"
        for job in unfinished
    ]
    text = SCRIPT.format(
        file=shlex.quote(str(file)),
        script=shlex.quote(str(script)),
        name=file.stem,
        count=len(unfinished),
        commands=shlex.quote(str(commands)),
    )
    for target, content in ((commands, "".join(lines)), (script, text)):
        with writing(target):
            replace_text(target, content)
    return [commands, script]
