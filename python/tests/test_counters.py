from xoff.counters import Instructions


def test_a_counter_counts_or_says_that_it_cannot() -> None:
    counter = Instructions()
    before = counter.read()
    sum(range(10_000))
    after = counter.read()
    counter.close()
    assert counter.read() is None
    if before is None:
        assert after is None
    else:
        assert after is not None
        assert after - before > 10_000
