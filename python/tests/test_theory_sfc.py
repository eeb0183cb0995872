"""The numbers of SFC's App. C from its inputs, to the digits it prints."""

import pytest

from xoff.theory import sfc

R = 100e9
T_A, T_B = 4e-6, 1e-6
T_S = sfc.serialisation(4000, R)
K = 26  # footnote 6: T_F R / MTU, "about 26"


def test_times_of_the_example():
    assert pytest.approx(0.32e-6) == T_S
    assert sfc.t_f(T_A, T_S) == pytest.approx(8.32e-6)
    assert sfc.underrun_target(R, T_A, T_S) / 4000 == pytest.approx(K)


def test_the_round_trip_of_the_example_is_not_the_10_us_that_the_paper_states():
    assert sfc.rtt(T_A, T_B, T_S) == pytest.approx(10.64e-6)


def test_two_flows():
    assert sfc.b_ack(R, T_A, T_B, T_S, K) * 8 / R == pytest.approx(26.64e-6)
    assert sfc.bts_time(T_A, T_S, K) == pytest.approx(16.32e-6)
    assert sfc.b_bts(R, T_A, T_S, K) == pytest.approx(204e3)
    assert sfc.bts_saving(R, T_B, T_S, K) == pytest.approx(129e3)
    assert sfc.bts_saving(R, T_B, T_S, K) * 8 / R == pytest.approx(10.32e-6)
    assert sfc.bts_saving_share(T_A, T_B, T_S, K) == pytest.approx(0.3874, abs=5e-5)


def test_the_saving_is_the_difference_of_the_two_buffers():
    for k in (1, 10, 100):
        saved = sfc.b_ack(R, T_A, T_B, T_S, k) - sfc.b_bts(R, T_A, T_S, k)
        assert saved == pytest.approx(sfc.bts_saving(R, T_B, T_S, k))


def test_incast():
    assert sfc.b_incast(128, R, T_A, T_S) == pytest.approx(128 * 104e3)
    without = 128 * sfc.bandwidth_delay(R, sfc.rtt(T_A, T_B, T_S))
    assert without / sfc.b_incast(128, R, T_A, T_S) == pytest.approx(10.64 / 8.32)


def test_gaps_between_flows():
    assert sfc.limits_to_two_flows(16.4e-6, T_A, T_S, K)
    assert not sfc.limits_to_two_flows(16.3e-6, T_A, T_S, K)


def test_caching():
    t_tor = 1e-6
    assert sfc.t_cache(T_A, T_S, t_tor) == pytest.approx(7.32e-6)
    assert sfc.t_cache_miss(T_A, t_tor) == pytest.approx(6e-6)
    arrives = sfc.t_cache_miss(T_A, t_tor) + t_tor + T_S
    assert arrives == pytest.approx(sfc.t_cache(T_A, T_S, t_tor))
    assert sfc.b_second_sender(R, T_A, T_S, 2e-6) == pytest.approx(79e3)
    assert sfc.b_cache_hit(R, t_tor, T_S) == pytest.approx(29e3)
    assert sfc.b_cache_hit(R, t_tor, T_S) < sfc.b_bts(R, T_A, T_S, 1)
    assert sfc.cache_saving(T_A, t_tor) == pytest.approx(0.75)
    assert sfc.cache_gain(T_A, t_tor) == pytest.approx(4)
    # With no time for packets the saving is exactly what hits keep out of the buffer.
    kept = 1 - sfc.b_cache_hit(R, t_tor, 0) / sfc.b_bts(R, T_A, 0, 1)
    assert kept == pytest.approx(sfc.cache_saving(T_A, t_tor))


def test_arithmetic_of_the_text():
    assert sfc.bandwidth_delay(400e9, 10e-6) == pytest.approx(500e3)
    assert sfc.bandwidth_delay(100e9, 10e-6) == pytest.approx(125e3)
    assert sfc.halvings(1024, 10e-6) == pytest.approx(100e-6)
