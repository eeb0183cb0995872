import math

import fake_native
import pyarrow as pa
import pytest

import xoff
from xoff import lookup, metrics
from xoff.claims import load_claims
from xoff.metrics import Term
from xoff.relations import RELATIONS, Bounds
from xoff.verdicts import evaluate

GROUP = {"flows": 2000, "mean": 2.0, "p99": None}


def result(**keys):
    found = {**fake_native.DEFAULTS, **keys}
    return xoff.Result(fake_native.summary_of(found, "d"), "", "d")


def test_a_null_percentile_is_few_samples_or_infinite():
    assert lookup.statistic({"flows": 999, "p99": None}, "p99", 5) is None
    assert lookup.statistic(GROUP, "p99", 5) == math.inf
    assert lookup.statistic(GROUP, "p99", 0) is None
    assert lookup.statistic({**GROUP, "finished": 1990}, "p99") == math.inf
    assert lookup.statistic({"flows": 3, "mean": None}, "mean", 1) == math.inf
    assert lookup.statistic({"flows": 0, "mean": None}, "mean", 1) is None


def test_lookup_by_index_and_by_name():
    summary = {"monitors": [{"name": "a.b", "x": 1}, {"name": "long", "x": 2}]}
    assert lookup.lookup(summary, "monitors.0.x") == 1
    assert lookup.lookup(summary, "monitors.long.x") == 2
    assert lookup.lookup(summary, "monitors.9.x") is None
    assert lookup.lookup(summary, "nothing.here") is None


def test_lookup_of_delays_by_link_and_packets():
    delays = [{"link": "leaf-spine", "packets": kind, "p99_ps": n} for n, kind in enumerate("ab")]
    assert lookup.lookup({"link_delays": delays}, "link_delays.leaf-spine b.p99_ps") == 1
    assert lookup.lookup({"link_delays": delays}, "link_delays.spine-leaf b.p99_ps") is None


def test_a_cdf_may_stand_anywhere_in_the_summary():
    run = xoff.Result(
        {"bfc": {"sharing_flows": {"cdf": [[0, 0.4], [3, 1.0]]}}, "hpcc": None}, "", ""
    )
    assert Term("c", cdf="bfc.sharing_flows", at=2).read(run) == 0.4
    assert Term("c", cdf="hpcc.sharing_flows", at=2).read(run) is None


def test_terms_read_the_first_plain_class_by_default():
    one = result(scheme="bfc")
    assert Term("c", range="short").read(one) == pytest.approx(1.65)
    assert Term("c", range="long").read(one) is None
    assert Term("c", path="buffer.p99_bytes", scale=1e-6).read(one) == 2
    assert Term("c", cdf="active_flows", at=31).read(one) == 0.9
    assert Term("c", cls="nobody").read(one) is None
    assert Term("c", range={"low": 1000, "high": 100_000}).read(one) == pytest.approx(3.3)


def sampled():
    samples = pa.table(
        {
            "time_ps": pa.array([1, 1, 2, 2], pa.uint64()),
            "port": pa.array([metrics.WHOLE_SWITCH, 3, metrics.WHOLE_SWITCH, 3], pa.uint16()),
            "bytes": pa.array([9000, 1000, 9000, 3000], pa.uint64()),
            "active": pa.array([9, 0, 9, 2], pa.uint32()),
        }
    )
    return xoff.Result({}, "", "d", tables={"samples": samples})


def test_samples_of_monitored_ports_leave_out_whole_switches():
    one = sampled()
    assert metrics.sampled_cdf(one, "active") == [(0, 0.5), (2, 1)]
    assert Term("c", path="samples.bytes", scale=1e-3).read(one) == 2
    assert Term("c", cdf="samples.active", at=1).read(one) == 0.5
    assert Term("c", path="samples.nothing").read(one) is None
    assert Term("c", cdf="samples.nothing").read(one) is None


def test_traces_and_active_flows_of_monitored_ports():
    from xoff import panels, plots

    _, (trace, flows) = plots.new_figure(2)
    panels.trace_axes(trace, {"a": sampled()}, "bytes", 100.0, level=2.0)
    assert list(trace.lines[0].get_ydata()) == [1, 3]
    assert len(trace.lines) == 2
    panels.monitored_flows_axes(flows, {"a": sampled()}, queues=31)
    assert list(flows.lines[0].get_ydata()) == [0.5, 1]


def test_traces_are_shown_in_units_that_fit():
    from xoff import panels, plots

    samples = pa.table(
        {
            "time_ps": pa.array([0, 2_000_000_000, 9_000_000_000], pa.uint64()),
            "port": pa.array([3, 3, 3], pa.uint16()),
            "bytes": pa.array([0, 13_000_000, 0], pa.uint64()),
        }
    )
    long = xoff.Result({}, "", "d", tables={"samples": samples})
    _, (ax,) = plots.new_figure(1)
    panels.trace_axes(ax, {"a": long}, "bytes", 4000.0, level=16_000)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time (ms)", "queue (MB)")
    assert list(ax.lines[0].get_xdata()) == [0, 2]
    assert list(ax.lines[0].get_ydata()) == [0, 13]
    assert list(ax.lines[1].get_ydata()) == [16, 16]


def test_a_sweep_as_bars_in_groups():
    from xoff import panels, plots

    curves = {"A": {"0us": [result()], "9us": [result(scheme="hpcc")]}, "B": {"9us": [result()]}}
    _, (ax,) = plots.new_figure(1)
    panels.grouped_bars_axes(ax, curves, {"path": "buffer.p99_bytes", "scale": 1e-6}, level=16)
    heights = [patch.get_height() for patch in ax.patches]
    assert heights == [2, 2, 0, 2]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0us", "9us"]


def test_seeds_are_averaged_or_spread():
    runs = [result(**{"seed": seed}) for seed in (1, 3)]
    assert Term("c").over_seeds(runs) == pytest.approx(6.0 * 1.2)
    assert Term("c", seeds="std").over_seeds(runs) == pytest.approx(6.0 * 0.2 / math.sqrt(2))
    assert Term("c", seeds="std").over_seeds(runs[:1]) is None


def sweeps(**values):
    return {f"{case}@{x}": float(y) for case, ys in values.items() for x, y in enumerate(ys)}


def named(*values):
    return {f"v{i}": value for i, value in enumerate(values)}


@pytest.mark.parametrize(
    ("name", "values", "bounds", "factor", "holds"),
    [
        ("value", {"a": 1.0}, Bounds(0, 1), 1, True),
        ("value", {"a": 1.1}, Bounds(0, 1), 1, False),
        ("value", {"a": None}, Bounds(0, 1), 1, None),
        ("value", {"a": math.inf}, Bounds(None, 1), 1, False),
        ("ratio", {"a": 4.0, "b": 2.0}, Bounds(2, 2), 1, True),
        ("ratio", {"a": 4.0, "c": 9.0, "b": 2.0}, Bounds(2, 3), 1, False),
        ("ratio", {"a": math.inf, "b": math.inf}, Bounds(2, 3), 1, None),
        ("ratio", {"a": 0.0, "b": 0.0}, Bounds(2, 3), 1, None),
        ("max-ratio", {"a": 4.0, "c": 9.0, "b": 2.0}, Bounds(4, 5), 1, True),
        ("difference", {"a": 4.0, "b": 2.0}, Bounds(2, 2), 1, True),
        ("order", {"a": 1.0, "b": 2.0, "c": 2.0}, Bounds(), 1, True),
        ("order", {"a": 1.0, "b": 2.0, "c": 2.0}, Bounds(), 1.5, False),
        ("order", {"a": 1.0, "b": math.inf}, Bounds(), 1, True),
        ("order", {"a": math.inf, "b": math.inf}, Bounds(), 1, None),
        ("order", {"a": 3.0, "b": None, "c": 2.0}, Bounds(), 1, None),
        ("lowest", {"a": 1.0, "b": 9.0, "c": 2.0}, Bounds(), 1, True),
        ("highest", {"a": 1.0, "b": 9.0}, Bounds(), 1, False),
        ("sum", {"a": 1.0, "b": 9.0}, Bounds(10, 10), 1, True),
        ("ratio-order", {"a": 4.0, "b": 2.0, "c": 9.0, "d": 3.0}, Bounds(), 1, True),
        ("ratio-order", {"a": 4.0, "b": 2.0, "c": 9.0, "d": 3.0}, Bounds(), 2, False),
        ("ratio-order", {"a": 4.0, "b": None, "c": 9.0, "d": 3.0}, Bounds(), 1, None),
        ("count", {"a": 1.0, "b": 9.0}, Bounds(5, None), 1, True),
        ("count", {"a": 1.0, "b": 9.0}, Bounds(5, None), 2, False),
        ("linear", {"a@1": 2.0, "a@2": 4.0, "a@4": 8.0}, Bounds(0.999, 1), 1, True),
        ("linear", {"a@1us": 2.0, "a@2us": 4.0, "a@4us": 0.0}, Bounds(0.9, None), 1, False),
        ("linear", {"a@1": 2.0, "a@2": 4.0}, Bounds(0.9, None), 1, None),
        ("linear", {"a@1": 2.0, "a@2": 4.0, "a@3": math.inf}, Bounds(0.9, None), 1, None),
        ("slope-ratio", sweeps(a=(2, 4, 6), b=(0, 1, 2)), Bounds(2, 2.001), 1, True),
        ("slope-ratio", sweeps(a=(2, 4, 6), b=(0, 1, 2)), Bounds(None, 1.5), 1, False),
        ("rank-correlation", named(1, 2, 3, 10, 20, 30), Bounds(0.99, None), 1, True),
        ("rank-correlation", named(1, 2, 3, 10, 30, 20), Bounds(0.6, None), 1, False),
        ("rank-correlation", named(1, 2, 2, 5, 7, 7), Bounds(0.99, None), 1, True),
        ("rank-correlation", named(1, 2, None, 10, 20, 30), Bounds(0.9, None), 1, None),
        ("pair-saving", named(1, 3, 4, 6), Bounds(0.5, 0.75), 1, True),
        ("pair-saving", named(1, 3, 4, 2), Bounds(0, 0.75), 1, False),
        ("pair-saving", named(1, None, 4, 2), Bounds(0, 0.75), 1, None),
        ("max-pair-saving", named(1, 3, 4, 6), Bounds(0.75, 0.75), 1, True),
        ("max-pair-saving", named(1, 3, 4, 6), Bounds(None, 0.7), 1, False),
        ("max-pair-saving", named(1, None, 4, 6), Bounds(0.75, 0.75), 1, None),
        # 10 without, 6, 7 and 4 with a part, 5 with the whole: shares of 0.8, 0.6 and 1.2.
        ("gain-share", named(10, 10, 10, 6, 7, 4, 5, 5, 5), Bounds(0.8, 0.8), 1, True),
        ("gain-share", named(10, 10, 10, 6, 7, 4, 5, 5, 5), Bounds(None, 0.7), 1, False),
        ("gain-share", named(10, None, 5), Bounds(0, 1), 1, None),
        ("gain-share", named(10, 5, None), Bounds(0, 1), 1, None),
        ("gain-share", named(math.inf, 8, 5), Bounds(0, 1), 1, None),
        ("gain-share", named(10, math.inf, 5), Bounds(None, 0.5), 1, True),
        # The whole is slower or gains almost nothing: no share, whatever the part.
        ("gain-share", named(10, 11, 12), Bounds(0, 1), 1, False),
        ("gain-share", named(10, 10, 10), Bounds(0, 1), 1, False),
        ("gain-share", named(100, 99, 98), Bounds(0, 1), 1, False),
        ("gain-share", named(100, 98, 96), Bounds(0.5, 0.5), 1, True),
        ("gain-share", named(10, 10, 6, 11, 5, 12), Bounds(0, 1), 1, False),
        ("gain-share", named(10, 10, None, 11, 5, 12), Bounds(0, 1), 1, False),
        # At most 5: the first reaches 1.5, the second 1.
        ("reach-ratio", sweeps(a=(2, 4, 6), b=(3, 5, 7)), Bounds(1.5, 1.5), 5, True),
        ("reach-ratio", sweeps(a=(2, 4, math.inf), b=(3, 5, 7)), Bounds(1, 1), 5, True),
        # The sweep ends before the first case, the second one or both exceed the limit.
        ("reach-ratio", sweeps(a=(2, 4, 5), b=(3, 5, 7)), Bounds(1, None), 5, None),
        ("reach-ratio", sweeps(a=(3, 5, 7), b=(2, 4, 5)), Bounds(None, 1), 5, None),
        ("reach-ratio", sweeps(a=(2, 4, 5), b=(2, 4, 5)), Bounds(1, 1), 5, None),
        ("reach-ratio", sweeps(a=(2, 4, 6), b=(6, 7, 8)), Bounds(1, None), 5, None),
    ],
)
def test_relations(name, values, bounds, factor, holds):
    assert RELATIONS[name](values, bounds, factor).holds is holds


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('metric = "ratios"\ncases = ["a"]', "unknown metric `ratios` (did you mean `ratio`?)"),
        ('metric = "value"\ncases = ["a"]\nlow = 1\nhihg = 2', "unknown key `hihg`"),
        ('metric = "value"\ncases = ["a"]', "requires `low`, `high` or both"),
        ('metric = "ratio"\ncases = ["a"]\nlow = 1', "at least 2 `cases`"),
        ('metric = "value"\ncases = ["a"]\nlow = 1\nrange = "shrt"', "unknown range `shrt`"),
        ('metric = "value"\ncases = ["a"]\nlow = "1"', "`low` must be a whole number or a number"),
        ("", "give `metric`"),
        ('metric = "value"\nterms = [{ theory = "sfc.tf" }]\nhigh = 1', "did you mean `sfc.t_f`"),
        (
            'metric = "value"\nterms = [{ theory = "sfc.t_f", arguments = { t_a = 1 } }]\nhigh = 1',
            "`t_s` is missing",
        ),
        ('metric = "cdf-distance"\ncases = ["a", "b"]\nhigh = 1', "requires `cdf`"),
        (
            'metric = "value"\ncases = ["a"]\npath = "samples.bytes.peek"\nhigh = 1',
            "unknown measure `peek` in `path` (did you mean `peak`?)",
        ),
        ('metric = "value"\ncases = ["a"]\npath = "senders.all"\nhigh = 1', "senders.0-3"),
    ],
)
def test_mistakes_in_a_claim_are_named(tmp_path, body, message):
    file = tmp_path / "claims.toml"
    file.write_text(f'[[claim]]\nid = "C1"\ntext = "t"\nexperiment = "e"\n{body}\n')
    with pytest.raises(xoff.UsageError) as caught:
        load_claims(file)
    assert message in str(caught.value)
    assert "claim C1" in str(caught.value)


def test_a_claim_twice(tmp_path):
    one = '[[claim]]\nid = "C1"\ntext = "t"\nneeds = ["x"]\n'
    (tmp_path / "claims.toml").write_text(one * 2)
    with pytest.raises(xoff.UsageError, match="twice"):
        load_claims(tmp_path / "claims.toml")


def test_a_claim_that_a_test_shows_is_not_run(tmp_path):
    file = tmp_path / "claims.toml"
    file.write_text('[[claim]]\nid = "C1"\ntext = "t"\nshown_by = "a test"\n')
    verdicts, (rest,) = evaluate(load_claims(file), "e", {})
    assert not verdicts
    assert (rest.needs, rest.claim.shown_by) == ((), "a test")


def check(tmp_path, body, results):
    file = tmp_path / "claims.toml"
    file.write_text(f'[[claim]]\nid = "C1"\ntext = "t"\nexperiment = "e"\n{body}\n')
    (verdict,), not_run = evaluate(load_claims(file), "e", results)
    assert not not_run
    return verdict


def test_a_run_beside_a_closed_form(tmp_path):
    body = """metric = "ratio"
    terms = [
        { case = "A", path = "buffer.p99_bytes" },
        { theory = "sfc.bandwidth_delay", arguments = { rate_bps = 1e11, seconds = 80e-6 } },
    ]
    low = 1.9
    high = 2.1"""
    verdict = check(tmp_path, body, {"A": [result()]})
    assert verdict.holds
    name = "A/sfc.bandwidth_delay(rate_bps 1e+11, seconds 8e-05)"
    assert {key: one.value for key, one in verdict.measured.items()} == {name: pytest.approx(2.0)}


def test_one_bin_is_enough_for_any_bin(tmp_path):
    # Tails by bin are 3.3, 6.6 and 9.9 times; the last has too few flows.
    every = 'metric = "value"\ncases = ["A"]\nrange = "bins"\nlow = 5'
    some = every.replace("bins", "any-bin")
    assert check(tmp_path, every, {"A": [result(scheme="hpcc")]}).holds is False
    assert check(tmp_path, some, {"A": [result(scheme="hpcc")]}).holds is True
    assert check(tmp_path, some.replace("5", "50"), {"A": [result(scheme="hpcc")]}).holds is False


def test_a_relation_by_bin_may_stop_at_a_size(tmp_path):
    body = 'metric = "value"\ncases = ["A"]\nrange = "bins"\nhigh = 5'
    runs = {"A": [result(scheme="hpcc")]}
    assert check(tmp_path, body, runs).holds is False
    verdict = check(tmp_path, body + "\nbelow = 1000", runs)
    assert verdict.holds
    assert [one.value for one in verdict.measured.values()] == [pytest.approx(3.3)]
    with pytest.raises(xoff.UsageError, match="`below` requires `range`"):
        check(tmp_path, body.replace('"bins"', '"all"') + "\nbelow = 1000", runs)


def test_the_least_bin_decides(tmp_path):
    body = 'metric = "value"\ncases = ["A"]\nrange = "least-bin"\nlow = 3\nhigh = 4'
    verdict = check(tmp_path, body, {"A": [result(scheme="hpcc")]})
    assert verdict.holds
    assert [one.value for one in verdict.measured.values()] == [pytest.approx(3.3)]
    runs = {"A": [result(scheme="hpcc")]}
    assert check(tmp_path, body.replace("low = 3", "low = 3.5"), runs).holds is False


def test_two_endless_tails_of_a_bin_leave_every_bin_undecided(tmp_path):
    body = 'metric = "ratio"\ncases = ["A", "B"]\nrange = "bins"\nlow = 1'
    endless = result(scheme="hpcc")
    for entry in endless.class_entries:
        for group in entry["bins"]:
            group.update(flows=5000, finished=10, p99=None)
    assert check(tmp_path, body, {"A": [endless], "B": [endless]}).holds is None


def test_a_check_may_be_about_one_experiment_of_its_claim(tmp_path):
    file = tmp_path / "claims.toml"
    text = """[[claim]]
id = "X"
text = "t"
experiment = ["one", "two"]
metric = "value"
path = "buffer.p99_bytes"
[[claim.check]]
experiment = "one"
cases = ["A"]
low = 0
[[claim.check]]
experiment = "two"
cases = ["B"]
high = 0
"""
    file.write_text(text)
    claims = load_claims(file)
    assert [v.holds for v in evaluate(claims, "one", {"A": [result()]})[0]] == [True]
    assert [v.holds for v in evaluate(claims, "two", {"B": [result()]})[0]] == [False]
    file.write_text(text.replace('experiment = "two"', 'experiment = "three"'))
    with pytest.raises(xoff.UsageError, match="`three` is not in"):
        load_claims(file)


def test_a_saving_is_a_share_of_what_there_was():
    found = RELATIONS["saving"]({"with": 1.0, "without": 4.0}, Bounds(0.7, 0.8), 1.0)
    assert found.measured == {"1 - with/without": 0.75}
    assert found.holds
    assert RELATIONS["saving"]({"with": 1.0, "without": None}, Bounds(0.7), 1.0).holds is None


def test_pairs_make_halves():
    with pytest.raises(xoff.UsageError, match="3 values cannot be divided into 2 equal parts"):
        RELATIONS["pair-saving"](named(1, 2, 3), Bounds(0), 1.0)


def test_a_difference_in_proportion_goes_through_the_origin():
    def holds(*differences):
        sweep = dict(zip(("1us", "2us", "4us"), differences, strict=True))
        above = {f"A@{x}": None if y is None else 5.0 + y for x, y in sweep.items()}
        return RELATIONS["proportional"]({**above, **{f"B@{x}": 5.0 for x in sweep}}, at, 1.0)

    at = Bounds(0.99)
    assert holds(2.0, 4.0, 8.0).measured["slope"] == pytest.approx(2.0)
    assert holds(2.0, 4.0, 8.0).holds
    # Equally linear, but not through the origin.
    assert holds(4.0, 5.0, 7.0).holds is False
    assert holds(2.0, None, 8.0).holds is None


def test_the_mean_over_bins_leaves_out_those_with_few_flows():
    one = result(scheme="hpcc")
    assert Term("c", range="mean-of-bins").read(one) == pytest.approx((3.3 + 6.6) / 2)


def test_the_distance_of_distributions_is_taken_seed_by_seed(tmp_path):
    body = 'metric = "cdf-distance"\ncases = ["A", "B"]\ncdf = "active_flows"\nhigh = 0.1'
    verdict = check(tmp_path, body, {"A": [result()] * 2, "B": [result()] * 2})
    assert verdict.measured["A - B"].value == 0.0
    assert verdict.holds
