"""A finished run: its tables, its summary and its identity."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff.errors import IncompleteRunError, UsageError
from xoff.manifest import read_manifest

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = ("flows", "samples", "ports")
# Tables that are there only in some runs, and where they come from.
OPTIONAL_TABLES = {
    "flow_series": "set run.flow_series",
    "port_samples": "set run.port_samples",
    "queries": 'they come with [[traffic]] kind = "queries", unless run.flows = "none"',
    "requests": 'they come with [[traffic]] kind = "queries", unless run.flows = "none"',
}


class Result:
    """One finished run.

    `flows` has one row a finished flow, in the order (time, flow) of finishing:
    `flow`, `src`, `dst`, `size_bytes`, `start_ps`, `fct_ps`, `rx_fct_ps`, `ideal_fct_ps`
    (picoseconds), `slowdown` (>= 1), `class` (index into `summary["classes"]`).
    `samples` has one row a sample of a switch or port, `ports` one row a port at the end.
    `flow_series` and `port_samples` are there only if `run.flow_series`, `run.port_samples` say so,
    `queries` and `requests`, one row each, only with traffic of kind `queries`.
    Tables are read from the run directory on first use and kept.
    """

    def __init__(
        self,
        summary: dict[str, Any],
        effective: str,
        digest: str,
        path: Path | None = None,
        tables: dict[str, pa.Table] | None = None,
    ) -> None:
        self.summary = summary
        self.effective = effective
        self.digest = digest
        self.path = path
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
            import pyarrow.parquet as pq

            file = self.path / f"{name}.parquet" if self.path is not None else None
            if name in OPTIONAL_TABLES and (file is None or not file.is_file()):
                raise UsageError(f"this run recorded no {name}: {OPTIONAL_TABLES[name]}")
            assert file is not None, "a result in memory holds all its tables"
            try:
                self._tables[name] = pq.read_table(file)
            except (OSError, ValueError) as error:
                raise IncompleteRunError(f"cannot read {file}: {error}") from error
        return self._tables[name]


def load(run_dir: str | Path) -> Result:
    """Load a finished run directory.

    Raises `IncompleteRunError` where the folder is an interrupted or failed run or misses
    a file, `UsageError` where it is not a run of xoff at all.
    """
    folder = Path(run_dir)
    manifest = read_manifest(folder)
    if manifest is None:
        partial = folder.with_name(folder.name + ".partial")
        if read_manifest(partial) is not None:
            raise IncompleteRunError(f"{folder} is not there; {partial} is an unfinished run")
        raise UsageError(f"{folder} is not a run directory of xoff (no manifest.json)")
    if manifest.get("complete") is not True:
        status = manifest.get("status", "unfinished")
        raise IncompleteRunError(f"{folder} is an incomplete run ({status}); run it again")
    missing = [name for name in TABLES if not (folder / f"{name}.parquet").is_file()]
    if missing:
        raise IncompleteRunError(f"{folder} has lost its {missing[0]}.parquet; run it again")
    try:
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        effective = (folder / "scenario.toml").read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise IncompleteRunError(f"cannot read {folder}: {error}; run it again") from error
    return Result(summary, effective, str(manifest.get("digest", "")), folder)
