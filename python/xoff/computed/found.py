"""Outcome of a computation, and its random numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Found:
    """Numbers by name, and the columns of a table."""

    numbers: Mapping[str, float] = field(default_factory=dict)
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def uniform(seed: int) -> np.random.Generator:
    """Return a random generator. Use only its `random`, which is the same on all platforms."""
    return np.random.Generator(np.random.PCG64(seed))
