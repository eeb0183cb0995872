"""A finished run: its tables, its summary and its identity."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff.errors import IncompleteRunError, UsageError, as_path
from xoff.integrity import RunFiles, open_run_dir
from xoff.manifest import OPTIONAL_TABLES, SCENARIO, SUMMARY, table_file
from xoff.sections import read_summary

if TYPE_CHECKING:
    import pyarrow as pa


class Result:
    """One finished run.

    `flows` has one row a finished flow, in the order (time, flow) of finishing:
    `flow`, `src`, `dst`, `size_bytes`, `start_ps`, `fct_ps`, `rx_fct_ps`, `ideal_fct_ps`
    (picoseconds), `slowdown` (>= 1), `class` (index into `summary["classes"]`).
    `samples` has one row a sample of a switch or port, `ports` one row a port at the end.
    `flow_series` and `port_samples` are there only if `run.flow_series`, `run.port_samples` say so,
    `queries` and `requests`, one row each, only with traffic of kind `queries`.
    Tables are read from the run directory on first use, verified, and kept.
    """

    def __init__(
        self,
        summary: dict[str, Any],
        effective: str,
        digest: str,
        path: Path | None = None,
        tables: dict[str, pa.Table] | None = None,
        files: RunFiles | None = None,
    ) -> None:
        self.summary = summary
        self.effective = effective
        self.digest = digest
        self.path = path
        self.files = files
        self._tables = tables or {}

    def __repr__(self) -> str:
        name = self.summary.get("name", "?")
        return f"<xoff.Result {name} scheme={self.scheme} digest={self.digest}>"

    @property
    def scheme(self) -> str:
        """Name of the scheme that ran."""
        return str(self.summary.get("scheme", "?"))

    @cached_property
    def classes(self) -> list[str]:
        """Names of the traffic classes, in the order of the column `class`."""
        return [str(entry.get("class", i)) for i, entry in enumerate(self.class_entries)]

    @property
    def class_entries(self) -> list[dict[str, Any]]:
        """The summary of each traffic class."""
        return list(self.summary.get("classes") or [])

    @property
    def flows(self) -> pa.Table:
        """Finished flows, one row each."""
        return self._table("flows")

    @property
    def samples(self) -> pa.Table:
        """Samples of switches and ports over time."""
        return self._table("samples")

    @property
    def ports(self) -> pa.Table:
        """One row a port, at the end of the run."""
        return self._table("ports")

    @property
    def flow_series(self) -> pa.Table:
        """What each flow's receiver got in each interval of `run.flow_series`.

        Raises `UsageError` where the run recorded none.
        """
        return self._table("flow_series")

    @property
    def port_samples(self) -> pa.Table:
        """What each port held, sent and lost in each interval of `run.port_samples`.

        Raises `UsageError` where the run recorded none.
        """
        return self._table("port_samples")

    @property
    def queries(self) -> pa.Table:
        """Queries that ended, one row each.

        Raises `UsageError` where the run had none.
        """
        return self._table("queries")

    @property
    def requests(self) -> pa.Table:
        """Web requests that ended, one row each.

        Raises `UsageError` where the run had none.
        """
        return self._table("requests")

    def _table(self, name: str) -> pa.Table:
        if name not in self._tables:
            file = table_file(name)
            if name in OPTIONAL_TABLES and (self.files is None or file not in self.files):
                raise UsageError(f"this run recorded no {name}: {OPTIONAL_TABLES[name]}")
            assert self.files is not None, "a result in memory holds all its tables"
            from xoff.tables import read_table

            self._tables[name] = read_table(name, self.files.path(file))
        return self._tables[name]


def load(run_dir: str | os.PathLike[str]) -> Result:
    """Load a finished run directory, once all of its files are verified.

    Raises `IncompleteRunError` where the folder is an interrupted or failed run or a file is
    missing or damaged, `UsageError` where it is not a run of xoff at all.
    """
    folder = as_path(run_dir, "a run directory")
    files = open_run_dir(folder)
    summary = read_summary(files.text(SUMMARY), folder / SUMMARY)
    digest = files.manifest.get("digest")
    if digest != summary["digest"]:
        raise IncompleteRunError(
            f"{folder} is damaged: manifest.json and {SUMMARY} are of different runs (digests "
            f"{digest} and {summary['digest']}); run it again"
        )
    return Result(summary, files.text(SCENARIO), str(digest), folder, files=files)
