"""A finished run: summary, tables, effective scenario and digest."""

from __future__ import annotations

import html
import os
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xoff.budget import EarlyEnd
from xoff.declared import Class, ConvergenceSummary, FluidSummary, Summary, Tables
from xoff.errors import IncompleteRunError, UsageError, as_path
from xoff.integrity import RunFiles, open_run_dir
from xoff.manifest import SCENARIO, SUMMARY, table_file
from xoff.manifest import tables as declared_tables
from xoff.sections import read_summary

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

FLOW_SCHEDULERS = frozenset({"per-flow", "per-flow-srf", "pfabric"})
"""Schedulers that know the flows of their packets."""


class Result(Tables):
    """One finished run: its tables, and `summary`, its results in brief.

    The column `class` of a table has the names of classes, as an Arrow dictionary.

    Tables are read from the run directory on first use, verified, and cached. `summary` has the
    keys of a run with packets; `fluid` and `convergence` are the summaries of the other engines.
    """

    def __init__(
        self,
        summary: Mapping[str, Any],
        effective: str,
        digest: str,
        path: Path | None = None,
        tables: dict[str, pa.Table] | None = None,
        files: RunFiles | None = None,
    ) -> None:
        self.summary = cast(Summary, summary)
        self.effective = effective
        self.digest = digest
        self.path = path
        self.files = files
        self._tables = tables or {}
        self._named: dict[str, pa.Table] = {}

    def __repr__(self) -> str:
        name = self.summary.get("name", "?")
        early = f", {self.ended_early.text}" if self.ended_early else ""
        return f"<xoff.Result {name} scheme={self.scheme} digest={self.digest}{early}>"

    def _repr_html_(self) -> str:
        """Return the summary that `xoff run` prints, for notebooks."""
        from xoff import summary

        return f"<pre>{html.escape(summary.render(self))}</pre>"

    @property
    def scheme(self) -> str:
        """Name of the scheme that ran."""
        return str(self.summary.get("scheme", "?"))

    @property
    def ended_early(self) -> EarlyEnd | None:
        """Where and why the run ended early; None if it is whole."""
        return EarlyEnd.read(self.summary)

    @cached_property
    def classes(self) -> list[str]:
        """Names of the traffic classes, in the order of their numbers in a run directory."""
        return [str(entry.get("class", i)) for i, entry in enumerate(self.class_entries)]

    @property
    def class_entries(self) -> list[Class]:
        """Summary of each traffic class."""
        return list(self.summary.get("classes") or [])

    @property
    def fluid(self) -> FluidSummary:
        """The summary of a run of the fluid engine. Raises `UsageError` for other runs."""
        return cast(FluidSummary, self._summary_of("fluid"))

    @property
    def convergence(self) -> ConvergenceSummary:
        """The summary of a run of the convergence engine. Raises `UsageError` for other runs."""
        return cast(ConvergenceSummary, self._summary_of("convergence"))

    def _summary_of(self, engine: str) -> Any:
        found = self.summary.get("engine", "packets")
        if found != engine:
            raise UsageError(f"this is a run of the engine {found!r}, not of {engine!r}")
        return self.summary

    def has_table(self, name: str) -> bool:
        """Return whether the run recorded an optional table."""
        return name in self._tables or (self.files is not None and table_file(name) in self.files)

    @cached_property
    def batch_count(self) -> int:
        """Number of batches of the measured time (`run.batches`)."""
        return int(self._run_section["batches"])

    @property
    def has_every_flow(self) -> bool:
        """Whether every finished flow is a row of `flows` (`run.flows`)."""
        return str(self._run_section["flows"]) == "all"

    @property
    def counts_flows(self) -> bool:
        """Whether `active_flows` counts flows; if not, it counts queues in use (`switch`)."""
        switch = self._settings.get("switch", {})
        return switch.get("hop") == "bfc" or switch.get("scheduler") in FLOW_SCHEDULERS

    @property
    def _run_section(self) -> dict[str, Any]:
        return dict(self._settings["run"])

    @cached_property
    def _settings(self) -> dict[str, Any]:
        return dict(tomllib.loads(self.effective))

    @cached_property
    def batch_groups(self) -> dict[tuple[str, str, str], dict[str, NDArray[np.float64]]]:
        """The rows of the table `batches` by (kind, class name, group).

        `middle` is the middle of each row's bucket; the other columns are the table's.
        """
        from xoff.batches import by_group

        return by_group(self.table("batches"))

    def table(self, name: str) -> pa.Table:
        """Return a table. Raises `UsageError` if the run has no such table."""
        if name not in self._named:
            from xoff.tables import with_class_names

            self._named[name] = with_class_names(self._table(name), self.classes)
        return self._named[name]

    def _table(self, name: str) -> pa.Table:
        """Return a table as it is in the run directory: classes are numbers."""
        if name not in self._tables:
            file, known = table_file(name), declared_tables()
            if name not in known:
                raise UsageError(f"no table is called {name!r}; there are {', '.join(known)}")
            if known[name] is not None and (self.files is None or file not in self.files):
                raise UsageError(f"this run recorded no {name}: {known[name]}")
            assert self.files is not None, "a result in memory holds all its tables"
            from xoff.tables import read_table

            self._tables[name] = read_table(name, self.files.path(file))
        return self._tables[name]

    def paths_of(self, flow: int) -> dict[int, list[str]]:
        """Return the names of the nodes on a flow's paths, by the time (ps) when they began.

        A name is the label of a node, or its layer and number. Several times, if routes changed
        under way (`[[fault]]`). Raises `UsageError` if the run recorded no paths (`run.paths`), or
        none of this flow.
        """
        import pyarrow.compute as pc

        from xoff.tables import names_of_nodes

        names = names_of_nodes(self.nodes)
        found: dict[int, list[str]] = {}
        for row in self.paths.filter(pc.field("flow") == flow).to_pylist():
            path = found.setdefault(row["since_ps"], [names[row["node"]]])
            path.append(names[row["peer"]])
        if not found:
            raise UsageError(
                f"no path of flow {flow}: it did not begin, or run.flows did not select it"
            )
        return found


def load(run_dir: str | os.PathLike[str], partial: bool = False) -> Result:
    """Load a finished run directory after verifying all of its files.

    With `partial`, a run that ended early by its budget is loaded, too, also from
    `<run_dir>.partial`: `Result.ended_early` says where. Raises `IncompleteRunError` if the run was
    interrupted or failed, or a file is missing or damaged; `UsageError` if the folder is not a run
    directory.
    """
    folder = as_path(run_dir, "a run directory")
    files = open_run_dir(folder, partial)
    folder = files.folder
    summary = read_summary(files.text(SUMMARY), folder / SUMMARY)
    digest = files.manifest.get("digest")
    if digest != summary["digest"]:
        raise IncompleteRunError(
            f"{folder} is damaged: manifest.json and {SUMMARY} belong to different runs "
            f"(digests {digest} and {summary['digest']}); run it again"
        )
    return Result(summary, files.text(SCENARIO), str(digest), folder, files=files)
