"""The data of the page, as a value that JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xoff import engine, numerical
from xoff.errors import UsageError
from xoff.html_report import summaries
from xoff.html_report.links import links
from xoff.html_report.recorder import Recorder, columns
from xoff.html_report.scenarios import differences
from xoff.result import Result
from xoff.tables import names_of_nodes

Array = Any

FORMAT = 1
"""Version of the data's form, which the page checks."""
PORT_COLUMNS = (
    *("node", "port", "peer", "link", "rate_bps"),
    *("tx_bytes", "paused_ps", "pauses", "drops"),
)


def page_data(runs: Sequence[dict[str, Any]], scenarios: Sequence[str]) -> dict[str, Any]:
    """Return the data of a page that shows these runs."""
    return {
        "format": FORMAT,
        "xoff": engine.version(),
        "runs": list(runs),
        "differences": differences(scenarios),
    }


def of_results(results: Mapping[str, Result]) -> dict[str, Any]:
    """Return the data of finished runs by label. Raises `UsageError` for runs without packets."""
    runs = [of_result(label, result, len(results)) for label, result in results.items()]
    return page_data(runs, [result.effective for result in results.values()])


def of_result(label: str, result: Result, runs: int = 1) -> dict[str, Any]:
    """Return the data of one of several finished runs."""
    if kind := numerical.engine_of(result.summary):
        raise UsageError(f"{label} is a run of the engine {kind}; a report needs runs with packets")
    ports = columns(result.ports, PORT_COLUMNS)
    recorder = Recorder(result.effective, ports, names_of_nodes(result.nodes), runs)
    if result.ended_early is not None:
        label = f"{label} (ended early)"
    for table in recorder.tables:
        if result.has_table(table):
            recorder.add(table, result.table(table))
    return of_run(label, result.summary, recorder, ports)


def of_run(
    label: str,
    summary: Mapping[str, Any],
    recorder: Recorder,
    ports: dict[str, Array],
    running: bool = False,
) -> dict[str, Any]:
    """Return the data of one run from its summary, its rows and the counters of its ports.

    Of a run that is `running`, the summary is that of a run that would end now.
    """
    times, trace = recorder.trace.read()
    return {
        "label": label,
        "name": str(summary.get("name", "?")),
        "scheme": str(summary.get("scheme", "?")),
        "digest": str(summary.get("digest", "")),
        "warnings": [] if running else [str(text) for text in summary.get("warnings") or []],
        "figures": summaries.key_figures(summary, "under way" if running else "unfinished"),
        "slowdown": summaries.slowdowns(list(summary.get("classes") or [])),
        "completion": _completion(summary, recorder),
        "buffer": summaries.buffer_cdf(summary),
        "trace": {
            "ms": [round(float(time) * 1e-9, 6) for time in times],
            "most": [int(value) for value in trace.get("most", ())],
            "mean": [round(float(value)) for value in trace.get("mean", ())],
        },
        "links": links(ports, recorder.names, int(summary.get("measured_ps") or 0)),
        "rates": recorder.rates.curves(),
        "fabric": None if recorder.fabric is None else recorder.fabric.payload(),
        "paths": None if recorder.paths is None else recorder.paths.payload(),
        "too_large": recorder.too_large,
    }


def _completion(summary: Mapping[str, Any], recorder: Recorder) -> list[dict[str, Any]]:
    found = []
    for index, entry in enumerate(summary.get("classes") or []):
        finished, unfinished = (int(entry.get(key) or 0) for key in ("finished", "unfinished"))
        groups = recorder.times.curves(index, finished, unfinished)
        if groups:
            rows = groups[0]["flows"]
            found.append(
                {
                    "class": str(entry.get("class")),
                    "rows": rows,
                    "finished": finished,
                    "groups": groups,
                }
            )
    return found
