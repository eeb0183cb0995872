"""`claims.toml`: a paper's claims, checked against measurements.

A claim has one or more checks. A check applies a relation (`relations.RELATIONS`) to numbers of
cases (`metrics.Term`); `verdicts` runs it. A claim that cannot be checked yet has `needs`.

There are three kinds of claims. The engine decides a *simulated* claim. A *computed* claim follows
by arithmetic or a closed form from the paper's own inputs; it has no experiment, or says
`kind = "computed"`. A *test* of the code shows the third kind (`shown_by`).

The `cause` says why a claim fails. `without` names the experiments that remove the cause; the
claim's checks are repeated there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any

from xoff.errors import UsageError
from xoff.metrics import Term
from xoff.relations import RELATIONS, Bounds
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
SIMULATED, COMPUTED, TEST = "simulated", "computed", "test"
KINDS = (SIMULATED, COMPUTED, TEST)
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

    def value(self) -> float:
        """Return the number."""
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


@dataclass(frozen=True)
class Claim:
    """One claim of a paper, numbered as in `SPEC.md`."""

    id: str
    where: str
    text: str
    paper: str
    kind: str
    explanation: str
    cause: str
    experiments: tuple[str, ...]
    without: tuple[str, ...]
    needs: tuple[str, ...]
    shown_by: str
    checks: tuple[Check, ...]

    def about(self, experiment: str) -> list[Check]:
        """Return the checks that apply to an experiment."""
        return [check for check in self.checks if check.experiment in (None, experiment)]


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
    experiments = (named,) if isinstance(named, str) else tuple(named)
    shown_by = reader.get("shown_by", str, "")
    usual = SIMULATED if experiments else COMPUTED
    claim = Claim(
        id=reader.need("id", str),
        where=reader.get("where", str, ""),
        text=reader.need("text", str),
        paper=str(reader.get("paper", (str, int, float), "")),
        kind=reader.choice("kind", (SIMULATED, COMPUTED), usual) if not shown_by else TEST,
        explanation=reader.get("explanation", str, ""),
        cause=reader.get("cause", str, ""),
        experiments=experiments,
        without=tuple(reader.strings("without")),
        needs=tuple(reader.strings("needs")),
        shown_by=shown_by,
        checks=tuple(_check(own, part, where) for part in parts),
    )
    reader.done()
    if not (claim.checks or claim.needs or claim.shown_by):
        raise UsageError(
            f"{where}: give `metric` or `[[claim.check]]`, or else `needs` or `shown_by`"
        )
    if any(check.runs for check in claim.checks) and not claim.experiments:
        raise UsageError(f"{where}: `experiment` is missing")
    if claim.kind == SIMULATED and not claim.experiments:
        raise UsageError(f"{where}: a simulated claim needs an `experiment`")
    if bool(claim.cause) != bool(claim.without):
        raise UsageError(f"{where}: give both `cause` and `without`, or neither")
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
