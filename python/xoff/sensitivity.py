"""`xoff reproduce --sensitivity`: what an experiment's claims hang on.

Each open parameter of the paper (`readings`) is set to each of its other candidates in turn, and
the claims are checked again. Readings that change no run of the experiment are left out. The
verdicts can be kept in a results file and on the paper's page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xoff import page, papers, recorded, reproduce_report
from xoff.claims import load_claims
from xoff.drafts import replace_text
from xoff.errors import UsageError, writing
from xoff.papers import find_experiments
from xoff.progress import Line
from xoff.readings import FILE, Reading, load_readings
from xoff.reproduce import Options, Outcome, Prepared, prepare, run
from xoff.reproduce_paper import Keeping, own_options
from xoff.text import markdown


@dataclass(frozen=True)
class Trial:
    """The claims of an experiment under one candidate of a reading."""

    reading: Reading
    value: str
    outcome: Outcome

    @property
    def title(self) -> str:
        """Reading and candidate, marked if it is the choice."""
        chosen = " (choice)" if self.value == self.reading.choice else ""
        return f"{self.reading.id} = {self.value}{chosen}"


def sensitivity(
    name: str,
    done: Callable[[str], None],
    line: Line,
    keeping: Keeping | None = None,
    **given: Any,
) -> list[Trial]:
    """Check the claims of one experiment, or all of a paper, under every candidate.

    Calls `done` with each experiment's table and writes it to `sensitivity.md` and
    `sensitivity.json` in the experiment's folder. `given` are `reproduce.Options`; each experiment
    has a folder in their `out`, and so has each candidate. With
    `keeping.results`, an experiment that this file has at the same scale keeps the verdicts there,
    and with `keeping.page` they are on the page. Raises like `reproduce`; `UsageError` if the paper
    has no readings, or the results file lacks an experiment.
    """
    options = replace(Options(**given), check=True)
    if keeping is not None:
        keeping.check(options)
        _check_keeping(keeping)
    root = options.root or papers.papers_dir()
    trials = []
    for one in find_experiments(name, root):
        readings = load_readings(root / one.split("/")[0] / FILE)
        if not readings:
            raise UsageError(f"{root / one.split('/')[0] / FILE}: there are no readings to vary")
        if keeping is not None and keeping.results is not None:
            _check_recorded(one, keeping.results, options.scale)
        found = _of_experiment(one, readings, options, line)
        if found:
            text = _write(found, one)
            if keeping is not None and keeping.results is not None:
                _keep(found, one, keeping.results, keeping.page)
            done(text)
        trials += found
    return trials


def _check_keeping(keeping: Keeping) -> None:
    """Refuse what has no effect. Raises `UsageError`."""
    if keeping.resume:
        raise UsageError("--resume has no effect with --sensitivity: finished runs are reused")
    if keeping.page is not None and keeping.results is None:
        raise UsageError(
            "--sensitivity with --page needs --results: the page shows what a results file has"
        )


def _of_experiment(
    name: str, readings: Sequence[Reading], options: Options, line: Line
) -> list[Trial]:
    base = _prepare(name, options)
    own, chosen = _scenarios(base), None
    found: list[Trial] = []
    for reading in (one for one in readings if one.concerns(name.split("/")[1])):
        others = [
            (one.value, _prepare(name, replace(options, chosen={reading.id: one.value})))
            for one in reading.alternatives
        ]
        others = [(value, other) for value, other in others if _scenarios(other) != own]
        if others:
            chosen = chosen or run(base, line)
            found.append(Trial(reading, reading.choice, chosen))
            found += [Trial(reading, value, run(other, line)) for value, other in others]
    return found


def _prepare(name: str, options: Options) -> Prepared:
    """Prepare an experiment in a folder of its own, also under each candidate."""
    if options.out is not None:
        options = own_options(name, options, options.out)
    return prepare(name, options)


def _check_recorded(name: str, file: Path, scale: str) -> None:
    entry = recorded.load(file)["experiments"].get(name.split("/")[1])
    if entry is None or entry["scale"] != scale:
        raise UsageError(
            f"{file} has no results of {name} at scale {scale}: first run `xoff reproduce {name} "
            f"--scale {scale} --results {file}`"
        )


def _keep(trials: Sequence[Trial], name: str, file: Path, page_folder: Path | None) -> None:
    """Add the verdicts to the experiment's entry, and write the paper's page."""
    paper, experiment = name.split("/")
    claims = load_claims(trials[0].outcome.root / paper / "claims.toml")
    verdicts = [
        {
            "reading": trial.reading.id,
            "candidate": trial.value,
            "chosen": trial.value == trial.reading.choice,
            **recorded.trial(trial.outcome),
        }
        for trial in trials
    ]

    def add(entries: dict[str, recorded.Record]) -> None:
        entries[experiment]["sensitivity"] = verdicts

    record = recorded.change(file, paper, claims, add)
    if page_folder is not None:
        page.write(record, claims, page_folder, trials[0].outcome.root)


def _scenarios(prepared: Prepared) -> set[str]:
    """Return the effective scenarios of all runs."""
    return {job.effective for job in prepared.plan()}


def _write(trials: Sequence[Trial], name: str) -> str:
    folder = trials[0].outcome.out
    claims = {v.claim.id: v.claim for trial in trials for v in trial.outcome.verdicts}
    own = {id_: claim for id_, claim in claims.items() if claim.experiments}
    parts = [f"# What the claims of {name} hang on\n"]
    for id_, claim in own.items():
        rows = []
        for trial in trials:
            verdict = next(v for v in trial.outcome.verdicts if v.claim.id == id_)
            measured = reproduce_report.measured_text(verdict.measured)
            rows.append([trial.title, measured, reproduce_report.verdict_text(verdict)])
        table = markdown(("reading", "measured", "verdict"), rows, left=3)
        parts.append(f"## {id_}\n\n{claim.text}. Paper: {claim.paper or '-'}.\n\n{table}")
    text = "\n".join(parts)
    _save(folder / "sensitivity.md", text)
    _save(folder / "sensitivity.json", json.dumps(as_json(trials), indent=1) + "\n")
    return text


def _save(file: Path, text: str) -> None:
    with writing(file):
        replace_text(file, text)


def as_json(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """Return the trials as JSON objects."""
    return [
        {
            "reading": trial.reading.id,
            "candidate": trial.value,
            **reproduce_report.as_json(trial.outcome),
        }
        for trial in trials
    ]
