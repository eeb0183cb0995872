import math
from dataclasses import replace

import fake_native
import numpy as np
import pyarrow as pa
import pytest

import xoff
from xoff import fairness, figure, metrics, panels, plots, queueing, series
from xoff.claims import load_claims
from xoff.experiment import load_experiment
from xoff.metrics import Relative, Term
from xoff.verdicts import evaluate

US = 1_000_000
FRAME = {"payload_bytes": 1000, "overhead_bytes": 250}
# A link of 10 Gb/s carries 100 kB of payload in 100 us.
FULL = 100_000


def shared(rows):
    """A run in which host 0 received these bytes of each flow per interval of 100 us."""
    table = [
        {"time_ps": (i + 1) * 100 * US, "flow": flow, "src": flow + 1, "dst": 0,
         "received_bytes": got, "delivered_bytes": delivered}
        for i, interval in enumerate(rows)
        for flow, (got, delivered) in interval.items()
    ]  # fmt: skip
    ports = {"node": [0, 1], "rate_bps": [10**10, 4 * 10**10]}
    tables = {"flow_series": pa.Table.from_pylist(table), "ports": pa.table(ports)}
    return xoff.Result({"frame": FRAME}, "", "d", tables=tables)


def both(share):
    return (round(share * FULL), round(share * FULL))


def staggered():
    """One flow, a second one that is fair after three intervals, and the first one stops.

    The last interval before a flow ends does not count.
    """
    unfair = [{0: both(0.9), 1: both(0.1)}, {0: both(0.6), 1: both(0.4)}]
    fair = [{0: both(0.5), 1: both(0.48)}] * 3
    end = [{0: both(0.02), 1: both(0.98)}, *[{1: both(1.0)}] * 3]
    return shared([*[{0: both(1.0)}] * 4, *unfair, *fair, *end])


def test_phases_begin_where_flows_begin_and_end():
    found = list(series.phases(staggered()))
    assert [(phase.flows, len(phase.received)) for phase in found] == [
        ((0,), 4),
        ((0, 1), 4),
        ((1,), 4),
    ]
    assert [phase.full for phase in found] == pytest.approx([FULL] * 3)
    assert found[1].shares[0] == pytest.approx([1.8, 0.2])


def test_a_flow_may_end_with_the_table_or_before_the_measured_time():
    rows = [{0: both(1.0)}] * 3 + [{0: both(0.2)}, {0: (0, 0)}]
    run = shared(rows)
    assert [len(phase.received) for phase in series.phases(run)] == [5]
    run.summary.update(warmup_ps=0, measured_ps=600 * US)
    assert [len(phase.received) for phase in series.phases(run)] == [3]


@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("settle_us.max", 300),
        ("settle_us.p50", 100),
        ("settle_us", (100 + 300 + 100) / 3),
        # The second flow never reaches a band of 3 %: it settles at the end of its phase.
        ("settle_us.max.3", 400),
        ("deviation.max", 1 - (0.8 + 2 * 0.96) / 3),
        ("utilisation.max", 1.0),
        ("utilisation", (4 + 1 + 1 + 2 * 0.98 + 0.98 + 3) / 12),
        ("top_share.max", 0.9),
        ("top_share.p50", (0.6 + 0.5 / 0.98) / 2),
        ("idle_share", 0.0),
        ("swing.max", np.std([0.6, 0.5, 0.5]) * 3 / 1.6),
    ],
)
def test_measures_of_flows_that_share_a_link(what, value):
    assert Term("c", path=f"series.{what}").read(staggered()) == pytest.approx(value)


def test_bursts_are_idle_intervals():
    # Data received out of order is delivered only after the missing data.
    run = shared([{0: (1000, 0), 1: (1000, 2000 * (i % 2))} for i in range(9)])
    # The first interval does not count; of the others half of one flow's and all of the other's.
    assert series.read(run, "idle_share") == pytest.approx((8 + 4) / 16)
    assert series.read(run, "swing.max") == pytest.approx(1.0)


def test_one_interval_says_nothing_of_a_share():
    assert series.read(shared([{0: both(1.0)}]), "settle_us") is None
    assert series.read(shared([{0: both(1.0)}]), "top_share") is None


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("settel_us", "unknown measure `settel_us` of series (did you mean `settle_us`?)"),
        ("settle_us.p42", "unknown measure `p42` of series"),
        ("swing.mean.5", "only settle_us takes a band"),
        ("settle_us.max.0", "only settle_us takes a band, in whole percent"),
    ],
)
def test_a_wrong_measure_is_refused(path, message):
    with pytest.raises(xoff.UsageError) as error:
        series.parse(path)
    assert message in str(error.value)


def leaf_spine():
    """Two leaves with two hosts each and one spine: hosts 0-3, leaves 4 and 5, spine 6."""
    links = [(0, 4), (1, 4), (2, 5), (3, 5), (4, 6), (5, 6)]
    ends = sorted([*links, *[(b, a) for a, b in links]])
    names = ["host"] * 4 + ["leaf"] * 2 + ["spine"]
    number, rows = {}, []
    for node, peer in ends:
        number[node] = number.get(node, -1) + 1
        rate = 10**10 if min(node, peer) < 4 else 4 * 10**10
        rows.append({"node": node, "port": number[node], "peer": peer,
                     "link": f"{names[node]}-{names[peer]}", "rate_bps": rate})  # fmt: skip
    return rows


def sampled_ports(queues):
    """A run with these bytes in queues: a dictionary by (node, peer) for each sample."""
    ports = leaf_spine()
    rows = [
        {"time_ps": i, "queue_bytes": sample.get((port["node"], port["peer"]), 0)}
        for i, sample in enumerate(queues)
        for port in ports
    ]
    tables = {"ports": pa.Table.from_pylist(ports), "port_samples": pa.Table.from_pylist(rows)}
    return xoff.Result({}, "", "d", tables=tables)


def test_a_paths_delay_is_that_of_all_its_queues():
    # 12.5 kB take 10 us at 10 Gb/s, and 2.5 us at 40.
    queues = {(4, 6): 12_500, (6, 5): 25_000, (5, 2): 12_500, (5, 3): 12_500, (4, 0): 1_250}
    run = sampled_ports([queues, {}])
    longer = queueing.path_delays_us(run, 4).reshape(2, -1)
    assert set(np.round(longer[0], 6)) == {17.5, 1.0, 0.0}
    assert set(longer[1]) == {0.0}
    assert set(np.round(queueing.path_delays_us(run, 2)[: queueing.PATHS], 6)) == {10.0, 1.0, 0.0}
    assert Term("c", path="queueing.4.p99_us").read(run) == pytest.approx(17.5)
    half_up = (17.5 * (longer[0] > 17).mean() + (longer[0] == 1).mean()) / 2
    assert Term("c", path="queueing.4.mean_us").read(run) == pytest.approx(half_up)
    for wrong in ("3.p99_us", "4.p98_us", "4"):
        with pytest.raises(xoff.UsageError, match="expected"):
            queueing.parse(wrong)


def flows(rows, **entry):
    """A run with flows (number, bytes, completion time in ps, slowdown)."""
    columns = ("flow", "size_bytes", "fct_ps", "slowdown")
    table = pa.table(
        {name: [row[i] for row in rows] for i, name in enumerate(columns)}
        | {"class": [0] * len(rows)}
    )
    summary = {"frame": FRAME, "classes": [{"class": "web", "flows": len(rows), **entry}]}
    return xoff.Result(summary, "", "d", tables={"flows": table})


def test_fairness_is_compared_flow_by_flow():
    # 8 bits in 1 us are 8 Mb/s = 2^3 Mb/s; a flow that the other run did not finish is left out.
    slow = flows([(2, 1, US, 1.0), (0, 4, US, 1.0), (7, 1, 64 * US, 1.0)])
    fast = flows([(0, 8, US, 1.0), (2, 8, US, 1.0)])
    offset = math.log2(1e6)
    assert fairness.score(fast) == pytest.approx(6 + offset)
    assert fairness.difference(slow, fast) == pytest.approx(-(1 + 3) / 2)
    assert fairness.difference(slow, fast, "nobody") is None
    assert Term("c", path="fairness.score", cls="web").read(slow) == pytest.approx(5 / 3 + offset)


def test_sizes_in_packets():
    small = [(i, 1 + i % 1000, US, 1.0 + i) for i in range(2000)]
    large = [(2000 + i, 1001 + i, US, 5000.0) for i in range(500)]
    run = flows([*small, *large], unfinished=0)

    def read(statistic, low=None, high=None):
        packets = {"low_packets": low, "high_packets": high}
        return Term("c", range=packets, statistic=statistic).read(run)

    assert read("p50", 1, 1) == 1000
    assert read("p99", 1, 1) == 1980
    assert read("mean", 2, 10) == 5000
    assert read("p99", 2, 10) is None, "five flows are beyond it"
    assert read("p50", 11) is None
    assert read("p50") == 1250


def test_flows_that_did_not_finish_count_in_ranges_that_their_size_bins_reach_into():
    bins = [
        {"low_bytes": 0, "high_bytes": 3000, "flows": 2000, "finished": 2000},
        {"low_bytes": 3000, "high_bytes": None, "flows": 100, "finished": 0},
    ]
    run = flows([(i, 1000, US, 1.0 + i) for i in range(2000)], bins=bins)

    def read(statistic, low, high=None):
        packets = {"low_packets": low, "high_packets": high}
        return Term("c", range=packets, statistic=statistic).read(run)

    assert read("p99", 1, 1) == 1980
    assert read("p99", 1, 2) == 1980, "up to 2000 B"
    assert read("p99", 1, 3) == math.inf, "3000 B are in the second bin"
    assert read("p50", 1) == 1050
    assert read("mean", 1) == pytest.approx(1000.5)


def test_a_case_in_relation_to_another():
    slow, fast = flows([(0, 4, US, 3.0)]), flows([(0, 8, US, 2.0)])
    mean = Term("c", range={"low_packets": 1}, statistic="mean")
    assert Relative({0.8: [fast]}).read(mean, 0.8, [slow]) == 1.5
    assert Relative({0.8: [fast]}, "difference").read(mean, 0.8, [slow]) == 1.0
    score = Term("c", path="fairness.score")
    assert Relative({0.8: [fast]}, "difference").read(score, 0.8, [slow]) == pytest.approx(-1)
    with pytest.raises(xoff.UsageError, match="as many seeds"):
        metrics.score_difference([slow], [fast, fast])


PLOTS = """
[[plot]]
kind = "bars"
relative_to = "BFC"
range = "short"
cases = ["HPCC"]
[[plot]]
kind = "flow-series"
cases = ["HPCC", "BFC"]
"""


def test_plots_of_flows_and_in_relation_to_a_case(paper):
    file = paper / "demo" / "fig1" / "experiment.toml"
    file.write_text(file.read_text() + PLOTS)
    experiment = load_experiment(file.parent, "demo/fig1", "quick")
    experiment = replace(experiment, plots=experiment.plots[-2:])

    def run(scheme):
        summary = fake_native.summary_of({**fake_native.DEFAULTS, "scheme": scheme}, "d")
        return xoff.Result(summary, "", "d", tables=staggered()._tables)

    for run_of in (summaries := {"BFC": run("bfc"), "HPCC": run("hpcc")}).values():
        run_of.summary["frame"] = FRAME
    labels = ("BFC", "HPCC", "Sweep@10", "Sweep@100")
    results = {label: [summaries.get(label, summaries["BFC"])] for label in labels}
    bars, hpcc, bfc = [ax for ax in figure.build(experiment, results).axes if ax.get_visible()]
    assert [patch.get_height() for patch in bars.patches] == pytest.approx([2.0])
    assert (hpcc.get_title(), bfc.get_title()) == ("HPCC", "BFC")
    assert len(hpcc.lines) == 2


def test_only_some_plots_are_in_relation_to_a_case(paper):
    file = paper / "demo" / "fig1" / "experiment.toml"
    text = file.read_text()
    for plot, message in (
        (
            'kind = "trace"\nrelative_to = "BFC"',
            "`relative_to` requires kind bars",
        ),
        ('kind = "bars"\nrelative_to = "BFG"', "unknown case `BFG` (did you mean `BFC`?)"),
        ('kind = "bars"\nrelation = "rato"', "unknown relation `rato` (did you mean `ratio`?)"),
        (
            'kind = "bars"\nrange = { low = 1, high_packets = 2 }',
            "`range` takes `low` and `high`, or",
        ),
        ('kind = "bars"\npath = "series.setle_us"', "did you mean `settle_us`?"),
        ('kind = "bars"\npath = "queueing.5"', "expected queueing.2.STATISTIC or queueing.4"),
        ('kind = "bars"\npath = "fairness.scor"', "did you mean `fairness.score`?"),
    ):
        file.write_text(f"{text}\n[[plot]]\n{plot}\n")
        with pytest.raises(xoff.UsageError) as error:
            load_experiment(file.parent, "demo/fig1", "quick")
        assert message in str(error.value)


def test_a_claim_about_scores_compares_flows(tmp_path):
    file = tmp_path / "claims.toml"
    file.write_text(
        '[[claim]]\nid = "C1"\ntext = "fairer"\nexperiment = "e"\nmetric = "score-difference"\n'
        'cases = ["slow", "fast"]\nlow = -2.5\nhigh = -1.5\n'
    )
    slow = flows([(2, 1, US, 1.0), (0, 4, US, 1.0), (7, 1, 64 * US, 1.0)])
    fast = flows([(0, 8, US, 1.0), (2, 8, US, 1.0)])
    verdicts, _ = evaluate(load_claims(file), "e", {"slow": [slow], "fast": [fast]})
    assert verdicts[0].holds is True
    assert verdicts[0].measured["slow - fast"].value == pytest.approx(-2)


def test_each_flow_is_a_line_that_differs_without_colour():
    _, (ax,) = plots.new_figure(1)
    panels.flow_series_axes(ax, "DCTCP", staggered())
    assert ax.get_title() == "DCTCP"
    first, second = ax.lines
    assert list(first.get_ydata()[:5]) == pytest.approx([8, 8, 8, 8, 7.2])
    assert list(second.get_xdata())[:2] == pytest.approx([0.5, 0.6])
    assert first.get_linestyle() != second.get_linestyle()
    assert first.get_marker() != second.get_marker()
