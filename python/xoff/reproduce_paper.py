"""`xoff reproduce PAPER`: all experiments of a paper, their recorded results and their page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xoff import page, papers, recorded, reproduce_report
from xoff.claims import load_claims
from xoff.drafts import replace_text
from xoff.errors import UsageError, writing
from xoff.papers import find_experiments
from xoff.progress import Line
from xoff.reproduce import Options, Outcome, Prepared, prepare, run


@dataclass(frozen=True)
class Keeping:
    """What is kept of a paper's results.

    - `results`: results file, updated after each experiment (`recorded`; default
      `results-<scale>.json` in `out`).
    - `resume`: experiments that the file has at this scale are not run again if their scenarios,
      the files that these name, checks, plots and columns are the same.
    - `page`: folder that receives the pictures of the experiments that ran, and the page of the
      paper with everything that the results file has.
    """

    results: Path | None = None
    resume: bool = False
    page: Path | None = None

    def check(self, options: Options) -> None:
        """Refuse to keep results of changed settings. Raises `UsageError`."""
        if self != Keeping() and (options.settings or options.chosen):
            raise UsageError(
                "--results, --page and --resume keep the results of the experiments as they are "
                "written: they cannot be combined with --set or --reading"
            )


def reproduce_all(
    name: str,
    done: Callable[[Outcome], None],
    line: Line | None = None,
    keeping: Keeping | None = None,
    **given: Any,
) -> list[Outcome]:
    """Run every experiment of a paper, or the one named; calls `done` after each.

    `given` are `reproduce.Options`. `out` (default `out/<paper>`) receives one folder per
    experiment, and `results-<scale>.md` with all tables and claims; the experiments share their
    runs. Raises like `reproduce`.
    """
    options, keeping, line = Options(**given), keeping or Keeping(), line or Line(quiet=True)
    root = options.root or papers.papers_dir()
    names, paper = find_experiments(name, root), name.strip("/").split("/")[0]
    whole = names != [name.strip("/")]
    options = replace(options, check=options.check or keeping != Keeping())
    out = options.out or Path("out") / paper
    kept = _Kept(root, paper, options, keeping, out, whole)
    outcomes: list[Outcome] = []
    # All of them first: a mistake ends the command before the first one has run.
    ready = [prepare(one, own_options(one, options, out) if whole else options) for one in names]
    for one, prepared in zip(names, ready, strict=True):
        if keeping.resume and kept.has(one, prepared):
            line.note(f"{one}: recorded in {kept.file}, not run again")
            continue
        found = run(prepared, line)
        if outcomes:
            _report_rest_once(found)
        outcomes.append(found)
        kept.add(found)
        done(found)
    if whole and outcomes:
        target = out / f"results-{options.scale}.md"
        with writing(target):
            replace_text(target, reproduce_report.paper_text(outcomes))
    kept.finish()
    return outcomes


def own_options(name: str, options: Options, out: Path) -> Options:
    """Return the options of one of several experiments, which share their runs."""
    return replace(options, out=out / options.folder(name.split("/")[1]), cache=out / "runs")


def _report_rest_once(found: Outcome) -> None:
    """Leave out claims without an experiment: the first experiment has reported them."""
    found.not_run = [rest for rest in found.not_run if rest.claim.experiments]
    found.verdicts = [said for said in found.verdicts if said.claim.experiments]


class _Kept:
    """The results file and the page of a paper."""

    def __init__(
        self, root: Path, paper: str, options: Options, keeping: Keeping, out: Path, whole: bool
    ) -> None:
        self.file = keeping.results or out / f"results-{options.scale}.json"
        self._root = root
        self._paper = paper
        self._scale = options.scale
        self._page = keeping.page
        # Results with changed settings are not those of the paper.
        keeping.check(options)
        self._is_on = options.check and not (options.settings or options.chosen)
        self._is_on = self._is_on and (whole or keeping != Keeping())
        self._claims = load_claims(root / paper / "claims.toml") if self._is_on else []
        self._record = recorded.load(self.file) if self._is_on else {"experiments": {}}
        self._entries = recorded.experiments(self._record)

    def has(self, name: str, prepared: Prepared) -> bool:
        """Return whether the file has the current results of an experiment."""
        entry = self._entries.get(name.split("/")[1])
        if entry is None or entry["scale"] != self._scale:
            return False
        same: bool = prepared.with_seeds(recorded.seed_counts(entry)).key() == entry["key"]
        return same

    def add(self, outcome: Outcome) -> None:
        """Write the results of an experiment, and its pictures for the page."""
        if not self._is_on:
            return
        name = outcome.experiment.name.split("/")[1]
        new = {name: recorded.entry(outcome, self._claims)}
        # Another process may have added other experiments since.
        self._record = recorded.change(
            self.file, self._paper, self._claims, lambda entries: entries.update(new)
        )
        if self._page is not None:
            page.draw(outcome, self._page / self._paper)

    def finish(self) -> None:
        """Write the page from the recorded results."""
        if self._page is not None and self._record["experiments"]:
            page.write(self._record, self._claims, self._page, self._root)
