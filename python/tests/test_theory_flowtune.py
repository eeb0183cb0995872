"""The numbers in Flowtune's text, computed from its inputs."""

import pytest

from xoff.theory import flowtune

TCP_IP = 40


def test_round_trips():
    assert flowtune.base_rtt(2, 2e-6, 1.5e-6) == pytest.approx(14e-6)
    assert flowtune.base_rtt(4, 2e-6, 1.5e-6) == pytest.approx(22e-6)


def test_the_delays_as_printed_do_not_give_the_round_trip_over_four_links():
    assert flowtune.base_rtt(2, 1.5e-6, 2e-6) == pytest.approx(14e-6)
    assert flowtune.base_rtt(4, 1.5e-6, 2e-6) == pytest.approx(20e-6)


def test_a_smallest_frame_takes_84_bytes_of_a_link():
    assert flowtune.wire_bytes(8, 0) == 84
    assert flowtune.wire_bytes(46, 0) == 84
    assert flowtune.wire_bytes(47, 0) == 85
    # The rate update of §5.3 has 6 bytes; with TCP/IP it just fits, the 8 bytes of §6 do not.
    assert flowtune.wire_bytes(6, TCP_IP) == 84
    assert flowtune.wire_bytes(8, TCP_IP) == 86


def test_a_full_frame_of_updates():
    assert flowtune.update_bytes(8, 0) == pytest.approx((187 * 8 + 38) / 187)
    assert flowtune.intermediary_gain(8, 0) == pytest.approx(84 * 187 / 1534)
    assert flowtune.intermediary_gain(8, TCP_IP) == pytest.approx(86 * 182 / (182 * 8 + 78))
    # A frame with room for one update only saves nothing.
    assert flowtune.intermediary_gain(1500, 0) == 1


def test_servers_of_a_nic():
    assert flowtune.servers_per_nic(0.0112, 10e9, 10e9) == pytest.approx(89.29, abs=0.01)
    assert flowtune.servers_per_nic(0.0112, 40e9, 10e9) == pytest.approx(4 * 89.29, abs=0.03)


def test_against_fastpass():
    per_core = flowtune.rate_per_core(4608, 40e9, 64)
    assert per_core == pytest.approx(2.88e12)
    assert flowtune.throughput_gain(10.4, 8) == pytest.approx(83.2)


def test_aggregation_takes_a_step_more_for_four_times_the_processors():
    assert [flowtune.aggregation_steps(n) for n in (1, 2, 4, 8)] == [0, 1, 2, 3]


def test_a_flowlet_that_ends_within_40_us():
    assert flowtune.flowlet_duration(200e3, 40e9) == pytest.approx(40e-6)


def test_fair_rates_fill_the_link():
    assert 5 * flowtune.fair_rate(5, 10e9) == pytest.approx(10e9)
