"""The page of `xoff compare-reference --page`: a table, and a picture of the worst cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff.drafts import replace_text
from xoff.errors import UsageError, writing
from xoff.strict import read_toml
from xoff.text import markdown

if TYPE_CHECKING:
    from xoff.compare_reference import Case

WORST = 6
"""Pictures on a page."""

HEADER = ("case", "transport", "flows", "exact", "median", "p90", "p99", "max", "mean FCT", "noise")

INTRODUCTION = """# Fidelity: other simulators' answers, flow by flow

<!-- `xoff compare-reference FOLDER --page FILE` writes this page. -->

Each row is a case of another simulator. xoff runs the same flows on the same network, and compares
the completion time of each flow: from its start to the arrival at the sender of the acknowledgement
of its last byte. *exact* counts flows that end at the same nanosecond. Errors are absolute and
relative to the reference; *mean FCT* is the error of the mean, with its sign. *noise* is the 99th
percentile of the same error between the reference's own seeds, where something in it is random.
"""


def read_reasons(target: Path) -> dict[str, str]:
    """Return the reasons of the page `target`, from the TOML file of the same name.

    It has a text per pattern such as `ns3_dctcp_*`: what explains the differences of the cases that
    the pattern matches. Raises `UsageError` if the file is malformed, or `target` is no page.
    """
    if target.suffix != ".md":
        raise UsageError(f"--page {target}: a page is Markdown; give a name that ends in .md")
    if not target.parent.is_dir():
        raise UsageError(f"--page {target}: there is no folder {target.parent}; create it first")
    file = target.with_suffix(".toml")
    found = read_toml(file) if file.exists() else {}
    wrong = [pattern for pattern, text in found.items() if not isinstance(text, str)]
    if wrong:
        raise UsageError(f"{file}: {wrong[0]!r} must be a text")
    return found


def write(cases: Sequence[Case], target: Path, reasons: Mapping[str, str]) -> None:
    """Write the page with reasons by pattern, and its picture next to it.

    Raises `RunError` if the page cannot be written.
    """
    parts = [INTRODUCTION]
    for simulator in dict.fromkeys(case.reference for case in cases):
        own = [case for case in cases if case.reference == simulator]
        parts.append(f"## {simulator}\n")
        parts.append(markdown(HEADER, [_row(case) for case in own], left=2))
        notes = [
            f"- `{pattern}`: {text}"
            for pattern, text in reasons.items()
            if any(fnmatchcase(case.name, pattern) for case in own)
        ]
        parts.append("\n".join(notes) + "\n" if notes else "")
    worst = sorted((case for case in cases if case.compared), key=_p99, reverse=True)[:WORST]
    worst = [case for case in worst if case.exact() < case.flows]
    if worst:
        picture = target.with_suffix(".png")
        _draw(worst, picture)
        parts.append(f"## The largest errors\n\n![Errors of the worst cases]({picture.name})\n")
    with writing(target):
        replace_text(target, "\n".join(part for part in parts if part))


def _p99(case: Case) -> float:
    return float(case.figures()["error_p99"])


def _row(case: Case) -> list[str]:
    figures = case.figures()
    errors = ("error_median", "error_p90", "error_p99", "error_max", "mean_fct_error", "noise_p99")
    return [
        f"`{case.name}`",
        case.transport,
        f"{case.flows:,}",
        f"{case.exact():,}",
        *(_percent(figures[key]) for key in errors),
    ]


def _percent(share: float | None) -> str:
    """Format a share with three significant digits."""
    if share is None:
        return "-"
    return "0" if abs(share) < 5e-9 else f"{100 * share:.3g} %"


def _draw(cases: Sequence[Case], target: Path) -> None:
    """Draw the distribution of errors of each case, and that between the reference's seeds."""
    from xoff import plots  # matplotlib takes longer to load than a short case to run

    figure, axes = plots.new_figure(len(cases))
    for ax, case in zip(axes, cases, strict=True):
        _cumulative(ax, case.errors(), "xoff", "-")
        if case.noise:
            _cumulative(ax, case.noise, "other seeds", "--")
        ax.set_xscale("log")
        ax.set(title=case.name, xlabel="relative error of a flow's FCT", ylabel="share of flows")
    plots.legends(axes)
    plots.save_picture(figure, target, dpi=100)


LEAST = 1e-6
"""Errors below this are drawn there: the axis is logarithmic."""


def _cumulative(ax: Any, errors: Sequence[float], label: str, style: str) -> None:
    shares = [(place + 1) / len(errors) for place in range(len(errors))]
    ax.step([max(LEAST, error) for error in errors], shares, style, where="post", label=label)
