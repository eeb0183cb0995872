"""The numbers in BFC's paper, computed from its inputs."""

import math

import pytest

from xoff.theory import bfc


def test_active_flows():
    assert bfc.active_flows(0.9) == pytest.approx(9)
    # The mean of a geometric law is the sum of its tail.
    for load in (0.5, 0.8, 0.9):
        tail = sum(1 - bfc.active_flows_cdf(load, k) for k in range(2000))
        assert tail == pytest.approx(bfc.active_flows(load))


def test_collisions():
    assert bfc.collision_share(1000, 100) == pytest.approx(0.01, rel=0.01)
    assert bfc.collision_share(32, 100) == pytest.approx(0.0096, abs=5e-5)
    assert bfc.collision_share(2, 1) == pytest.approx(0.5)


def test_sizes_of_tables():
    assert bfc.table_entries(4096, 100) == 409_600
    assert bfc.table_entries(24 * 32, 100) == 76_800
    assert bfc.pause_counters(128, 32) == 4096


def test_arithmetic_of_the_fabric():
    assert bfc.buffer_time(12e6, 2.4e12) == pytest.approx(40e-6)
    assert bfc.buffer_time(20e6, 100e9) == pytest.approx(1.6e-3)
    assert bfc.round_trip(4, 1e-6) == pytest.approx(8e-6)
    assert bfc.bandwidth_delay(100e9, 8e-6) == pytest.approx(100e3)
    assert bfc.bandwidth_delay(200e9 / 20, 400e-6) == pytest.approx(500e3)
    assert bfc.pause_threshold(2e-6, 100e9, 1) == pytest.approx(25e3)
    assert bfc.pause_threshold(2e-6, 100e9, 5) == pytest.approx(5e3)


def test_appendix_c():
    assert bfc.idle_share(2, 1) == pytest.approx(0.2)
    assert bfc.idle_share(1.1, 1) == pytest.approx(0.0763, abs=5e-5)
    assert bfc.worst_rate_ratio(1) == pytest.approx(2)
    assert bfc.worst_idle_share(1) == pytest.approx(0.2)


@pytest.mark.parametrize("threshold", [0.25, 0.5, 1, 2, 4, 8])
def test_the_worst_case_is_the_largest(threshold):
    worst = bfc.worst_idle_share(threshold)
    x = bfc.worst_rate_ratio(threshold)
    assert bfc.idle_share(x, threshold) == pytest.approx(worst)
    assert bfc.idle_share(x * 1.01, threshold) < worst
    assert bfc.idle_share(x * 0.99, threshold) < worst
    assert bfc.worst_busy_share(threshold) == pytest.approx(1 - worst)


@pytest.mark.parametrize("threshold", [0.5, 1, 3])
@pytest.mark.parametrize("x", [1.1, 2, 5])
def test_the_share_is_that_of_the_three_phases(threshold, x):
    # App. C, eqs. 1 to 3, in 1-hop RTTs.
    filling = threshold / (x - 1) + 1
    draining = threshold + x - 1
    assert draining == bfc.peak_queue(x, threshold)
    assert bfc.idle_share(x, threshold) == pytest.approx(1 / (filling + draining + 1))
    assert math.isclose(bfc.busy_share(x, threshold), 1 - bfc.idle_share(x, threshold))
