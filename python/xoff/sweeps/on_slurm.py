"""A sweep as an array job of Slurm: a file of commands, one per run, and the script."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from xoff.drafts import replace_text
from xoff.errors import UsageError, writing
from xoff.jobs import Job

SCRIPT = """\
#!/bin/bash
# Edit the limits, then submit this file with sbatch. When the array has ended, collect the results
# with the command below; runs that are missing by then run where it is called.
#   {collect}
#SBATCH --job-name=xoff-{name}
#SBATCH --array=1-{count}
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=4G
#SBATCH --time=01:00:00
#SBATCH --output=/dev/null
cd {folder} || exit 1
exec bash -c "$(sed -n "${{SLURM_ARRAY_TASK_ID}}p" {commands})"
"""


def emit(jobs: Sequence[Job], out: Path, collect: Sequence[str]) -> list[Path]:
    """Write the commands of the unfinished jobs and the script of the array into `out`.

    Return both files; none if no job is unfinished. `collect` is the command that collects the
    results. The errors of a run go to `runs/KEY.err`. Files of an earlier array that may still be
    queued keep their names. Raises `UsageError` or `RunError`.
    """
    unfinished = [job for job in jobs if not job.done]
    if not unfinished:
        return []
    lines = []
    for job in unfinished:
        job.clear_damage()
        errors = shlex.quote(f"{job.folder}.err")
        lines.append(f"{shlex.join(job.command('--quiet'))} 2> {errors}")
    if any("\n" in text for text in (*lines, *collect, str(out))):
        raise UsageError("a command of the array would have a newline; rename the file or value")
    text = "\n".join(lines) + "\n"
    key = hashlib.sha256(text.encode()).hexdigest()[:8]
    commands, script = out / f"jobs-{key}.txt", out / f"array-{key}.sbatch"
    filled = SCRIPT.format(
        collect=shlex.join(collect),
        name=re.sub(r"[^\w.-]", "-", out.name),
        count=len(unfinished),
        folder=shlex.quote(os.getcwd()),
        commands=shlex.quote(str(commands)),
    )
    for target, content in ((commands, text), (script, filled)):
        with writing(target):
            replace_text(target, content)
    return [commands, script]
