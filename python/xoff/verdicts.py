"""Verdicts on claims: does a check hold, with the uncertainty of what was measured?

A check *holds* if its numbers satisfy the relation and do so in at least 97.5 % of the bootstrap's
draws (`sampling`), and *fails* if they violate it and do so in as many. Otherwise its interval
crosses the bound, and it is *undecided*. It is also undecided where the outcome depends on how
slow unfinished flows would have been. A claim holds if all its checks hold, and fails if any fails.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from xoff import sampling, units
from xoff.claims import DISTANCE, SCORE, SIMULATED, Check, Claim, Formula, Results
from xoff.lookup import bins
from xoff.metrics import Term, cdf_distance, cdf_points, score_difference
from xoff.relations import RELATIONS, Bounds, Outcome, every, sign, some
from xoff.result import Result
from xoff.sampling import AGREEMENT, DRAWS, MISSING, Sample, exact

HOLDS, FAILS, UNDECIDED, NOT_RUN = "holds", "fails", "undecided", "not-run"
WORDS = (HOLDS, FAILS, UNDECIDED, NOT_RUN)
_WORD_OF = {True: HOLDS, False: FAILS, None: UNDECIDED}
# With more censored numbers in a check, not every combination of their ends is tried.
MOST_CENSORED = 5

Pick = Callable[[Sample], float | None]
Part = tuple[str, Mapping[str, Sample]]


@dataclass(frozen=True)
class Measured:
    """A number of a claim with its 95 % confidence interval.

    `at_least`: it rests on unfinished flows, and `value` is a bound: the least it can be.
    """

    value: float | None
    unit: str
    interval: tuple[float, float] | None = None
    at_least: bool = False


@dataclass(frozen=True)
class Verdict:
    """A claim checked in one experiment.

    `direction` says whether at least the sign of the effect is the paper's; None if the claim is
    about a value without a sign, and fails. `seeds` is the largest number of runs of a case.
    `is_cause` marks an experiment that removes the cause of a failure (`Claim.without`).
    """

    claim: Claim
    verdict: str
    direction: bool | None
    measured: Mapping[str, Measured]
    seeds: int
    is_cause: bool = False

    @property
    def holds(self) -> bool | None:
        """Whether the claim holds; None if that is undecided."""
        return {HOLDS: True, FAILS: False}.get(self.verdict)


@dataclass(frozen=True)
class NotRun:
    """A claim that was not checked and its missing requirements (none: see its `shown_by`)."""

    claim: Claim
    needs: tuple[str, ...]


def evaluate(
    claims: Sequence[Claim], experiment: str, results: Results
) -> tuple[list[Verdict], list[NotRun]]:
    """Check the claims about one experiment, and those without an experiment."""
    verdicts: list[Verdict] = []
    rest: list[NotRun] = []
    for claim in claims:
        is_cause = experiment in claim.without
        if claim.experiments and experiment not in claim.experiments and not is_cause:
            continue
        missing = list(claim.needs)
        own = list(claim.checks) if is_cause else claim.about(experiment)
        checks = [check.expand(list(results), missing) for check in own]
        if missing or not checks:
            if not is_cause:
                rest.append(NotRun(claim, tuple(dict.fromkeys(missing))))
            continue
        verdicts.append(_verdict(claim, [judge(check, results) for check in checks], is_cause))
    return verdicts, rest


@dataclass(frozen=True)
class Judgement:
    """Outcome of one check."""

    holds: bool | None
    direction: bool | None
    measured: Mapping[str, Measured]
    seeds: int


def _verdict(claim: Claim, found: Sequence[Judgement], is_cause: bool) -> Verdict:
    """Combine the outcomes of all checks; duplicate names get a number."""
    measured: dict[str, Measured] = {}
    for one in found:
        for name, value in one.measured.items():
            key, copy = name, 2
            while key in measured:
                key, copy = f"{name} ({copy})", copy + 1
            measured[key] = value
    word = _WORD_OF[every([one.holds for one in found])]
    direction = every([one.direction for one in found])
    return Verdict(claim, word, direction, measured, max(one.seeds for one in found), is_cause)


def judge(check: Check, results: Results) -> Judgement:
    """Run a check on the runs of an experiment."""
    parts, relation = _parts(check, results)
    samples = [sample for _, values in parts for sample in values.values()]

    def outcome(pick: Pick, bounds: Bounds, factor: float) -> Outcome:
        related = [
            (name, relation({key: pick(s) for key, s in values.items()}, bounds, factor))
            for name, values in parts
        ]
        return _combine(check, related)

    ends = list(_ends(samples))
    at_ends = [outcome(pick, check.bounds, check.factor) for pick in ends]
    said = {found.holds for found in at_ends}
    holds = said.pop() if len(said) == 1 else None
    drawn = [
        [outcome(pick, check.bounds, check.factor) for pick in _ends(samples, draw)]
        for draw in (range(DRAWS) if any(s.draws is not None for s in samples) else ())
    ]
    if drawn and holds is not None:
        agree = sum(all(found.holds == holds for found in one) for one in drawn)
        holds = holds if agree >= AGREEMENT * len(drawn) else None
    direction: bool | None = holds or None
    if (signed := sign(check.metric, check.bounds)) is not None:
        bounds, factor = signed[0], check.factor if signed[1] is None else signed[1]
        direction = every([outcome(pick, bounds, factor).holds for pick in ends])
    seeds = max((len(results.get(term.case, ())) for term in check.terms), default=0)
    return Judgement(holds, direction, _measured(check, at_ends, drawn), seeds)


def _parts(check: Check, results: Results) -> tuple[list[Part], Callable[..., Outcome]]:
    """Return the samples that the relation is applied to, per size bin, and the relation."""
    if check.metric in (DISTANCE, SCORE):
        measure = _distance if check.metric == DISTANCE else _score_difference
        return [("", _differences(check, results, measure))], RELATIONS["value"]
    relation = RELATIONS[check.metric]
    if check.by_bin is None:
        return [("", _samples(check.terms, results))], relation
    parts: list[Part] = []
    for low, high in _bins(check, results):
        values = _samples([_in_bin(term, low, high) for term in check.terms], results)
        if MISSING not in values.values():
            parts.append((f"[{low:g}, {high:g})", values))
    return parts, relation


def _samples(terms: Sequence[Term | Formula], results: Results) -> dict[str, Sample]:
    cases = {term.case for term in terms}
    found: dict[str, Sample] = {}
    count: Counter[str] = Counter()
    for term in terms:
        name = term.case if len(cases) == len(terms) else units.long_name(term)
        count[name] += 1
        found[name if count[name] == 1 else f"{name} ({count[name]})"] = _sample(term, results)
    return found


def _sample(term: Term | Formula, results: Results) -> Sample:
    if isinstance(term, Formula):
        return exact(term.value())
    return sampling.of_term(term, results.get(term.case, ()))


def _combine(check: Check, related: Sequence[tuple[str, Outcome]]) -> Outcome:
    if check.by_bin is None:
        return related[0][1]
    if check.by_bin == "least-bin":
        related = sorted(related, key=lambda part: _least(part[1]))[:1]
    measured = {f"{b} {name}": v for b, found in related for name, v in found.measured.items()}
    verdicts = [found.holds for _, found in related]
    return Outcome(measured, some(verdicts) if check.by_bin == "any-bin" else every(verdicts))


def _ends(samples: Sequence[Sample], draw: int | None = None) -> Iterator[Pick]:
    """Yield functions that pick a number of each sample: all combinations of censored ends.

    Unfinished flows may bound a number in some draws only. With too many censored numbers, only all
    lower and all upper ends.
    """

    def end(sample: Sample, which: int) -> float | None:
        if draw is None or sample.draws is None:
            return sample.high if which else sample.low
        found = float(sample.draws[which][draw])
        return None if math.isnan(found) else found

    def chosen_end(chosen: Mapping[int, int], sample: Sample) -> float | None:
        return end(sample, chosen.get(id(sample), 0))

    open_ones = [sample for sample in samples if end(sample, 0) != end(sample, 1)]
    if len(open_ones) > MOST_CENSORED:
        yield lambda sample: end(sample, 0)
        yield lambda sample: end(sample, 1)
        return
    for choice in itertools.product((0, 1), repeat=len(open_ones)):
        chosen = {id(sample): which for sample, which in zip(open_ones, choice, strict=True)}
        yield partial(chosen_end, chosen)


def _measured(
    check: Check, at_ends: Sequence[Outcome], drawn: Sequence[Sequence[Outcome]]
) -> dict[str, Measured]:
    """Return the numbers at their lower ends, with intervals over all draws and ends."""
    shown = {}
    for name, value in at_ends[0].measured.items():
        found = {outcome.measured.get(name) for outcome in at_ends}
        known = [x for x in found if x is not None]
        value = min(known) if len(known) == len(found) else value
        unit = units.of_check(check, name)
        shown[name] = Measured(value, unit, _interval(name, drawn), len(found) > 1)
    return shown


def _interval(name: str, drawn: Sequence[Sequence[Outcome]]) -> tuple[float, float] | None:
    """Return the 95 % interval of a number; None if it is missing from many draws."""
    lows, highs = [], []
    for ends in drawn:
        found = [outcome.measured.get(name) for outcome in ends]
        known = [x for x in found if x is not None and not math.isnan(x)]
        if known:
            lows.append(min(known))
            highs.append(max(known))
    return sampling.interval(lows, highs)


def _differences(
    check: Check, results: Results, measure: Callable[[Term, Result, Term, Result], float | None]
) -> dict[str, Sample]:
    """Measure how far each case is from the last one, seed by seed."""
    *others, last = [term for term in check.terms if isinstance(term, Term)]
    return {
        f"{term.case} - {last.case}": sampling.over_seeds(
            [
                measure(term, run, last, other)
                for run, other in _pairs(results[term.case], results[last.case])
            ]
        )
        for term in others
    }


def _pairs(runs: Sequence[Result], others: Sequence[Result]) -> list[tuple[Result, Result]]:
    """Return the runs of two cases in order, or those with the same seed if one has more."""
    if len(runs) == len(others):
        return list(zip(runs, others, strict=True))
    known = {other.summary["seed"]: other for other in others}
    return [(run, known[seed]) for run in runs if (seed := run.summary["seed"]) in known]


def _distance(term: Term, run: Result, last: Term, other: Result) -> float | None:
    return cdf_distance(cdf_points(run, str(term.cdf)), cdf_points(other, str(last.cdf)))


def _score_difference(term: Term, run: Result, _last: Term, other: Result) -> float | None:
    return score_difference([run], [other], term.cls)


def _bins(check: Check, results: Results) -> list[tuple[float, float]]:
    """Return the limits of the size bins up to `below` bytes."""
    first = next(term for term in check.terms if isinstance(term, Term))
    runs = results.get(first.case, ())
    found = []
    for one in bins(runs[0], first.cls) if runs else []:
        low, high = one.get("low_bytes") or 0, one.get("high_bytes")
        if high is not None and high <= check.below:
            found.append((float(low), float(high)))
    return found


def _in_bin(term: Term | Formula, low: float, high: float) -> Term | Formula:
    return term if isinstance(term, Formula) else replace(term, range={"low": low, "high": high})


def _least(found: Outcome) -> float:
    return min(math.inf if value is None else value for value in found.measured.values())


def undecided_cases(verdicts: Sequence[Verdict], results: Results) -> list[str]:
    """Return the labels of the cases that undecided simulated claims are about."""
    found: dict[str, None] = {}
    for verdict in verdicts:
        if verdict.verdict != UNDECIDED or verdict.claim.kind != SIMULATED:
            continue
        for check in verdict.claim.checks:
            for term in check.expand(list(results), []).terms:
                if isinstance(term, Term):
                    found[term.case] = None
    return list(found)
