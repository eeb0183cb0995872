"""Flowtune's allocator: utility-maximising rates for flows that start and stop.

    import numpy as np
    from xoff.alloc import Allocator

    allocator = Allocator([10.0, 10.0])              # two links of 10 Gb/s
    ids = allocator.add_flows([[0, 1], [0], [1]])    # a flow over both, and one over each
    allocator.iterate(100)
    allocator.rates(ids)                             # 3.3, 6.6 and 6.6, less 1 % of headroom

Rates and capacities are in the same unit, chosen by the caller. Calls take whole batches of flows;
no array is iterated over in Python. A call with invalid arguments raises `UsageError` and changes
nothing. An allocator is used by one thread at a time: a call while another thread is in `iterate`
raises `RuntimeError`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from xoff import _native
from xoff.errors import UsageError

Floats: TypeAlias = NDArray[np.float64]
Ids: TypeAlias = NDArray[np.uint64]

MOST_LINKS = 2**32

# Exceptions for values that the engine's types cannot represent.
NO_ARGUMENT = (TypeError, OverflowError, UnicodeEncodeError)


class Allocator:
    """Allocates link capacities to flows, each with a path and a weight.

    Settings; the defaults are the paper's values:

    - `optimizer`: `"ned"`, `"gradient"`, `"fast-weighted-gradient"`, `"newton-like"` or
      `"newton"`
    - `precision`: `"double"`, or `"single"` for the -RT forms of NED and Gradient
    - `gamma`: step size of prices; must be small for Gradient
    - `interval`: iterations of one measurement of Newton-like
    - `alpha`: utilities are alpha-fair; 1 is proportional fairness, `weight * log(rate)`
    - `normalizer`: `"f-norm"` (only lowers rates), `"f-norm-as-printed"` (also raises them),
      `"u-norm"` or `"none"`
    - `threshold`: relative change of a rate that is reported, and share of capacity left free
    - `initial_price`: price of every link before the first iteration
    - `rate_bound`: largest rate before normalisation, in capacities of the flow's bottleneck

    Raises `UsageError` on an invalid setting.
    """

    def __init__(
        self,
        capacities: ArrayLike,
        *,
        optimizer: str = "ned",
        precision: str = "double",
        gamma: float = 0.4,
        interval: int = 10,
        alpha: float = 1.0,
        normalizer: str = "f-norm",
        threshold: float = 0.01,
        initial_price: float = 1.0,
        rate_bound: float = 2.0,
    ) -> None:
        """Create an allocator without flows; `capacities` has shape `(links,)`."""
        settings: dict[str, str | int | float] = {
            "optimizer": optimizer,
            "precision": precision,
            "gamma": gamma,
            "interval": interval,
            "alpha": alpha,
            "normalizer": normalizer,
            "threshold": threshold,
            "initial_price": initial_price,
            "rate_bound": rate_bound,
        }
        with _translated():
            self._native = _native.Allocator(
                _floats(capacities, "capacities"), list(settings.items())
            )

    def add_flows(
        self, paths: ArrayLike | Sequence[ArrayLike], weights: ArrayLike | None = None
    ) -> Ids:
        """Add flows and return their ids, shape `(flows,)`.

        `paths` is an integer array of shape `(flows, hops)`, each row the links of a path, or a
        sequence of paths of different lengths. `weights` has shape `(flows,)`; the default is 1.
        Until the next iteration the rates of new flows follow from the current prices.
        """
        links, ends = _joined(paths)
        given = np.ones(len(ends)) if weights is None else _floats(weights, "weights")
        if len(given) != len(ends):
            raise UsageError(f"{len(ends)} paths but {len(given)} weights; give one per path")
        with _translated():
            return self._native.add_flows(links, ends, given)

    def remove_flows(self, ids: ArrayLike) -> None:
        """Remove flows; their capacity is free from the next iteration on."""
        flows = _ids(ids)
        if len(np.unique(flows)) < len(flows):
            raise UsageError("duplicate flow ids; give each flow to remove once")
        with _translated():
            self._native.remove_flows(flows)

    def set_capacity(self, link: int, capacity: float) -> None:
        """Set a link's capacity from the next iteration on; 0 means a failed link."""
        with _translated():
            self._native.set_capacity(_link(link), capacity)

    def reserve(self, link: int, amount: float) -> None:
        """Reserve `amount` of a link's capacity for other traffic."""
        with _translated():
            self._native.reserve(_link(link), amount)

    def iterate(self, times: int = 1) -> None:
        """Run `times` iterations; each updates rates, then prices, and normalises rates."""
        if times < 0:
            raise UsageError(f"iterations must be at least 0, not {times}")
        with _translated():
            self._native.iterate(times)

    def rates(self, ids: ArrayLike) -> Floats:
        """Return the normalised rates of flows, shape `(flows,)`."""
        with _translated():
            return self._native.rates(_ids(ids))

    def raw_rates(self, ids: ArrayLike) -> Floats:
        """Return rates before normalisation, shape `(flows,)`; they may exceed capacities."""
        with _translated():
            return self._native.raw_rates(_ids(ids))

    def changed_rates(self) -> tuple[Ids, Floats]:
        """Return ids and rates of flows whose rate has changed by more than the threshold.

        The change is relative to the flow's rate last returned by this method; flows not yet
        returned are always included. Flows are in the allocator's internal order.
        """
        return self._native.changed_rates()

    def flows(self) -> Ids:
        """Return the ids of all flows."""
        return self._native.flows()

    def prices(self) -> Floats:
        """Return the price of every link, shape `(links,)`: utility per unit of rate."""
        return self._native.prices()

    def link_loads(self) -> Floats:
        """Return the total rate before normalisation on every link, shape `(links,)`."""
        return self._native.link_loads()

    def usable(self) -> Floats:
        """Return each link's capacity minus reserve and threshold, shape `(links,)`."""
        return self._native.usable()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (_native.AllocatorError, *NO_ARGUMENT) as error:
        raise UsageError(str(error)) from None


def _floats(values: ArrayLike, what: str) -> Floats:
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"{what} must be numbers, shape (n,)") from None
    return np.ascontiguousarray(_flat(found, what))


def _ids(values: ArrayLike) -> Ids:
    found = _flat(np.asarray(values), "flow ids")
    if found.size and found.dtype.kind not in "ui":
        raise UsageError(f"flow ids must be whole numbers from add_flows, not {found.dtype}")
    return np.ascontiguousarray(found, dtype=np.uint64)


def _flat(found: NDArray[Any], what: str) -> NDArray[Any]:
    if np.ndim(found) != 1:
        raise UsageError(f"{what} must have one dimension, not shape {np.shape(found)}")
    return found


def _link(link: int) -> int:
    return int(_links(np.asarray([link]))[0])


def _links(values: NDArray[Any]) -> NDArray[np.uint32]:
    if values.size and values.dtype.kind not in "ui":
        raise UsageError(f"links must be whole numbers, not {values.dtype}")
    if values.size and not 0 <= int(values.min()) <= int(values.max()) < MOST_LINKS:
        wrong = values.min() if values.min() < 0 else values.max()
        raise UsageError(f"there is no link {wrong}; links are numbered from 0")
    return np.ascontiguousarray(values, dtype=np.uint32)


def _joined(paths: ArrayLike | Sequence[ArrayLike]) -> tuple[NDArray[np.uint32], Ids]:
    """Return the concatenated links of all paths and the end index of each path."""
    if isinstance(paths, np.ndarray) and paths.dtype != object:
        if paths.ndim != 2:
            raise UsageError(
                f"paths must have shape (flows, hops) or be a list of paths, not {paths.shape}"
            )
        flows, hops = paths.shape
        ends = np.arange(1, flows + 1, dtype=np.uint64) * np.uint64(hops)
        return _links(paths).reshape(-1), ends
    each = [_links(_flat(np.asarray(path), "links of a path")) for path in paths]  # type: ignore[union-attr]
    lengths = np.array([len(path) for path in each], dtype=np.uint64)
    joined = np.concatenate(each) if each else np.empty(0, np.uint32)
    return joined, np.cumsum(lengths, dtype=np.uint64)
