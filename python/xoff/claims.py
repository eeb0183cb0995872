"""`claims.toml`: a paper's claims, checked against measurements.

A claim has one or more checks. A check applies a relation (`relations.RELATIONS`) to numbers of
cases (`metrics.Term`). With three or more seeds the numbers get confidence intervals.
A claim about closed forms only needs no experiment. A claim that cannot be checked yet has
`needs`; a claim verified by a test of the code instead of a run has `shown_by`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import Path
from typing import Any

from xoff import intervals
from xoff.errors import UsageError
from xoff.metrics import Term, bins, cdf_distance, cdf_points, mean, score_difference
from xoff.relations import RELATIONS, Bounds, Outcome, every, some
from xoff.result import Result
from xoff.strict import BY_BIN, Reader, read_term, read_toml
from xoff.theory import FORMULAS

# Relation of distributions: distance of each case's CDF from the last case's.
DISTANCE = "cdf-distance"
# Relation of flows: difference of fairness scores of each case and the last case.
SCORE = "score-difference"
# Relations that require bounds, and relations that accept a single number.
BOUNDED = (
    *("value", "ratio", "max-ratio", "difference", "sum", "count"),
    *("linear", "slope-ratio", "proportional", "saving", "rank-correlation", DISTANCE, SCORE),
    *("pair-saving", "max-pair-saving", "gain-share", "reach-ratio"),
)
SINGLE = ("value", "sum", "count")
TERM_KEYS = ("class", "range", "statistic", "path", "cdf", "at", "scale", "seeds")
CHECK_KEYS = (*TERM_KEYS, "metric", "cases", "terms", "low", "high", "factor", "below")

Results = Mapping[str, Sequence[Result]]
"""The runs of each label (case or `case@value`), one per seed."""


@dataclass(frozen=True)
class Formula:
    """A closed form (`theory.FORMULAS`) as a term among the measured cases."""

    name: str
    arguments: Mapping[str, float]
    scale: float = 1.0

    @property
    def case(self) -> str:
        """Name of the number, in place of a case's name."""
        given = ", ".join(f"{name} {value:g}" for name, value in self.arguments.items())
        return f"{self.name}({given})"

    def over_seeds(self, _runs: Sequence[Result]) -> float:
        """Return the number, which does not depend on runs."""
        return float(FORMULAS[self.name](**self.arguments)) * self.scale


@dataclass(frozen=True)
class Check:
    """One relation over the numbers of some cases.

    `by_bin` applies it to each size bin of flows up to `below` bytes. It must then hold in all
    bins (`"bins"`), in at least one (`"any-bin"`) or in the bin with the smallest number
    (`"least-bin"`). `experiment` restricts the check to one of the claim's experiments.
    """

    metric: str
    terms: tuple[Term | Formula, ...]
    bounds: Bounds
    factor: float = 1.0
    by_bin: str | None = None
    below: float = math.inf
    experiment: str | None = None

    def run(self, results: Results) -> Outcome:
        """Measure, with confidence intervals and the verdict of each seed where possible."""
        found = self._measure(results)
        terms = [term for term in self.terms if isinstance(term, Term)]
        if all(term.seeds == "mean" for term in terms):
            cases = list(dict.fromkeys(term.case for term in terms))
            alone = intervals.by_seed(self._measure, cases, results)
            found.intervals = intervals.intervals(alone)
            found.seeds = [outcome.holds for outcome in alone]
        return found

    def _measure(self, results: Results) -> Outcome:
        """Measure; bins with too few flows are left out."""
        if self.metric == DISTANCE:
            return self._distance(results)
        if self.metric == SCORE:
            return self._score_difference(results)
        if self.by_bin is None:
            return self._relate(self._values(results, self.terms))
        outcomes = []
        for low, high in self._bins(results):
            values = self._values(results, [_in_bin(term, low, high) for term in self.terms])
            if None not in values.values():
                outcomes.append((f"[{low:g}, {high:g})", self._relate(values)))
        if self.by_bin == "least-bin":
            outcomes = sorted(outcomes, key=lambda found: _least(found[1]))[:1]
        measured = {f"{b} {k}": v for b, o in outcomes for k, v in o.measured.items()}
        verdicts = [found.holds for _, found in outcomes]
        return Outcome(measured, some(verdicts) if self.by_bin == "any-bin" else every(verdicts))

    @property
    def runs(self) -> bool:
        """Whether the check needs runs, rather than closed forms only."""
        return any(isinstance(term, Term) for term in self.terms)

    def expand(self, labels: Sequence[str], missing: list[str]) -> Check:
        """Replace `case@*` by the case's sweep points; append unknown cases to `missing`."""
        terms: list[Term | Formula] = []
        for term in self.terms:
            if isinstance(term, Formula):
                terms.append(term)
                continue
            found = [label for label in labels if label == term.case]
            if term.case.endswith("@*"):
                found = [label for label in labels if label.startswith(term.case[:-1])]
            if not found:
                missing.append(term.case)
            terms += [replace(term, case=label) for label in found]
        return replace(self, terms=tuple(terms))

    def _values(self, results: Results, terms: Sequence[Term | Formula]) -> dict[str, float | None]:
        values = {}
        for term in terms:
            name = term.case if len({t.case for t in terms}) == len(terms) else _long_name(term)
            values[name] = term.over_seeds(results.get(term.case, ()))
        return values

    def _relate(self, values: Mapping[str, float | None]) -> Outcome:
        return RELATIONS[self.metric](values, self.bounds, self.factor)

    def _distance(self, results: Results) -> Outcome:
        """Measure the distance of each case's CDF from the last case's."""
        *others, last = [term for term in self.terms if isinstance(term, Term)]
        measured = {
            f"{term.case} - {last.case}": mean(
                [
                    cdf_distance(cdf_points(run, str(term.cdf)), cdf_points(other, str(last.cdf)))
                    for run, other in zip(results[term.case], results[last.case], strict=True)
                ]
            )
            for term in others
        }
        return RELATIONS["value"](measured, self.bounds, self.factor)

    def _score_difference(self, results: Results) -> Outcome:
        """Measure the difference of the fairness scores of each case and the last one."""
        *others, last = [term for term in self.terms if isinstance(term, Term)]
        measured = {
            f"{term.case} - {last.case}": score_difference(
                results[term.case], results[last.case], term.cls
            )
            for term in others
        }
        return RELATIONS["value"](measured, self.bounds, self.factor)

    def _bins(self, results: Results) -> list[tuple[float, float]]:
        first = next(term for term in self.terms if isinstance(term, Term))
        found = bins(results[first.case][0], first.cls)
        return [
            (one["low_bytes"], one["high_bytes"])
            for one in found
            if one.get("low_bytes") is not None
            and one.get("high_bytes") is not None
            and one["high_bytes"] <= self.below
        ]


def _in_bin(term: Term | Formula, low: float, high: float) -> Term | Formula:
    return term if isinstance(term, Formula) else replace(term, range={"low": low, "high": high})


def _least(found: Outcome) -> float:
    return min(math.inf if value is None else value for value in found.measured.values())


def _long_name(term: Term | Formula) -> str:
    if isinstance(term, Formula):
        return term.case
    where = term.range if isinstance(term.range, str) else _bounds(term.range)
    parts = [term.path or term.cdf or f"{where} {term.statistic}", term.cls]
    return " ".join([term.case, *[part for part in parts if part]])


def _bounds(range_: Mapping[str, float]) -> str:
    low, high = (f"{value:g}" for _, value in sorted(range_.items(), reverse=True))
    return f"[{low}, {high})"


@dataclass(frozen=True)
class Claim:
    """One claim of a paper, numbered as in `SPEC.md`."""

    id: str
    where: str
    text: str
    paper: str
    explanation: str
    experiments: tuple[str, ...]
    needs: tuple[str, ...]
    shown_by: str
    checks: tuple[Check, ...]

    def about(self, experiment: str) -> list[Check]:
        """Return the checks that apply to an experiment."""
        return [check for check in self.checks if check.experiment in (None, experiment)]


@dataclass(frozen=True)
class Verdict:
    """A checked claim. `holds` is None if too few samples leave it undecided.

    With three or more seeds, `intervals` holds the numbers' 95 % confidence intervals and `seeds`
    the verdict of each single seed.
    """

    claim: Claim
    measured: dict[str, float | None]
    holds: bool | None
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    seeds: tuple[bool | None, ...] = ()


@dataclass(frozen=True)
class NotRun:
    """A claim that was not checked and its missing requirements (none: see its `shown_by`)."""

    claim: Claim
    needs: tuple[str, ...]


def load_claims(file: Path) -> list[Claim]:
    """Read a claims file. Raises `UsageError` with the name of an invalid claim."""
    top = Reader(read_toml(file), str(file))
    tables = top.get("claim", list, [])
    top.done()
    claims = [_claim(table, file, i) for i, table in enumerate(tables, 1)]
    seen = set()
    for claim in claims:
        if claim.id in seen:
            raise UsageError(f"{file}: duplicate claim {claim.id}")
        seen.add(claim.id)
    return claims


def _claim(table: Any, file: Path, number: int) -> Claim:
    name = table.get("id", f"number {number}") if isinstance(table, dict) else f"number {number}"
    where = f"{file}: claim {name}"
    reader = Reader(table, where)
    own = {key: reader.get(key, object) for key in CHECK_KEYS if key in reader}
    parts = reader.get("check", list, [{}] if "metric" in own else [])
    named = reader.get("experiment", (str, list), [])
    claim = Claim(
        id=reader.need("id", str),
        where=reader.get("where", str, ""),
        text=reader.need("text", str),
        paper=str(reader.get("paper", (str, int, float), "")),
        explanation=reader.get("explanation", str, ""),
        experiments=(named,) if isinstance(named, str) else tuple(named),
        needs=tuple(reader.strings("needs")),
        shown_by=reader.get("shown_by", str, ""),
        checks=tuple(_check(own, part, where) for part in parts),
    )
    reader.done()
    if not (claim.checks or claim.needs or claim.shown_by):
        raise UsageError(
            f"{where}: give `metric` or `[[claim.check]]`, or else `needs` or `shown_by`"
        )
    if any(check.runs for check in claim.checks) and not claim.experiments:
        raise UsageError(f"{where}: `experiment` is missing")
    for check in claim.checks:
        if check.experiment not in (None, *claim.experiments):
            raise UsageError(
                f"{where}: check: `{check.experiment}` is not in the claim's `experiment`"
            )
    return claim


def _check(own: dict[str, Any], part: Any, where: str) -> Check:
    extra = Reader(part, f"{where}: check")
    for key in CHECK_KEYS:
        extra.get(key, object)
    experiment = extra.get("experiment", str)
    extra.done()
    reader = Reader({**own, **part}, where)
    shared = read_term(reader, bins_too=True)
    terms = [{"case": case} for case in reader.strings("cases")]
    terms += reader.get("terms", list, [])
    metric = reader.choice("metric", (*RELATIONS, DISTANCE, SCORE))
    bounds = Bounds(reader.number("low"), reader.number("high"))
    if bounds == Bounds() and metric in BOUNDED:
        raise UsageError(f"{where}: `{metric}` requires `low`, `high` or both")
    if metric == DISTANCE and "cdf" not in shared:
        raise UsageError(f"{where}: `{DISTANCE}` requires `cdf`")
    least = 1 if metric in SINGLE else 2
    if len(terms) < least and "@*" not in str(terms):
        raise UsageError(f"{where}: `{metric}` requires at least {least} `cases` (or `terms`)")
    by_bin = shared["range"] if shared.get("range") in BY_BIN else None
    if by_bin:
        del shared["range"]
    elif "below" in reader:
        raise UsageError(f"{where}: `below` requires `range` to be one of {', '.join(BY_BIN)}")
    return Check(
        metric=metric,
        terms=tuple(_own_term(table, shared, where) for table in terms),
        bounds=bounds,
        factor=reader.number("factor", 1.0) or 1.0,
        by_bin=by_bin,
        below=reader.number("below", math.inf) or math.inf,
        experiment=experiment,
    )


def _own_term(table: Any, shared: dict[str, Any], where: str) -> Term | Formula:
    reader = Reader(table, f"{where}: term")
    if "theory" in reader:
        return _formula(reader)
    own = read_term(reader)
    case = reader.need("case", str)
    reader.done()
    return Term(**{**shared, **own, "case": case})


def _formula(reader: Reader) -> Formula:
    name = reader.choice("theory", FORMULAS)
    arguments = Reader(reader.get("arguments", dict, {}), f"{reader.where}: {name}")
    given = {key: arguments.number(key) for key in signature(FORMULAS[name]).parameters}
    arguments.done()
    scale = reader.number("scale", 1.0)
    reader.done()
    missing = [key for key, value in given.items() if value is None]
    if missing:
        raise UsageError(f"{arguments.where}: `{missing[0]}` is missing")
    return Formula(name, {key: float(value or 0.0) for key, value in given.items()}, scale or 1.0)


def evaluate(
    claims: Sequence[Claim], experiment: str, results: Results
) -> tuple[list[Verdict], list[NotRun]]:
    """Check the claims about one experiment, and those without an experiment."""
    verdicts: list[Verdict] = []
    rest: list[NotRun] = []
    for claim in claims:
        if claim.experiments and experiment not in claim.experiments:
            continue
        missing = list(claim.needs)
        checks = [check.expand(list(results), missing) for check in claim.about(experiment)]
        if missing or not checks:
            rest.append(NotRun(claim, tuple(dict.fromkeys(missing))))
            continue
        verdicts.append(_verdict(claim, [check.run(results) for check in checks]))
    return verdicts, rest


def _verdict(claim: Claim, outcomes: Sequence[Outcome]) -> Verdict:
    """Combine the numbers of all checks; duplicate names get a number."""
    measured: dict[str, float | None] = {}
    ends: dict[str, tuple[float, float]] = {}
    for outcome in outcomes:
        for name, value in outcome.measured.items():
            key, copy = name, 2
            while key in measured:
                key, copy = f"{name} ({copy})", copy + 1
            measured[key] = value
            if name in outcome.intervals:
                ends[key] = outcome.intervals[name]
    return Verdict(claim, measured, every([o.holds for o in outcomes]), ends, _by_seed(outcomes))


def _by_seed(outcomes: Sequence[Outcome]) -> tuple[bool | None, ...]:
    """Return whether all checks hold, for each seed; empty if the checks differ in seeds."""
    if len({len(outcome.seeds) for outcome in outcomes}) != 1:
        return ()
    return tuple(every(list(held)) for held in zip(*(o.seeds for o in outcomes), strict=True))
