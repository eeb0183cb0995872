import numpy as np
import pyarrow as pa
import pytest

import xoff
from xoff import metrics, shares, traces
from xoff.metrics import Term

MS = 1_000_000_000


def trace(values, step_ms=1):
    return np.arange(len(values)) * step_ms * MS, np.array(values, dtype=float)


def test_where_a_trace_settles_and_when():
    one = trace([0, 30, 10, 13, 9, 10, 10, 10, 10, 10])
    assert traces.peak(one) == 30
    assert traces.final(one) == 10
    # 13 is the last value more than a fifth away from 10.
    assert traces.settled_ms(one) == 4
    assert traces.settled_ms(trace([10, 10, 10, 10])) == 0
    # A drained queue has settled even if a packet or two still arrive.
    assert traces.settled_ms(trace([0, 100, 50, 4, 0, 1, 0, 2])) == 3


def test_a_trace_that_swings_never_settles():
    one = trace([0, 10] * 20)
    assert traces.settled_ms(one) == 39
    assert traces.swing(one) == 2
    assert traces.swing(trace([0, 50, 10, 10, 10, 10])) == 0
    assert traces.swing(trace([5, 0, 0, 0])) == 0


def result(senders):
    ports = pa.table(
        {
            "node": pa.array([host for host, _ in senders] + [9], pa.uint32()),
            "link": ["host-leaf"] * len(senders) + ["leaf-host"],
            "rate_bps": pa.array([100_000_000_000] * (len(senders) + 1), pa.uint64()),
            "paused_ps": pa.array([MS] * len(senders) + [0], pa.uint64()),
            "tx_bytes": pa.array([sent for _, sent in senders] + [10**9], pa.uint64()),
        }
    )
    return xoff.Result({"measured_ps": 10 * MS}, "", "d", tables={"ports": ports})


def test_what_senders_got():
    # 25, 25 and 50 Gb/s of data; the last host sent acknowledgements only.
    one = result([(0, 31_250_000), (1, 31_250_000), (2, 62_500_000), (3, 100_000)])
    assert shares.sent_bps(one) == pytest.approx([25e9, 25e9, 50e9])
    assert Term("c", path="senders.0-1", scale=1e-9).read(one) == pytest.approx(50)
    assert Term("c", path="senders.2").read(one) == pytest.approx(50e9)
    assert Term("c", path="senders.jain").read(one) == pytest.approx(100**2 / (3 * 3750))
    assert Term("c", path="senders.jain").read(result([])) is None


def test_how_long_links_were_paused():
    one = result([(0, 1), (1, 1)])
    assert Term("c", path="paused.host-leaf", scale=100).read(one) == pytest.approx(10)
    assert Term("c", path="paused.leaf-host").read(one) == 0
    assert Term("c", path="paused.leaf-spine").read(one) is None


def test_jain_is_one_for_equal_shares_and_an_nth_for_one_of_n():
    assert shares.jain([3.0] * 7) == pytest.approx(1)
    assert shares.jain([1.0, 0, 0, 0]) == pytest.approx(0.25)


def test_the_distance_of_two_cdfs():
    a, b = [(1, 0.5), (3, 1.0)], [(2, 0.7), (3, 1.0)]
    assert metrics.cdf_distance(a, b) == pytest.approx(0.5)
    assert metrics.cdf_distance(a, a) == 0
    assert metrics.cdf_distance(a, []) is None
    # As it is by definition, also for many steps, and where they do not meet.
    rng = np.random.default_rng(1)
    many = [
        [(float(x), (i + 1) / 200) for i, x in enumerate(np.sort(rng.normal(shift, 1.0, 200)))]
        for shift in (0.0, 0.3)
    ]
    steps = [x for points in many for x, _ in points]
    slow = max(abs(metrics.cdf_at(many[0], x) - metrics.cdf_at(many[1], x)) for x in steps)
    assert metrics.cdf_distance(*many) == pytest.approx(slow)
