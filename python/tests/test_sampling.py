"""Numbers of several runs: pooled percentiles, censored flows, bootstrap intervals."""

import math

import numpy as np
import pyarrow as pa
import pytest

from xoff import sampling
from xoff.batches import STEP, of_sizes
from xoff.metrics import Term
from xoff.result import Result
from xoff.sampling import over_seeds
from xoff.student import student_t

BATCHES = 10
SUMMARY = {"classes": [{"class": "background", "bins": [{"low_bytes": 0, "high_bytes": 100}]}]}


def run_of(finished, censored=(), group="all", kind="flows"):
    """A run whose histograms hold (batch, slowdown) of finished and of censored flows."""
    rows = [(batch, value, 1, 0) for batch, value in finished]
    rows += [(batch, value, 0, 1) for batch, value in censored]
    table = pa.table(
        {
            "kind": [kind] * len(rows),
            "class": [0] * len(rows),
            "group": [group] * len(rows),
            "batch": [row[0] for row in rows],
            "low": [row[1] for row in rows],
            "high": [row[1] + STEP for row in rows],
            "finished": [row[2] for row in rows],
            "censored": [row[3] for row in rows],
            "sum": [row[1] * row[2] for row in rows],
            "censored_sum": [row[1] * row[3] for row in rows],
        }
    )
    effective = f"[run]\nbatches = {BATCHES}\n"
    return Result(SUMMARY, effective, "", None, {"batches": table})


def drawn(seed, flows=4000):
    stream = np.random.default_rng(seed)
    values = 1 + stream.exponential(2.0, flows)
    return [(i % BATCHES, float(value)) for i, value in enumerate(values)]


def interval(sample):
    assert sample.draws is not None
    return np.percentile(sample.draws[0], [2.5, 97.5])


def test_a_percentile_is_that_of_the_flows_of_all_runs():
    parts = [drawn(1), drawn(2)]
    values = sorted(value for part in parts for _, value in part)
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        found = sampling.of_term(Term("X", statistic=name), [run_of(part) for part in parts])
        assert found.low == found.high
        assert found.low == pytest.approx(values[math.ceil(share * len(values)) - 1])
    mean = sampling.of_term(Term("X", statistic="mean"), [run_of(part) for part in parts])
    assert mean.low == pytest.approx(sum(values) / len(values))


def test_intervals_contain_the_truth_as_often_as_they_say():
    truth = {"mean": 3.0, "p95": 1 + 2 * math.log(20)}
    for name, expected in truth.items():
        inside = 0
        for seed in range(200):
            found = sampling.of_term(Term("X", statistic=name), [run_of(drawn(seed, 1000))] * 1)
            low, high = interval(found)
            inside += low <= expected <= high
        # Ten batches are few: somewhat less than 95 % of 200.
        assert 170 <= inside <= 198, name


def test_a_bin_is_read_from_its_own_histogram():
    run = run_of([(0, 7.0)] * 40, group="bin0")
    found = sampling.of_term(Term("X", range={"low": 0, "high": 100}, statistic="mean"), [run])
    assert found.low == 7.0
    assert sampling.of_term(Term("X", statistic="mean"), [run]) == sampling.MISSING


def test_censored_flows_bound_a_number_from_below():
    done = [(i % BATCHES, 2.0) for i in range(980)]
    left = [(i % BATCHES, 50.0) for i in range(20)]
    run = run_of(done, left)
    mean = sampling.of_term(Term("X", statistic="mean"), [run])
    assert (mean.low, mean.high) == (pytest.approx(2.96), math.inf)
    assert mean.is_censored
    tail = sampling.of_term(Term("X", statistic="p99"), [run])
    assert (tail.low, tail.high) == (pytest.approx(50.0), math.inf)
    median = sampling.of_term(Term("X", statistic="p50"), [run])
    assert median.low == median.high == pytest.approx(2.0)


def test_a_range_in_packets_is_pooled_from_rows():
    """Unfinished flows of a bin that the range reaches into leave the number open."""
    bins = [{"low_bytes": 0, "high_bytes": 1000}, {"low_bytes": 1000, "high_bytes": None}]
    summary = {
        "classes": [{"class": "background", "bins": bins}],
        "frame": {"payload_bytes": 1000},
        "warmup_ps": 100,
        "measured_ps": 1000,
    }
    rows = 600
    flows = pa.table(
        {
            "class": [0] * rows,
            "size_bytes": [1000] * (rows // 2) + [1001] * (rows // 2),
            "start_ps": pa.array([100 + i for i in range(rows)], pa.uint64()),
            "slowdown": [1.0] * (rows // 2) + [2.0] * (rows // 2),
        }
    )
    tables = {**run_of([], [(9, 50.0)] * 20, "bin1")._tables, "flows": flows}
    run = Result(summary, f'[run]\nbatches = {BATCHES}\nflows = "all"\n', "", None, tables)

    def found(statistic, **limits):
        return sampling.of_term(Term("X", range=limits, statistic=statistic), [run] * 4)

    assert found("p50", high_packets=1).high == pytest.approx(1.0, rel=1 / 512)
    two = found("p99", low_packets=2)
    assert (two.low, two.high) == (pytest.approx(2.0, rel=1 / 512), math.inf)
    every = found("p99", low_packets=1)
    assert (every.low, every.high) == (pytest.approx(50.0, rel=1 / 512), math.inf)
    assert found("p50", low_packets=2).high == pytest.approx(2.0, rel=1 / 512)
    assert found("count", low_packets=2).low == 4 * (rows // 2 + 20)


def test_flows_that_begin_outside_the_measured_time_count_for_the_nearest_batch():
    bins = [{"low_bytes": 0, "high_bytes": None}]
    summary = {"classes": [{"class": "background", "bins": bins}], "warmup_ps": 100}
    summary |= {"measured_ps": 1000}
    starts = [50, 100, 1099, 1100, 5000]
    flows = pa.table(
        {
            "class": [0] * len(starts),
            "size_bytes": [1000] * len(starts),
            "start_ps": pa.array(starts, pa.uint64()),
            "slowdown": [1.0] * len(starts),
        }
    )
    tables = {**run_of([], [], "bin0")._tables, "flows": flows}
    run = Result(summary, f"[run]\nbatches = {BATCHES}\n", "", None, tables)
    assert of_sizes(run, "background", 0, math.inf)["batch"].tolist() == [0, 0, 9, 9, 9]


def test_ranges_in_packets_need_every_row():
    run = run_of([(0, 2.0)] * 40)
    run.effective = '[run]\nbatches = 10\nflows = "sample"\n'
    assert sampling._pooled(Term("X", range={"high_packets": 1}), [run]) is None


def test_a_percentile_needs_ten_flows_beyond_it():
    run = run_of([(0, 2.0)] * 999)
    assert sampling.of_term(Term("X", statistic="p99"), [run]) == sampling.MISSING
    assert sampling.of_term(
        Term("X", statistic="p99"), [run, run_of([(0, 2.0)])]
    ).low == pytest.approx(2.0)


def test_a_mean_over_seeds_is_as_uncertain_as_students_t_says():
    values = [1.0, 2.0, 3.0, 4.0, 6.0, 7.0, 8.0, 9.0, 10.0, 12.0]
    low, high = interval(over_seeds(values))
    mean, deviation = np.mean(values), np.std(values, ddof=1)
    half = student_t(9) * deviation / math.sqrt(10)
    assert low == pytest.approx(mean - half, rel=0.05)
    assert high == pytest.approx(mean + half, rel=0.05)


def test_a_single_seed_has_no_uncertainty():
    assert over_seeds([3.0]) == sampling.exact(3.0)
    assert over_seeds([3.0, None]) == sampling.MISSING
    assert over_seeds([3.0, math.inf]) == sampling.exact(math.inf)


def test_a_median_over_seeds_is_resampled():
    found = over_seeds([1.0, 2.0, 30.0], "median")
    assert found.low == 2.0
    assert set(np.unique(found.draws[0])) <= {1.0, 2.0, 30.0}


def test_draws_without_flows_count_as_missing():
    # All flows begin in one of ten batches: a third of the draws does not have it.
    run = run_of([(3, 1.5 + 0.01 * i) for i in range(100)])
    found = sampling.of_term(Term("X", statistic="p50"), [run])
    assert found.draws is not None
    assert 0.3 < np.isnan(found.draws[0]).mean() < 0.4
    assert not np.isinf(found.draws).any()
    assert found.interval is None
    # With five such runs few draws are empty.
    found = sampling.of_term(Term("X", statistic="p50"), [run] * 5)
    low, high = found.interval
    assert 1.5 <= low <= high < 2.6


def test_draws_are_common_to_all_cases():
    # The same noise in both cases: their ratio is certain though each is not.
    one = sampling.of_term(Term("X", statistic="mean"), [run_of(drawn(1))])
    two = sampling.of_term(
        Term("Y", statistic="mean"), [run_of([(b, 3 * value) for b, value in drawn(1)])]
    )
    assert np.allclose(two.draws / one.draws, 3.0)


def test_students_t():
    assert student_t(1) == 12.706
    assert student_t(20) == 2.086
    # Tables of the distribution.
    known = {21: 2.0796, 25: 2.0595, 30: 2.0423, 60: 2.0003, 120: 1.9799, 10**6: 1.9600}
    for freedom, value in known.items():
        assert student_t(freedom) == pytest.approx(value, abs=5e-4)
    assert all(student_t(n) > student_t(n + 1) for n in range(1, 200))


def test_a_count_of_queries_is_that_of_a_run_unless_pooled():
    """Like other numbers of a summary, in whose ratios counts stand."""
    runs = [run_of([(0, 7.0)] * count, [(1, 9.0)] * 2, kind="queries") for count in (140, 90)]
    count = Term("X", path="queries.background.all.count")
    found = sampling.of_term(count, runs)
    assert (found.low, found.high) == (117.0, 117.0)
    assert interval(found)[0] < 117.0 < interval(found)[1]
    left = Term("X", path="queries.background.all.unfinished")
    assert sampling.of_term(left, runs).low == 2.0
    pooled = Term("X", path="queries.background.all.count", seeds="pooled")
    assert sampling.of_term(pooled, runs).low == 234.0
