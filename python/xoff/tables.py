"""Arrow tables of a run: schemas, and a Parquet writer that groups small batches."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from xoff.errors import writing

FLOW_SCHEMA = pa.schema(
    [
        ("flow", pa.uint64()),
        ("src", pa.uint32()),
        ("dst", pa.uint32()),
        ("size_bytes", pa.uint64()),
        ("start_ps", pa.uint64()),
        ("fct_ps", pa.uint64()),
        ("rx_fct_ps", pa.uint64()),
        ("ideal_fct_ps", pa.uint64()),
        ("slowdown", pa.float64()),
        ("class", pa.uint16()),
    ]
)
"""Columns of `flows.parquet`: times in picoseconds, `class` an index into the summary's."""

# Large row groups compress and scan well; a million flows are some 70 MB in memory.
GROUP_ROWS = 1_000_000


def as_batch(rows: Any) -> pa.RecordBatch:
    """Import a record batch through the Arrow C interface, without a copy."""
    return rows if isinstance(rows, pa.RecordBatch) else pa.record_batch(rows)


def as_table(batches: list[pa.RecordBatch], schema: pa.Schema | None) -> pa.Table:
    """Join batches; with none, an empty table of `schema` (no columns if None)."""
    if batches:
        return pa.Table.from_batches(batches)
    return (schema or pa.schema([])).empty_table()


class TableWriter:
    """A Parquet file (zstd) that grows by batches and buffers small ones.

    Its bytes depend on the rows alone, not on how they were divided into batches.
    The schema is the first batch's; `schema` serves a file that gets no rows.
    Raises `RunError` naming the file when the disk refuses.
    """

    def __init__(self, path: Path, schema: pa.Schema | None) -> None:
        self.path = path
        self._schema = schema
        self._writer: pq.ParquetWriter | None = None
        self._pending: list[pa.RecordBatch] = []
        self._rows = 0
        self._closed = False

    def add(self, rows: Any) -> None:
        """Append a batch (anything with `__arrow_c_array__`)."""
        batch = as_batch(rows)
        self._pending.append(batch)
        self._rows += batch.num_rows
        if self._rows >= GROUP_ROWS:
            self._flush(self._rows // GROUP_ROWS * GROUP_ROWS)

    def _flush(self, rows: int) -> None:
        """Write so many of the rows that wait."""
        table = as_table(self._pending, self._schema)
        self._pending = table.slice(rows).to_batches()
        self._rows -= rows
        with writing(self.path):
            if self._writer is None:
                self._writer = pq.ParquetWriter(self.path, table.schema, compression="zstd")
            if rows:
                # In one piece: where pieces meet, Parquet would begin other pages.
                whole = table.slice(0, rows).combine_chunks()
                self._writer.write_table(whole, row_group_size=GROUP_ROWS)

    def close(self) -> None:
        """Write what is buffered and the footer; the file exists afterwards."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._pending or self._writer is None:
                self._flush(self._rows)
        except BaseException:
            if self._writer is not None:
                with suppress(Exception):  # the first error is the one that counts
                    self._writer.close()
            raise
        with writing(self.path):
            assert self._writer is not None
            self._writer.close()
