"""One page per paper, from its recorded results: every figure, every claim and its measurement."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff import comparison, comparison_page, recorded, reproduce_report
from xoff.claims import Claim
from xoff.drafts import replace_text
from xoff.errors import UsageError, writing
from xoff.text import markdown
from xoff.verdicts import HOLDS, WORDS, NotRun

if TYPE_CHECKING:
    from xoff.reproduce import Outcome

# Panels per row, and dots per inch: two panels are as wide as a page of text.
PANELS, DPI = 2, 100
CLAIMS = ("claim", "where", "what the paper says", "its number", "xoff", "verdict")
KIND_TEXT = {
    "simulated": "simulated (the engine decides)",
    "computed": "computed (arithmetic or a closed form from the paper's own inputs)",
    "test": "shown by a test of the code",
}

Entry = Mapping[str, Any]


def draw(outcome: Outcome, folder: Path) -> None:
    """Draw an experiment's figure for the page, `<experiment>.png`. Raises `RunError`."""
    from xoff import figure, plots  # matplotlib takes a second to import

    name = outcome.experiment.name.split("/")[-1]
    drawn = figure.build(outcome.experiment, outcome.results, columns=PANELS)
    source = recorded.runs_digest(recorded.runs_of(outcome))
    plots.save_picture(drawn, folder / f"{name}.png", DPI, source)


def write(record: Entry, claims: Sequence[Claim], folder: Path, root: Path) -> Path:
    """Write `<paper>.md` from recorded results into a folder, next to its pictures.

    `root` is the folder of papers. Returns the path of the page. Raises `UsageError` if it cannot
    be written.
    """
    target = folder / f"{record['paper']}.md"
    with writing(target, UsageError):
        folder.mkdir(parents=True, exist_ok=True)
        replace_text(target, text(record, claims, root))
    if compared := comparison.load(root / record["paper"]):
        comparison_page.draw(record, compared, folder / record["paper"])
    return target


def text(record: Entry, claims: Sequence[Claim], root: Path) -> str:
    """Format the page in Markdown; it links to pictures in a folder named after the paper."""
    if compared := comparison.load(root / record["paper"]):
        return comparison_page.text(record, compared)
    entries = recorded.experiments(dict(record))
    ordered = sorted(entries, key=lambda name: _place(name, entries[name]))
    named = {claim.id: claim for claim in claims}
    parts = [_head(record, entries, ordered)]
    first: dict[tuple[str, str], str] = {}
    for name in ordered:
        entry = entries[name]
        same = first.setdefault((entry["table"], recorded.runs_digest(entry["runs"])), name)
        cases = entry["table"]
        if cases and same != name:
            cases = _as_in(entries[same])
        parts += [_part(name, entry, named, record["paper"]), cases]
    parts.append(_without_runs(record, named))
    return "\n".join(part for part in parts if part)


def _place(name: str, entry: Entry) -> tuple[object, ...]:
    """Return a sort key: the experiment's first section in the paper, appendices last."""
    found = re.search(r"§([\d.]*\d)|App\. ([A-Z])(?:\.(\d+))?", entry["source"])
    figure = re.search(r"(Fig|Table)\.? (\d+)", entry["source"])
    at = int(figure[2]) if figure else 0
    if found is None:
        return (2, (), at, name)
    if found[1]:
        return (0, tuple(int(part) for part in found[1].split(".")), at, name)
    return (1, (ord(found[2]), int(found[3] or 0)), at, name)


def _head(record: Entry, entries: Mapping[str, Entry], ordered: Sequence[str]) -> str:
    paper = record["paper"]
    title = _title([entries[name]["source"] for name in ordered])
    versions = ", ".join(sorted({entry["engine"] for entry in entries.values()}))
    results = {run["digest"] for run in record["runs"]}
    said = (
        f"# {title or paper}: claims and measurements\n\n"
        f"Made by `xoff reproduce {paper} --page FOLDER` with xoff {versions}: {len(entries)} "
        f"experiments, {len(results)} different results. The wording of claims is ours; their "
        f"numbers are the paper's. [claims.toml](../../papers/{paper}/claims.toml) has the bounds, "
        f"[readings.toml](../../papers/{paper}/readings.toml) and "
        f"[deviations.md](../../papers/{paper}/deviations.md) the choices the paper leaves open, "
        f"[results.json](../../papers/{paper}/results.json) every number and digest.\n\n"
        "Numbers pool the flows of all seeds and stand with their 95 % confidence interval, from a "
        "bootstrap over batches of time or over seeds. A claim is undecided if its interval "
        "crosses the bound, or if it depends on how slow flows would have been that had not "
        "ended. Tables of cases show the median, minimum and maximum over the seeds.\n"
    )
    kinds = [
        [KIND_TEXT[kind], *[str(count[word]) for word in WORDS]]
        for kind, count in recorded.counts(dict(record)).items()
    ]
    rows = [
        [f"[{_heading(entries[n])}](#{_anchor(_heading(entries[n]))})", *_counts(entries[n])]
        for n in ordered
    ]
    return (
        f"{said}\n{markdown(('claims', *WORDS), kinds, left=1)}\n"
        f"{markdown(('experiment', 'scale', *WORDS[:3]), rows, left=2)}"
    )


def _counts(entry: Entry) -> list[str]:
    said = [one["verdict"] for one in entry["verdicts"].values() if "is_cause" not in one]
    return [entry["scale"], *[str(said.count(word)) for word in WORDS[:3]]]


def _title(sources: Sequence[str]) -> str:
    """Return the paper's name, as the first source that names a place of it has it."""
    named = (source for source in sources if not _is_ours(source))
    return next(named, "").partition("§")[0].strip(" ,")


def _is_ours(source: str) -> bool:
    """Return whether a source, such as "ours (§2 is silent)", is no place of the paper."""
    return source.startswith("ours")


def _heading(entry: Entry) -> str:
    """Return place in the paper and title: "§2.3, Fig. 4: Active flows"."""
    if _is_ours(entry["source"]):
        return str(entry["title"])
    _, mark, place = entry["source"].partition("§")
    if not mark:
        _, mark, place = entry["source"].partition("App. ")
    return f"{mark}{place}: {entry['title']}" if mark else str(entry["title"])


def _anchor(heading: str) -> str:
    kept = "".join(c for c in heading.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def _part(name: str, entry: Entry, claims: Mapping[str, Claim], paper: str) -> str:
    parts = [
        f"## {_heading(entry)}\n",
        f"![{entry['title']}]({paper}/{name}.png)\n",
        f"`{entry['command']}`, {_seeds(entry)}, runs: {len(entry['runs'])}, digest "
        f"`{recorded.runs_digest(entry['runs'])}`.\n",
    ]
    shown = {id_: one for id_, one in entry["verdicts"].items() if id_ in claims}
    if shown:
        rows = [_row(claims[id_], one) for id_, one in shown.items()]
        parts += [markdown(CLAIMS, rows, left=6), _why(shown, claims), _under_candidates(entry)]
    return "\n".join(part for part in parts if part)


def _as_in(entry: Entry) -> str:
    """Point to the table of cases of an experiment about the same runs."""
    heading = _heading(entry)
    return f"The cases are those of [{heading}](#{_anchor(heading)}).\n"


def _seeds(entry: Entry) -> str:
    seeds = sorted({seed for own in entry["seeds"].values() for seed in own})
    if not seeds:
        return "one seed"
    return f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}"


def _under_candidates(entry: Entry) -> str:
    """Format the verdicts that differ between candidates of the readings, if they were tried."""
    trials = entry.get("sensitivity", [])
    if not trials:
        return ""
    said = {
        id_: [trial["verdicts"][id_]["verdict"] for trial in trials]
        for id_ in trials[0]["verdicts"]
    }
    differing = [id_ for id_, words in said.items() if len(set(words)) > 1]
    head = "Under other candidates of readings.toml"
    if not differing:
        tried = ", ".join(sorted({trial["reading"] for trial in trials}))
        return f"{head} ({tried}) every claim has the same verdict.\n"
    rows = [
        [
            trial["reading"],
            trial["candidate"] + (" (choice)" if trial["chosen"] else ""),
            *[said[id_][place] for id_ in differing],
        ]
        for place, trial in enumerate(trials)
    ]
    shown = markdown(("reading", "candidate", *differing), rows, left=2)
    return f"{head} these verdicts differ:\n\n{shown}"


def _row(claim: Claim, part: Entry) -> list[str]:
    measured = reproduce_report.measured_text(
        reproduce_report.from_json(part["measured"], part["interval"])
    )
    cells = [claim.id, claim.where, claim.text, claim.paper, measured, _word(part)]
    return [cell.replace("|", "\\|") for cell in cells]


def _word(part: Entry) -> str:
    said = str(part["verdict"])
    if said != HOLDS and part["direction"] is not None:
        said += ", same direction" if part["direction"] else ", other direction"
    return said + (" (without the cause)" if part.get("is_cause") else "")


def _why(shown: Mapping[str, Entry], claims: Mapping[str, Claim]) -> str:
    """Format the causes and explanations of claims as a list."""
    said = []
    for id_, one in shown.items():
        claim = claims[id_]
        if claim.cause and not one.get("is_cause"):
            where = ", ".join(claim.without)
            said.append(f"- {id_}: {claim.cause.rstrip('.')} (shown by: {where}).\n")
        if claim.explanation:
            said.append(f"- {id_}: {claim.explanation.rstrip('.')}.\n")
    return "".join(said)


def _without_runs(record: Entry, named: Mapping[str, Claim]) -> str:
    rows = []
    for one in record["claims"]:
        claim = named.get(one["id"])
        if claim is None or (claim.experiments and one["verdict"] != "not-run"):
            continue
        cells = _row(claim, one)
        if claim.shown_by or claim.needs:
            cells[4] = reproduce_report.needs_text(NotRun(claim, claim.needs))
        rows.append(cells)
    if not rows:
        return ""
    return "## Claims without a run\n\n" + markdown(CLAIMS, rows, left=6)
