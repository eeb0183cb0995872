"""The allocator from Python: closed forms, arrays in and out, and calls that are refused."""

import threading

import numpy as np
import pytest

from xoff import _native

if not hasattr(_native, "Allocator"):
    pytest.skip("the engine is not built", allow_module_level=True)

from xoff.alloc import Allocator
from xoff.errors import UsageError


def exact(capacities, **settings):
    return Allocator(capacities, threshold=0.0, **settings)


def test_proportional_fairness_of_a_line_of_links():
    # A flow over n links and one over each: it gets 1 / (n + 1), they get n / (n + 1).
    n = 4
    allocator = exact(np.full(n, 10.0))
    ids = allocator.add_flows([list(range(n)), *([link] for link in range(n))])
    allocator.iterate(2000)
    expected = [10 / (n + 1), *[10 * n / (n + 1)] * n]
    np.testing.assert_allclose(allocator.rates(ids), expected, rtol=1e-9)
    np.testing.assert_allclose(allocator.link_loads(), 10.0, rtol=1e-9)
    # Each short flow pays its link's price for its rate: 1 / price = rate.
    np.testing.assert_allclose(1 / allocator.prices(), 10 * n / (n + 1), rtol=1e-9)


def test_weights_divide_a_link():
    allocator = exact([12.0])
    ids = allocator.add_flows(np.zeros((3, 1), dtype=np.int64), weights=[1, 2, 3])
    allocator.iterate(200)
    np.testing.assert_allclose(allocator.rates(ids), [2, 4, 6], rtol=1e-9)


def test_a_large_alpha_comes_near_max_min():
    # Max-min: the long flow gets half of each link.
    allocator = exact([10.0, 10.0], alpha=32.0)
    ids = allocator.add_flows([[0, 1], [0], [1]])
    allocator.iterate(20_000)
    np.testing.assert_allclose(allocator.rates(ids), 5.0, rtol=0.03)


@pytest.mark.parametrize("dtype", [np.int64, np.uint32, np.int8, np.uint64])
def test_rows_and_ragged_lists_are_the_same_flows(dtype):
    rng = np.random.default_rng(1)
    paths = np.array([rng.choice(20, 3, replace=False) for _ in range(50)], dtype=dtype)
    capacities = rng.uniform(5, 50, 20)
    weights = rng.uniform(1, 3, 50)
    rates = []
    for given in (paths, [list(map(int, path)) for path in paths], list(paths), paths.tolist()):
        allocator = exact(capacities)
        ids = allocator.add_flows(given, weights)
        assert ids.dtype == np.uint64
        allocator.iterate(10)
        rates.append(allocator.rates(ids))
    for other in rates[1:]:
        np.testing.assert_array_equal(rates[0], other)


def test_arrays_need_not_be_contiguous():
    paths = np.arange(24, dtype=np.int64).reshape(4, 6)[:, ::2]
    allocator = exact(np.linspace(10, 20, 48)[::2])
    ids = allocator.add_flows(paths, np.ones(8)[::2])
    allocator.iterate()
    assert len(allocator.rates(ids[::-1])) == 4
    np.testing.assert_array_equal(allocator.rates(ids[::-1]), allocator.rates(ids)[::-1])


def test_normalised_rates_keep_within_capacities_from_the_first_iteration():
    rng = np.random.default_rng(2)
    capacities = rng.uniform(1, 100, 40)
    paths = np.array([rng.choice(40, 4, replace=False) for _ in range(500)])
    allocator = Allocator(capacities)
    ids = allocator.add_flows(paths)
    for _ in range(5):
        allocator.iterate()
        loads = np.bincount(paths.ravel(), weights=np.repeat(allocator.rates(ids), 4), minlength=40)
        assert (loads <= allocator.usable() * (1 + 1e-12)).all()
    np.testing.assert_allclose(allocator.usable(), 0.99 * capacities)
    raw = np.bincount(paths.ravel(), weights=np.repeat(allocator.raw_rates(ids), 4), minlength=40)
    np.testing.assert_allclose(raw, allocator.link_loads())


def test_flows_come_and_go():
    allocator = exact([10.0])
    first, second = allocator.add_flows([[0], [0]])
    allocator.iterate(100)
    allocator.remove_flows([first])
    np.testing.assert_array_equal(allocator.flows(), [second])
    allocator.iterate(100)
    np.testing.assert_allclose(allocator.rates([second]), 10.0)
    (third,) = allocator.add_flows([[0]])
    assert third != first, "an id outlives no flow"
    with pytest.raises(UsageError, match=r"flow 0: flow 0\.1 is not in this allocator"):
        allocator.rates([first])


def test_changed_rates_are_those_beyond_the_threshold():
    allocator = Allocator([10.0, 10.0], threshold=0.01)
    ids = allocator.add_flows([[0], [1]])
    allocator.iterate(300)
    told, rates = allocator.changed_rates()
    np.testing.assert_array_equal(told, ids)
    np.testing.assert_allclose(rates, 9.9, rtol=1e-6)
    allocator.iterate()
    assert [len(part) for part in allocator.changed_rates()] == [0, 0]
    (new,) = allocator.add_flows([[0]])
    allocator.iterate(300)
    told, rates = allocator.changed_rates()
    assert set(told) == {ids[0], new}
    np.testing.assert_allclose(rates, 4.95, rtol=1e-6)


def test_a_failed_link_and_a_reserved_share():
    allocator = exact([10.0, 10.0])
    ids = allocator.add_flows([[0], [1], [0, 1]])
    allocator.set_capacity(1, 0.0)
    allocator.reserve(0, 4.0)
    allocator.iterate(200)
    np.testing.assert_allclose(allocator.rates(ids), [6.0, 0.0, 0.0])
    np.testing.assert_allclose(allocator.usable(), [6.0, 0.0])


def test_the_same_calls_give_the_same_bits():
    def once():
        rng = np.random.default_rng(3)
        allocator = Allocator(rng.uniform(1, 10, 30), precision="single", gamma=1.0)
        ids = allocator.add_flows(rng.permuted(np.tile(np.arange(30), (100, 1)), axis=1)[:, :3])
        allocator.iterate(50)
        return allocator.rates(ids).tobytes()

    assert once() == once()


def test_nothing_at_all_is_fine():
    allocator = Allocator([])
    assert len(allocator.add_flows([])) == 0
    allocator.remove_flows([])
    allocator.iterate(3)
    assert len(allocator.flows()) == len(allocator.prices()) == 0
    assert len(allocator.rates([])) == 0


def test_other_threads_run_during_iterations():
    allocator = exact(np.full(100, 10.0))
    allocator.add_flows(np.arange(100).reshape(-1, 1))
    worker = threading.Thread(target=allocator.iterate, args=(300_000,))
    worker.start()
    beats = 0
    while worker.is_alive():
        worker.join(0.001)
        beats += 1
    assert beats > 3


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"optimizer": "adam"},
            "setting `optimizer`: expected one of ned, gradient, fast-weighted-",
        ),
        ({"gamma": -1.0}, "setting `gamma`: expected a non-negative number"),
        ({"gamma": 0}, "setting `gamma` is 0; it must be above 0"),
        ({"gamma": float("nan")}, "setting `gamma`"),
        ({"threshold": 1.0}, "setting `threshold` is 1; it must be from 0 to below 1"),
        ({"alpha": 0.0}, "`alpha` is 0; it must be above 0"),
        ({"alpha": 1e308}, "`alpha` is 1"),
        ({"optimizer": "newton", "precision": "single"}, "only NED and Gradient"),
        ({"optimizer": "newton-like", "interval": 0}, "`interval` is 0"),
    ],
)
def test_bad_settings_are_refused(settings, said):
    with pytest.raises(UsageError) as refused:
        Allocator([1.0], **settings)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("capacities", "said"),
    [
        ([1.0, -1.0], "capacity of link 1 is -1; it must be 0"),
        ([float("inf")], "capacity of link 0 is inf"),
        ([float("nan")], "capacity of link 0 is NaN"),
        (["fast"], "capacities must be numbers"),
        (10.0, "one dimension"),
        ([[1.0]], "one dimension"),
    ],
)
def test_bad_capacities_are_refused(capacities, said):
    with pytest.raises(UsageError) as refused:
        Allocator(capacities)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("paths", "weights", "said"),
    [
        ([[0], [3]], None, "path 1: there is no link 3; the network has 3 links"),
        ([[0], [1, 2, 1]], None, "path 1: link 1 is in the path twice"),
        ([[0], []], None, "path 1: the path of the flow has no link"),
        ([[-1]], None, "there is no link -1"),
        (np.array([[2**40]]), None, "there is no link 1099511627776"),
        ([[0.5]], None, "links must be whole numbers, not float64"),
        (np.array([[0.0]]), None, "links must be whole numbers, not float64"),
        (np.array([0, 1]), None, "paths must have shape (flows, hops)"),
        ([0, 1], None, "must have one dimension"),
        ([[0], [1]], [1.0], "2 paths but 1 weights"),
        ([[0], [1]], [1.0, -1.0], "path 1: the flow's weight is -1"),
        ([[0]], ["heavy"], "weights must be numbers"),
    ],
)
def test_bad_flows_are_refused_and_none_is_added(paths, weights, said):
    allocator = Allocator([1.0, 1.0, 1.0])
    with pytest.raises(UsageError) as refused:
        allocator.add_flows(paths, weights)
    assert said in str(refused.value)
    assert len(allocator.flows()) == 0


def test_bad_calls_are_refused_and_change_nothing():
    allocator = exact([10.0])
    ids = allocator.add_flows([[0], [0]])
    for call, said in (
        (
            lambda: allocator.remove_flows(np.append(ids[:1], np.uint64(12345))),
            "flow 1: flow 12345.0 is not",
        ),
        (lambda: allocator.remove_flows([ids[0], ids[0]]), "duplicate flow ids"),
        (lambda: allocator.rates([0.5]), "flow ids must be whole numbers"),
        (lambda: allocator.rates(ids[0]), "one dimension"),
        (lambda: allocator.set_capacity(1, 1.0), "there is no link 1"),
        (lambda: allocator.set_capacity(-1, 1.0), "there is no link -1"),
        (lambda: allocator.set_capacity(0, -1.0), "capacity of link 0 is -1"),
        (lambda: allocator.reserve(0, -1.0), "the capacity reserved on link 0 is -1"),
        (lambda: allocator.iterate(-1), "at least 0, not -1"),
    ):
        with pytest.raises(UsageError) as refused:
            call()
        assert said in str(refused.value)
    np.testing.assert_array_equal(allocator.flows(), ids)
    allocator.iterate(100)
    np.testing.assert_allclose(allocator.rates(ids), 5.0)


def test_values_that_no_setting_can_have_are_refused():
    allocator = Allocator([1.0])
    for call in (
        lambda: Allocator([1.0], optimizer="a\ud800b"),
        lambda: Allocator([1.0], interval=2**70),
        lambda: Allocator([1.0], gamma=None),
        lambda: allocator.iterate(2**70),
        lambda: allocator.iterate(1.5),
        lambda: allocator.set_capacity(0, "fast"),
    ):
        with pytest.raises(UsageError):
            call()
