"""Arrow tables of a run: schemas, reading, and a Parquet writer that groups small batches."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from xoff import engine
from xoff.errors import IncompleteRunError, writing
from xoff.integrity import Entry, HashedFile

# Rows that wait in memory until they are written: of flows some 9 MB. Larger groups are neither
# smaller nor faster.
GROUP_ROWS = 131_072


def schemas(name: str) -> list[pa.Schema]:
    """Return the schemas that a table may have: each engine has its own samples."""
    return [as_batch(table["empty"]).schema for table in engine.tables() if table["name"] == name]


def empty_schema(name: str) -> pa.Schema | None:
    """Return the schema of a table that gets no rows; None where engines have different ones."""
    known = schemas(name)
    return known[0] if len(known) == 1 else None


def read_table(name: str, file: Path) -> pa.Table:
    """Read a table of a run.

    Raises `IncompleteRunError` where it cannot be read or has not the columns it should have.
    """
    try:
        found = pq.read_table(file, partitioning=None)
    except (OSError, ValueError) as error:
        raise IncompleteRunError(f"cannot read {file}: {error}; run it again") from error
    known = [_columns(schema) for schema in schemas(name)]
    # A table that got no rows may have no columns.
    if found.num_columns and _columns(found.schema) not in known:
        told = ", ".join(f"{column} {kind}" for column, kind in _columns(found.schema))
        raise IncompleteRunError(
            f"{file} is not a table of {name}: its columns are {told}; run it again"
        )
    return found


def with_class_names(table: pa.Table, classes: Sequence[str]) -> pa.Table:
    """Return a table whose column `class`, if there is one, has names in place of numbers.

    Runs of an engine without packets have one class without a name, which stays a number.
    """
    at = table.schema.get_field_index("class")
    if at < 0 or not classes:
        return table
    names = pa.array(classes, pa.string())
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.cast(pa.int32()), names)
        for chunk in table.column(at).chunks
    ]
    return table.set_column(
        at, "class", pa.chunked_array(chunks, pa.dictionary(pa.int32(), pa.string()))
    )


def of_class(table: pa.Table, name: str) -> Any:
    """Mark the rows of a class of a table with names of classes: a NumPy array."""
    import pyarrow.compute as pc  # imports NumPy, which a run does without

    return pc.equal(table["class"], name).to_numpy()


def names_of_nodes(nodes: Any) -> dict[int, str]:
    """Return the name of each node in rows of the table of nodes.

    It is the label, where the network comes from a file that names it; otherwise layer and number.
    """
    columns = (nodes.column(name).to_pylist() for name in ("node", "label", "name"))
    return {node: label or name for node, label, name in zip(*columns, strict=True)}


def _columns(schema: pa.Schema) -> list[tuple[str, pa.DataType]]:
    return [(field.name, field.type) for field in schema]


def as_batch(rows: Any) -> pa.RecordBatch:
    """Import a record batch through the Arrow C interface, without a copy."""
    return rows if isinstance(rows, pa.RecordBatch) else pa.record_batch(rows)


def as_table(batches: list[pa.RecordBatch], schema: pa.Schema | None) -> pa.Table:
    """Join batches; with none, an empty table of `schema` (no columns if None)."""
    if batches:
        return pa.Table.from_batches(batches)
    return (schema or pa.schema([])).empty_table()


def _encodings(schema: pa.Schema) -> dict[str, Any]:
    """Return the encodings of columns, as options of Parquet's writer.

    By default all columns have dictionaries. Few times, sizes and rates repeat, so that their
    dictionaries would take twice as long as these encodings, and no less space.
    """
    encodings = {}
    for field in schema:
        if pa.types.is_floating(field.type):
            encodings[field.name] = "BYTE_STREAM_SPLIT"
        elif field.type in (pa.uint64(), pa.int64()):
            encodings[field.name] = "DELTA_BINARY_PACKED"
    others = [name for name in schema.names if name not in encodings]
    return {"use_dictionary": others, "column_encoding": encodings}


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
        self._file: HashedFile | None = None
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
                self._file = HashedFile(self.path)
                self._writer = pq.ParquetWriter(
                    self._file, table.schema, compression="zstd", **_encodings(table.schema)
                )
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
            assert self._writer is not None
            assert self._file is not None
            with writing(self.path):
                self._writer.close()
                self._file.close()
        except BaseException:
            self._release()
            raise

    @property
    def entry(self) -> Entry:
        """What the manifest says of the file, once it is closed."""
        assert self._file is not None, "a closed table has a file"
        return self._file.entry

    def _release(self) -> None:
        """Close what is open; the first error is the one that counts."""
        for held in (self._writer, self._file):
            if held is not None:
                with suppress(Exception):
                    held.close()
