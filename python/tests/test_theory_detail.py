"""The numbers of DeTail's report from its inputs, to the digits it prints."""

import pytest

from xoff.theory import detail

GIGABIT = 1e9
FRAME = 1530
# Propagation and the transmitters' delays.
LINK = 6.6e-6


def test_the_parts_of_the_reaction_time():
    assert detail.transmission(FRAME, GIGABIT) == pytest.approx(12.24e-6)
    assert detail.response_time(GIGABIT) == pytest.approx(1.024e-6)
    assert detail.reaction_time(FRAME, GIGABIT, LINK) == pytest.approx(38.704e-6)


def test_headroom_and_thresholds_of_eight_priorities():
    assert detail.headroom(FRAME, GIGABIT, LINK) == pytest.approx(4838)
    assert detail.total_headroom(FRAME, GIGABIT, LINK, 8) == pytest.approx(38_704)
    assert detail.pause_threshold(131_072, FRAME, GIGABIT, LINK, 8) == 11_546


def test_thresholds_and_headrooms_fill_the_buffer():
    for priorities in (1, 2, 8):
        one = detail.pause_threshold(131_072, FRAME, GIGABIT, LINK, priorities)
        kept = detail.total_headroom(FRAME, GIGABIT, LINK, priorities)
        assert 131_072 - priorities < priorities * one + kept <= 131_072


def test_headroom_grows_with_rate_and_cable():
    assert detail.headroom(FRAME, 10e9, LINK) > detail.headroom(FRAME, GIGABIT, LINK)
    longer = detail.headroom(FRAME, GIGABIT, LINK + 1e-6) - detail.headroom(FRAME, GIGABIT, LINK)
    # There and back at 125 B a microsecond.
    assert longer == pytest.approx(250)


def test_a_switch_takes_25_us():
    assert detail.crossbar_delay(FRAME, GIGABIT, 4) == pytest.approx(3.06e-6)
    total = detail.switch_delay(FRAME, GIGABIT, 4, 1.6e-6, 5e-6, 3.1e-6)
    assert total == pytest.approx(25e-6)


@pytest.mark.parametrize(("queries", "printed"), [(500, 0.17), (2000, 0.68), (2500, 0.85)])
def test_load_factors(queries, printed):
    mean = (2 + 8 + 32) * 1024 / 3
    assert detail.load_factor(queries, mean, 3, GIGABIT) == pytest.approx(printed, rel=0.03)
