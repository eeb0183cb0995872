"""A finished run: summary, tables, effective scenario and digest."""

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

    - `summary`: the contents of `summary.json`; `effective`: the effective scenario as TOML;
      `digest`: the digest of the run; `path`: the run directory (None: in memory).
    - `flows`: one row per finished flow, ordered by (finish time, flow): `flow`, `src`, `dst`,
      `size_bytes`, `start_ps`, `fct_ps`, `rx_fct_ps`, `ideal_fct_ps` (picoseconds), `slowdown`
      (>= 1), `class` (index into `summary["classes"]`).
    - `samples`: one row per sample of a switch or port. `ports`: one row per port, at the end.
    - `flow_series`, `port_samples`: only with `run.flow_series`, `run.port_samples`.
    - `queries`, `requests`: one row per query or web request, only with traffic of kind `queries`.

    Tables are read from the run directory on first use, verified, and cached.
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
        """Summary of each traffic class."""
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
        """Bytes received and delivered per flow and interval of `run.flow_series`.

        Raises `UsageError` if the run recorded none.
        """
        return self._table("flow_series")

    @property
    def port_samples(self) -> pa.Table:
        """Queue, sent and dropped bytes per port and interval of `run.port_samples`.

        Raises `UsageError` if the run recorded none.
        """
        return self._table("port_samples")

    @property
    def queries(self) -> pa.Table:
        """Finished queries, one row each.

        Raises `UsageError` if the run had none.
        """
        return self._table("queries")

    @property
    def requests(self) -> pa.Table:
        """Finished web requests, one row each.

        Raises `UsageError` if the run had none.
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
    """Load a finished run directory after verifying all of its files.

    Raises `IncompleteRunError` if the run was interrupted or failed, or a file is missing or
    damaged; `UsageError` if the folder is not a run directory.
    """
    folder = as_path(run_dir, "a run directory")
    files = open_run_dir(folder)
    summary = read_summary(files.text(SUMMARY), folder / SUMMARY)
    digest = files.manifest.get("digest")
    if digest != summary["digest"]:
        raise IncompleteRunError(
            f"{folder} is damaged: manifest.json and {SUMMARY} belong to different runs "
            f"(digests {digest} and {summary['digest']}); run it again"
        )
    return Result(summary, files.text(SCENARIO), str(digest), folder, files=files)
