"""Numbers as text: signs, and units where rounding adds a digit."""

import math

import pytest

from xoff import text


@pytest.mark.parametrize(("write", "infinite"), [(text.number, "inf"), (text.fixed, "inf")])
def test_infinite_numbers_keep_their_sign(write, infinite):
    assert write(math.inf) == infinite
    assert write(-math.inf) == f"-{infinite}"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (999_400, "999 kB"),
        (999_600, "1 MB"),
        (-999_600, "-1 MB"),
        (999.4, "999 B"),
        (1_234_567, "1.23 MB"),
        (2_000_000_000, "2 GB"),
        (999_600_000_000, "1000 GB"),
        (1_234_500_000_000, "1234 GB"),
    ],
)
def test_bytes_have_the_unit_that_rounding_leads_to(value, written):
    assert text.byte_text(value) == written


def test_no_number_below_a_million_is_a_power_of_ten():
    assert text.number(999.6) == "1000"
    assert text.number(-999.6) == "-1000"
    assert text.number(999.4) == "999"
    assert text.time_text(999_999) == "1 us"
    assert text.count_text(999_960) == "1 M"
