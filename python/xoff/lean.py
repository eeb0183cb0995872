"""A shorter start of the command line: pyarrow without numpy.

pyarrow imports numpy if it can, for conversions that `xoff run` does not use. That is more than
half of the processor time of a run of a few milliseconds.
"""

from __future__ import annotations

import sys


def import_pyarrow() -> None:
    """Import pyarrow without numpy, unless one of them is imported already.

    For processes that only write tables: `to_numpy` of pyarrow does not work in them.
    """
    if "pyarrow" in sys.modules or "numpy" in sys.modules:
        return
    sys.modules["numpy"] = None  # type: ignore[assignment]  # so that importing it fails
    try:
        import pyarrow.parquet  # noqa: F401
    finally:
        del sys.modules["numpy"]
