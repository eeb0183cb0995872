"""Flowtune's allocator: rates that maximise the utility of a network's flows, as they come and go.

    import numpy as np
    from xoff.alloc import Allocator

    allocator = Allocator([10.0, 10.0])              # two links of 10 Gb/s
    ids = allocator.add_flows([[0, 1], [0], [1]])    # a flow over both, and one over each
    allocator.iterate(100)
    allocator.rates(ids)                             # 3.3, 6.6 and 6.6, less 1 % of headroom

Rates and capacities are in one unit, the caller's. A batch of thousands of flows costs one call; no
array is walked in Python. Every call that is refused raises `UsageError` and changes nothing.
An allocator belongs to one thread at a time: a call while another thread is in `iterate` raises
`RuntimeError`.
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

# What a value raises that the engine's types cannot hold.
NO_ARGUMENT = (TypeError, OverflowError, UnicodeEncodeError)


class Allocator:
    """Allocates the capacities of links to flows, each of which has a path and a weight.

    Settings, with the paper's values as defaults:

    - `optimizer`: `"ned"`, `"gradient"`, `"fast-weighted-gradient"`, `"newton-like"` or
      `"newton"`
    - `precision`: `"double"`, or `"single"` for the -RT forms of NED and Gradient
    - `gamma`: how far a price is moved in an iteration; Gradient's must be small
    - `interval`: iterations over which Newton-like measures
    - `alpha`: utilities are alpha-fair; 1 is proportional fairness, `weight * log(rate)`
    - `normalizer`: `"f-norm"` (down only), `"f-norm-as-printed"` (also up), `"u-norm"` or `"none"`
    - `threshold`: the change of a rate that is reported, and the share of capacities left free
    - `initial_price`: of every link
    - `rate_bound`: the most a flow takes before normalisation, in bottleneck capacities
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
        """Make an allocator for links of these capacities, shape `(links,)`, without flows."""
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
        """Add flows, and return their ids, shape `(flows,)`.

        `paths` is an integer array of shape `(flows, hops)` whose rows are links, or a sequence
        of paths of different lengths. `weights` has shape `(flows,)`; without it all are 1.
        Until the next iteration a flow's rate is what current prices give.
        """
        links, ends = _joined(paths)
        given = np.ones(len(ends)) if weights is None else _floats(weights, "weights")
        if len(given) != len(ends):
            raise UsageError(f"there are {len(ends)} paths and {len(given)} weights")
        with _translated():
            return self._native.add_flows(links, ends, given)

    def remove_flows(self, ids: ArrayLike) -> None:
        """Remove flows. What they had is free from the next iteration on."""
        flows = _ids(ids)
        if len(np.unique(flows)) < len(flows):
            raise UsageError("a flow is to be removed twice; name each id once")
        with _translated():
            self._native.remove_flows(flows)

    def set_capacity(self, link: int, capacity: float) -> None:
        """Change a link's capacity from the next iteration on; 0 is a link that has failed."""
        with _translated():
            self._native.set_capacity(_link(link), capacity)

    def reserve(self, link: int, amount: float) -> None:
        """Leave `amount` of a link's capacity to traffic that is not allocated."""
        with _translated():
            self._native.reserve(_link(link), amount)

    def iterate(self, times: int = 1) -> None:
        """Do iterations: each updates rates, then prices, and normalises rates."""
        if times < 0:
            raise UsageError(f"{times} iterations are asked for; give a number of at least 0")
        with _translated():
            self._native.iterate(times)

    def rates(self, ids: ArrayLike) -> Floats:
        """Return the normalised rates of flows, shape `(flows,)`."""
        with _translated():
            return self._native.rates(_ids(ids))

    def raw_rates(self, ids: ArrayLike) -> Floats:
        """Return rates as the optimiser left them, which may exceed capacities: `(flows,)`."""
        with _translated():
            return self._native.raw_rates(_ids(ids))

    def changed_rates(self) -> tuple[Ids, Floats]:
        """Return ids and rates of flows whose rate has changed by more than the threshold.

        The change is from what this call returned last; a flow that it never returned always
        counts. What it returns is in the order of the flows' places in the allocator.
        """
        return self._native.changed_rates()

    def flows(self) -> Ids:
        """Return the ids of all flows."""
        return self._native.flows()

    def prices(self) -> Floats:
        """Return the price of every link, shape `(links,)`: utility for a unit of rate."""
        return self._native.prices()

    def link_loads(self) -> Floats:
        """Return the rates on every link at the last iteration, not normalised: `(links,)`."""
        return self._native.link_loads()

    def usable(self) -> Floats:
        """Return what flows may use of every link, less reserve and threshold: `(links,)`."""
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
        raise UsageError(f"flow ids are whole numbers from add_flows, not {found.dtype}")
    return np.ascontiguousarray(found, dtype=np.uint64)


def _flat(found: NDArray[Any], what: str) -> NDArray[Any]:
    if np.ndim(found) != 1:
        raise UsageError(f"{what} have shape {np.shape(found)}; give one dimension")
    return found


def _link(link: int) -> int:
    return int(_links(np.asarray([link]))[0])


def _links(values: NDArray[Any]) -> NDArray[np.uint32]:
    if values.size and values.dtype.kind not in "ui":
        raise UsageError(f"links are whole numbers, not {values.dtype}")
    if values.size and not 0 <= int(values.min()) <= int(values.max()) < MOST_LINKS:
        wrong = values.min() if values.min() < 0 else values.max()
        raise UsageError(f"there is no link {wrong}; links are numbered from 0")
    return np.ascontiguousarray(values, dtype=np.uint32)


def _joined(paths: ArrayLike | Sequence[ArrayLike]) -> tuple[NDArray[np.uint32], Ids]:
    """Return the links of all paths, one after another, and where each path ends."""
    if isinstance(paths, np.ndarray) and paths.dtype != object:
        if paths.ndim != 2:
            raise UsageError(
                f"paths have shape {paths.shape}; give (flows, hops), or a list of paths"
            )
        flows, hops = paths.shape
        ends = np.arange(1, flows + 1, dtype=np.uint64) * np.uint64(hops)
        return _links(paths).reshape(-1), ends
    each = [_links(_flat(np.asarray(path), "links of a path")) for path in paths]  # type: ignore[union-attr]
    lengths = np.array([len(path) for path in each], dtype=np.uint64)
    joined = np.concatenate(each) if each else np.empty(0, np.uint32)
    return joined, np.cumsum(lengths, dtype=np.uint64)
