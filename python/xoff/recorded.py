"""`results.json`: the recorded results of a paper's experiments, from which its page is made.

The file is an object with

- `claims`: one entry per claim of the paper: `id`, `kind` (simulated, computed, test), `verdict`
  (holds, fails, undecided, not-run), `direction` (true if at least the sign of the effect is the
  paper's; null if there is none), `measured` (numbers by name, each with `value` and `unit`;
  `at_least` where unfinished flows leave a lower bound), `interval` (95 %, by the same names),
  `seeds` (the largest number of runs of a case), `scale` and `experiments`. A claim about several
  experiments has the worst verdict of them. `without` has the verdicts where the cause of a
  failure is removed.
- `runs`: one entry per run: `experiment`, `case`, `seed`, `scenario`, `settings`, `digest`,
  `engine` (version) and `packet_hops`.
- `experiments`: by name, what the entries above were made from, and the experiment's table. Those
  of a comparison have `groups`, `numbers` and `schemes` as well (`comparison.record`).
  `sensitivity`, if it was tried, has the verdicts under each candidate of a reading, and the digest
  of the runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff import comparison, engine, points, reproduce_report
from xoff.claims import Claim
from xoff.drafts import replace_text
from xoff.errors import UsageError, writing
from xoff.locks import FolderLock
from xoff.verdicts import FAILS, HOLDS, NOT_RUN, UNDECIDED, evaluate

if TYPE_CHECKING:
    from xoff.experiment import Experiment
    from xoff.reproduce import Outcome

Record = dict[str, Any]
_WORST = (FAILS, NOT_RUN, UNDECIDED, HOLDS)
_COMMENT = re.compile("#.*")
_STRING = re.compile(r"""(?m)^[^#\n]*=\s*["']([^"'\n]+)["']""")
_BETWEEN_WORDS = re.compile(r"[\s\"'=,\[\](){}]+")
# What other commands read of an experiment's entry, and its type.
_ENTRY: dict[str, type] = {"scale": str, "key": str, "seeds": dict, "verdicts": dict, "table": str}

# A change takes milliseconds; a stopped process may have the lock for longer.
WAIT_S = 30.0


def load(file: Path) -> Record:
    """Read a results file; an empty record if there is none. Raises `UsageError`."""
    if not file.is_file():
        return {"experiments": {}}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {file}: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("experiments"), dict):
        raise UsageError(f"{file} is not a results file: it has no `experiments`")
    for name, entry in found["experiments"].items():
        for field, kind in _ENTRY.items():
            if not isinstance(entry, dict) or not isinstance(entry.get(field), kind):
                raise UsageError(
                    f"{file}: experiment `{name}` has no `{field}`: the file is damaged. "
                    "Record the experiment again, with --results in another file"
                )
    return found


def change(
    file: Path, paper: str, claims: Sequence[Claim], new: Callable[[dict[str, Record]], None]
) -> Record:
    """Let `new` change the entries that the file has by now, and write it; returns its contents.

    Other processes that change the file wait. Raises `UsageError` or `RunError`.
    """
    lock = FolderLock(file, "--results")
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        lock.take(WAIT_S)
    try:
        entries = experiments(load(file))
        new(entries)
        return save(file, paper, entries, claims)
    finally:
        lock.release()


def save(
    file: Path, paper: str, experiments: Mapping[str, Record], claims: Sequence[Claim]
) -> Record:
    """Write the results of a paper; returns them. Raises `RunError`."""
    ordered = {name: experiments[name] for name in sorted(experiments)}
    shown = {
        name: {key: value for key, value in one.items() if key != "runs"}
        for name, one in ordered.items()
    }
    record = {
        "paper": paper,
        "claims": combined(ordered, claims),
        "runs": [
            {"experiment": name, **run} for name, one in ordered.items() for run in one["runs"]
        ],
        "experiments": shown,
    }
    with writing(file):
        replace_text(file, json.dumps(record, indent=1, allow_nan=False) + "\n")
    return record


def experiments(record: Record) -> dict[str, Record]:
    """Return the entries of the experiments of a record, each with its runs."""
    found = {name: {**one, "runs": []} for name, one in record["experiments"].items()}
    for run in record.get("runs", []):
        own = {key: value for key, value in run.items() if key != "experiment"}
        found[run["experiment"]]["runs"].append(own)
    return found


def key(experiment: Experiment, claims: Sequence[Claim]) -> str:
    """Return a digest of what decides an experiment's entry.

    That is its scenarios with the files that they name, settings and checks, and what its table
    and its pictures show.
    """
    name = experiment.name.split("/")[-1]
    own = [claim for claim in claims if name in (*claim.experiments, *claim.without)]
    files = {point.scenario: point.scenario.read_text("utf-8") for point in experiment.points}
    named = {
        data
        for scenario, text in files.items()
        for data in _named_files(
            scenario.parent,
            text,
            {
                one
                for point in experiment.points
                if point.scenario == scenario
                for one in point.overrides
            },
        )
    }
    parts = [
        *sorted(f"{files[point.scenario]}{point.overrides}" for point in experiment.points),
        *(f"{claim.id} {claim.kind} {claim.checks}" for claim in own),
        *sorted(f"{data.name} {hashlib.sha256(data.read_bytes()).hexdigest()}" for data in named),
        experiment.shown,
        f"{experiment.relative_to} {experiment.relation}",
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _named_files(folder: Path, text: str, overrides: Iterable[str]) -> Iterator[Path]:
    """Yield the files that a scenario or its overrides name, relative to its folder.

    `PREFIX` also names the files of a Chakra trace, `PREFIX.0.et`, `PREFIX.1.et` and so on.
    """
    # A name may have spaces: in a scenario it is a string, in an override all after `=`.
    words = {*_STRING.findall(text), *(one.partition("=")[2].strip() for one in overrides)}
    for one in (text, *overrides):
        words.update(_BETWEEN_WORDS.split(_COMMENT.sub("", one)))
    for word in words - {""}:
        if os.path.isfile(folder / word):
            yield folder / word
        yield from takewhile(os.path.isfile, (folder / f"{word}.{rank}.et" for rank in count()))


def entry(outcome: Outcome, claims: Sequence[Claim]) -> Record:
    """Return the entry of one experiment."""
    experiment = outcome.experiment
    verdicts = [verdict for verdict in outcome.verdicts if verdict.claim.experiments]
    return {
        "title": experiment.title,
        "source": experiment.source,
        "scale": experiment.scale,
        "settings": list(experiment.settings),
        "command": outcome.command,
        "engine": engine.version(),
        "key": key(experiment, claims),
        "seeds": points.seeds(experiment.points),
        "runs": runs_of(outcome),
        "verdicts": {one.claim.id: reproduce_report.verdict_json(one) for one in verdicts},
        "table": reproduce_report.page_table(outcome),
        **comparison.record(outcome),
    }


def trial(outcome: Outcome) -> Record:
    """Return what is kept of an experiment under a candidate of a reading."""
    own = [verdict for verdict in outcome.verdicts if verdict.claim.experiments]
    return {
        "digest": runs_digest(runs_of(outcome)),
        "verdicts": {one.claim.id: reproduce_report.verdict_json(one) for one in own},
    }


def runs_digest(runs: Sequence[Record]) -> str:
    """Return a digest of recorded runs, in any order."""
    lines = sorted(f"{run['case']} {run['seed']} {run['digest']}\n" for run in runs)
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def runs_of(outcome: Outcome) -> list[Record]:
    """Return the entries of an experiment's runs."""
    found = []
    for point in outcome.experiment.points:
        run = outcome.run_of[point.title]
        found.append(
            {
                "case": point.label,
                "seed": point.seed,
                "scenario": _place(point.scenario, outcome.root),
                "settings": list(point.overrides),
                "digest": run.digest,
                "engine": engine.version(),
                "packet_hops": run.summary.get("packet_hops"),
            }
        )
    return found


def _place(file: Path, root: Path) -> str:
    """Return a path relative to the folder of papers; the whole path of a file elsewhere."""
    file, root = file.resolve(), root.resolve()
    return (file.relative_to(root) if file.is_relative_to(root) else file).as_posix()


def combined(entries: Mapping[str, Record], claims: Sequence[Claim]) -> list[Record]:
    """Return the entries of all claims of a paper, from those of its experiments."""
    return [_claim(claim, entries) for claim in claims]


def _claim(claim: Claim, entries: Mapping[str, Record]) -> Record:
    """Return the entry of a claim, over all recorded experiments about it."""
    parts = {
        name: entries[name]["verdicts"][claim.id]
        for name in claim.experiments
        if name in entries and claim.id in entries[name]["verdicts"]
    }
    found: Record = {"id": claim.id, "kind": claim.kind}
    if claim.shown_by:
        return {**found, "verdict": HOLDS, **_nothing(), "shown_by": claim.shown_by}
    if not claim.experiments:
        return {**found, **_closed_form(claim)}
    said = [part["verdict"] for part in parts.values()]
    said += [NOT_RUN] * (len(claim.experiments) - len(parts))
    found["verdict"] = min(said, key=_WORST.index)
    found["direction"] = _direction([part["direction"] for part in parts.values()])
    several = len(parts) > 1
    for field in ("measured", "interval"):
        found[field] = {
            f"{name}: {number}" if several else number: value
            for name, part in parts.items()
            for number, value in part[field].items()
        }
    found["seeds"] = min((part["seeds"] for part in parts.values()), default=0)
    scales = {entries[name]["scale"] for name in parts}
    found["scale"] = " and ".join(sorted(scales)) or None
    found["experiments"] = list(claim.experiments)
    removed = {
        name: entries[name]["verdicts"][claim.id]["verdict"]
        for name in claim.without
        if name in entries and claim.id in entries[name]["verdicts"]
    }
    return {**found, "without": removed} if removed else found


def _nothing() -> Record:
    return {
        **{"direction": None, "measured": {}, "interval": {}},
        **{"seeds": 0, "scale": None, "experiments": []},
    }


def _closed_form(claim: Claim) -> Record:
    verdicts, _ = evaluate([claim], "", {})
    if not verdicts:
        return {"verdict": NOT_RUN, **_nothing()}
    return {
        **_nothing(),
        **reproduce_report.verdict_json(verdicts[0]),
        "scale": None,
        "experiments": [],
    }


def _direction(found: Sequence[bool | None]) -> bool | None:
    if False in found:
        return False
    return None if None in found or not found else True


def counts(record: Record) -> dict[str, dict[str, int]]:
    """Count the claims of a record by kind and verdict."""
    found: dict[str, dict[str, int]] = {}
    for claim in record["claims"]:
        of_kind = found.setdefault(claim["kind"], dict.fromkeys(reversed(_WORST), 0))
        of_kind[claim["verdict"]] += 1
    return found


def seed_counts(entry: Record) -> dict[str, int]:
    """Return the number of seeds of every label of a recorded experiment."""
    return {label: len(seeds) for label, seeds in entry["seeds"].items()}
