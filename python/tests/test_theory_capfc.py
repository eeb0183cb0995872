"""The numbers of CaPFC's paper from its inputs, to the digits it prints."""

import pytest

from xoff.theory import capfc

MAX, CAL, WDROP, WSTOP = range(4)
# Core links of a fat tree of 128 servers that is over-subscribed by 4.
CORE = 128e9 / 4


def test_counters_of_a_switch():
    assert capfc.counters(48, 8) == 18_432
    assert capfc.counter_bytes(48, 8, 2) == 36_864
    # "a small number of lossless priorities, which keeps [them] around 10K's"
    assert capfc.counters(128, 1) == 16_384


def test_loads_of_the_readings_of_the_arrivals():
    # One process for the network, in us: 5, 0.3 and 1.6 % of the core.
    assert capfc.load(5e-3, 1e6, 1, CORE) == pytest.approx(0.05)
    assert capfc.load(5e-3, 64e3, 1, CORE) == pytest.approx(0.0032)
    assert capfc.load(1 / 100, 40 * 16e3, 1, CORE) == pytest.approx(0.016)
    # One for each server, in us, and in ms; 100 queries/s for each server.
    assert capfc.load(5e-3, 1e6, 128, CORE) == pytest.approx(6.4)
    assert capfc.load(5.0, 1e6, 128, CORE) == pytest.approx(0.0064)
    assert capfc.load(1 / 100, 40 * 16e3, 128, CORE) == pytest.approx(2.048)
    # One for each pair of servers, in ms.
    assert capfc.load(5.0, 1e6, 128 * 127, CORE) == pytest.approx(0.8128)


def test_a_query_keeps_its_last_link_for_over_5_ms():
    assert capfc.query_floor(40, 16e3, 1e9, 0) == pytest.approx(5.12e-3)
    assert capfc.query_floor(40, 16e3, 1e9, 70 / 1460) == pytest.approx(5.365e-3, rel=1e-3)


def test_the_headroom_of_a_hop():
    # Two links of 6.6 us, a frame of 1530 B at each end, two slots of 512 bits to react.
    def of(gbps):
        bits = 2 * 1530 * 8 + 2 * 512
        return capfc.headroom(gbps * 1e9, 2 * 6.6e-6 + bits / (gbps * 1e9))

    assert of(1) == pytest.approx(4838)
    assert [of(gbps) / of(1) for gbps in (10, 40, 100)] == pytest.approx([4.07, 14.30, 34.76], 1e-3)


def test_table_iii_says_more_than_the_text():
    # "In the worst case scenario [...] 4% increase [...] compared to PFC_wdrop in Scenario 6"
    assert capfc.table3(MAX, 6) / capfc.table3(WDROP, 6) - 1 == pytest.approx(0.04, abs=5e-4)
    assert capfc.table3_worst(CAL, WDROP) == pytest.approx(0.111, abs=5e-4)
    assert capfc.table3_worst(MAX, WSTOP) == pytest.approx(0.095, abs=5e-4)
    # "up to 11.7% and 16.6% compared to PFC_wdrop and PFC_wstop"
    assert capfc.table3_best(MAX, WDROP) == pytest.approx(0.117, abs=5e-4)
    assert capfc.table3_best(MAX, WSTOP) == pytest.approx(0.166, abs=5e-4)
    assert capfc.table3_best(CAL, WDROP) == pytest.approx(0.171, abs=5e-4)
    assert capfc.table3_best(CAL, WSTOP) == pytest.approx(0.192, abs=5e-4)
