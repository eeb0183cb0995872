"""What a run is expected to cost, against runs whose cost is known."""

import json
from pathlib import Path

import pytest

import xoff
from xoff import api, cli, engine, estimate
from xoff.estimate import Estimate, duration_text

ROOT = Path(__file__).parents[2]
PAPERS = ROOT / "papers"
EVERY = 40

SMALL = """\
name = "small"
scheme = "bfc"
leaf_spine = { leaves = 4, spines = 2, hosts_per_leaf = 4 }
[run]
warmup = "50us"
measure = "1ms"
drain = "0s"
"""
SLOW_LINKS = ["leaf_spine.host_rate=1Gbps", "leaf_spine.spine_rate=1Gbps"]
OPEN = '[[traffic]]\nkind = "open-loop"\nload = 0.5\n'
ENDLESS = '[[traffic]]\nkind = "long"\nsrc = 0\ndst = 9\n'
RING = '[[traffic]]\nkind = "collective"\nbytes = "1MB"\n'
TOO_MUCH = '[[traffic]]\nkind = "long"\nsrc = 0\ndst = 9\nbytes = "1GB"\n'


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.2, "about a second or less"),
        (3, "about 3 seconds"),
        (44, "about 40 seconds"),
        (80, "about 80 seconds"),
        (100, "about 1.7 minutes"),
        (150, "about 2.5 minutes"),
        (3600, "about 60 minutes"),
        (5000, "about 83 minutes"),
        (9000, "about 2.5 hours"),
        (86_400 * 3.21, "about 3.2 days"),
    ],
)
def test_times_in_words(seconds, said):
    assert duration_text(seconds) == said


def test_an_estimate_says_that_it_is_hours():
    said = Estimate(estimate.HOPS_PER_S["output-queued"] * 9000, 10**9).text
    assert "some 72 G packet-hops until the measured time ends, about 2.5 hours" in said
    assert said.endswith("perhaps half or twice that; the drain adds up to 1 ms of simulated time")
    assert Estimate(1e6, 0).text.endswith("measured time ends, about a second or less on one core")


@pytest.mark.real_engine
def test_each_architecture_of_switches_has_its_speed():
    declared = engine.top_level()["switch"]["properties"]["architecture"]
    assert declared["enum"] == list(estimate.HOPS_PER_S)
    for architecture, scheme in [("output-queued", "xcp"), ("crossbar", "detail")]:
        expected = xoff.api.expected(SMALL + OPEN, [f"scheme={scheme}", *SLOW_LINKS])
        speed = expected.packet_hops / expected.seconds
        assert speed == pytest.approx(estimate.HOPS_PER_S[architecture])


@pytest.mark.real_engine
@pytest.mark.parametrize("scheme", ["bfc", "dctcp", "hpcc", "pfc", "expresspass"])
def test_it_is_near_the_packet_hops_of_a_run(scheme):
    expected = xoff.api.expected(SMALL + OPEN, [f"scheme={scheme}"])
    done = xoff.run(SMALL + OPEN, set=[f"scheme={scheme}"]).summary["packet_hops"]
    assert 0.6 < done / expected.packet_hops < 2


@pytest.mark.real_engine
def test_few_of_the_recorded_runs_took_twice_as_much():
    runs = [
        run
        for file in sorted(PAPERS.glob("*/results.json"))
        for run in json.loads(file.read_text())["runs"]
        if run["packet_hops"]
    ]
    found = []
    for run in runs[::EVERY]:
        expected = api.expected(PAPERS / run["scenario"], run["settings"])
        if expected is not None:
            found.append(run["packet_hops"] / expected.packet_hops)
    assert len(found) > len(runs) / EVERY / 2
    assert min(found) > 0.6
    assert sum(ratio > 2 for ratio in found) < 0.25 * len(found)


@pytest.mark.real_engine
@pytest.mark.parametrize("traffic", [ENDLESS, RING, TOO_MUCH, OPEN + ENDLESS, OPEN + RING])
def test_it_is_silent_where_it_cannot_know(traffic):
    assert xoff.api.expected(SMALL + traffic) is None


@pytest.mark.real_engine
def test_check_and_run_say_it(tmp_path, capsys):
    file = tmp_path / "small.toml"
    file.write_text(SMALL + OPEN)
    assert cli.main(["check", str(file)]) == 0
    assert "# Cost: some " in capsys.readouterr().out
    assert cli.main(["check", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["expected"]
    assert found["packet_hops"] > 10**5
    assert found["longest_drain_ps"] == 0
    given = ["run", str(file), "--out", str(tmp_path / "out"), "--max-packet-hops", "1k"]
    for more, said in ([], False), (["--set", "run.measure=10s"], True):
        assert cli.main([*given, *more]) == 3
        assert ("note: some " in capsys.readouterr().err) == said


def test_an_engine_without_ports_has_no_estimate(scenario):
    assert xoff.api.expected(scenario) is None
