"""The data of the HTML report, and the document around it."""

import base64
import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import xoff
from xoff import cli
from xoff.html_report import document, fabric, paths, payload, scenarios
from xoff.html_report.distributions import CompletionTimes
from xoff.html_report.frames import Frames
from xoff.html_report.links import links
from xoff.html_report.rates import FlowRates
from xoff.html_report.recorder import Recorder

ASSETS = Path(document.__file__).parents[1] / document.ASSETS
HOSTILE = "</script><img src=x onerror=alert(1)> \u2028 <!--"


def ports(*links, paused=0):
    """Return the table of ports of links (node, peer, layers), each with both of its ends."""
    rows = []
    for node, peer, kind in links:
        other = "-".join(reversed(kind.split("-")))
        rows += [(node, peer, kind), (peer, node, other)]
    rows.sort(key=lambda row: row[0])
    count = len(rows)
    return {
        "node": np.array([row[0] for row in rows]),
        "port": np.arange(count),
        "peer": np.array([row[1] for row in rows]),
        "link": np.array([row[2] for row in rows], dtype=object),
        "rate_bps": np.full(count, 100_000_000_000),
        "tx_bytes": np.arange(count) * 1000,
        "paused_ps": np.full(count, paused),
        "pauses": np.zeros(count, dtype=int),
        "drops": np.zeros(count, dtype=int),
    }


def named(ports, **labels):
    """Return the names of the nodes of a table of ports; `leaf_0` is the label of leaf 0."""
    layers, names, count = fabric.layers_of_nodes(ports), {}, Counter()
    for node, layer in layers.items():
        name = f"{layer} {node if layer == 'host' else count[layer]}"
        names[node] = labels.get(name.replace(" ", "_"), name)
        count[layer] += 1
    return names


def drawn(*links, **labels):
    """Draw a network of links. Some of its nodes have labels."""
    found = ports(*links)
    return fabric.draw(found, named(found, **labels))


def recording(found, runs=1):
    """Return a recorder of states of the network with this table of ports."""
    return Recorder('[run]\nport_samples = "10us"\n', found, named(found), runs)


# Two leaves (4, 5) of two hosts each and one spine (6).
FABRIC = [(0, 4), (1, 4), (2, 5), (3, 5)]
NETWORK = [
    *((h, leaf, "host-leaf") for h, leaf in FABRIC),
    (4, 6, "leaf-spine"),
    (5, 6, "leaf-spine"),
]


@pytest.mark.parametrize("sizes", [[7] * 30, [1] * 210, [210], [100, 3, 107]])
def test_frames_do_not_depend_on_how_rows_come(sizes):
    values = np.arange(420).reshape(210, 2)
    frames = Frames(16, {"sum": np.sum, "most": np.max})
    at = 0
    for size in sizes:
        rows = values[at : at + size]
        frames.add(np.arange(at, at + size) + 1, {"sum": rows, "most": rows})
        at += size
    times, columns = frames.read()
    assert frames.stride == 8
    assert list(times) == [*range(8, 209, 8), 210]
    assert columns["sum"].sum() == values.sum()
    assert list(columns["most"][:, 1]) == [*(2 * t - 1 for t in times)]


def test_frames_without_rows_are_empty():
    times, columns = Frames(4, {"sum": np.sum}).read()
    assert len(times) == 0
    assert columns == {}


def test_completion_times_are_within_a_bucket_of_the_exact_ones():
    rng = np.random.default_rng(1)
    fct = rng.lognormal(17, 2, 20_000).astype(np.int64)
    sizes = rng.integers(1, 2_000_000, len(fct))
    times = CompletionTimes()
    for part in np.array_split(np.arange(len(fct)), 7):
        times.add(np.full(len(part), 1), sizes[part], fct[part])
    assert times.curves(0) == []
    curves = times.curves(1)
    assert curves[0]["name"] == "all sizes"
    assert sum(curve["flows"] for curve in curves[1:]) == len(fct)
    limits = [(0, 9e9), (0, 1e4), (1e4, 1e5), (1e5, 1e6), (1e6, 9e9)]
    for curve, (low, high) in zip(curves, limits, strict=True):
        own = np.sort(fct[(sizes > low) & (sizes <= high)])
        assert curve["share"][-1] == 1.0
        for us, share in list(zip(curve["us"], curve["share"], strict=True))[1:]:
            exact = own[max(0, round(share * len(own)) - 1)] * 1e-6
            assert us / 1.02 <= exact * 1.001
            assert exact <= us * 1.001


def test_unfinished_flows_keep_the_curve_below_one():
    times = CompletionTimes()
    times.add(np.zeros(3), np.full(3, 100), np.full(3, 10**6))
    assert times.curves(0, finished=3, unfinished=1)[0]["share"][-1] == 0.75


def test_unfinished_flows_count_as_many_as_are_sampled():
    times = CompletionTimes()
    times.add(np.zeros(3), np.full(3, 100), np.full(3, 10**6))
    curve = times.curves(0, finished=300, unfinished=100)[0]
    assert (curve["flows"], curve["share"][-1]) == (3, 0.75)


def series(flows, times):
    rows = [(t, flow, size) for t in times for flow, size in flows.items()]
    return {
        "time_ps": np.array([row[0] for row in rows]) * 10**8,
        "flow": np.array([row[1] for row in rows]),
        "src": np.array([row[1] for row in rows]) + 100,
        "dst": np.zeros(len(rows), dtype=int),
        "received_bytes": np.array([row[2] for row in rows]),
    }


def test_rates_are_those_of_the_largest_flows():
    rates = FlowRates(10**8)
    rates.add(series({flow: 1000 * flow for flow in range(1, 21)}, range(5, 10)))
    curves = rates.curves()
    assert [curve["flow"] for curve in curves] == list(range(13, 21))
    assert curves[-1]["gbps"] == [pytest.approx(20_000 * 8 / 1e-4 / 1e9)] * 5
    assert (curves[-1]["src"], curves[-1]["ms"][0]) == (120, 0.5)


def test_rates_of_long_flows_are_means_over_several_intervals():
    rates = FlowRates(10**8)
    rates.add(series({7: 1250}, range(1, 1001)))
    (curve,) = rates.curves()
    assert len(curve["ms"]) == 334
    assert set(curve["gbps"]) == {0.1}
    assert curve["ms"][-1] == 100.0


def test_rates_keep_the_largest_flows_when_memory_is_short():
    rates = FlowRates(10**8, most_rows=200)
    for step in range(1, 40):
        rates.add(series({flow: 1000 * flow for flow in range(1, 21)}, [step]))
    assert [curve["flow"] for curve in rates.curves()] == list(range(13, 21))
    assert all(len(curve["ms"]) == 39 for curve in rates.curves())


def test_hosts_are_drawn_below_their_leaf():
    drawing = drawn(*NETWORK)
    at = {node.name: node for node in drawing.nodes}
    assert sorted(at) == ["host 0", "host 1", "host 2", "host 3", "leaf 0", "leaf 1", "spine 0"]
    assert at["host 0"].x < at["leaf 0"].x < at["host 1"].x < at["host 2"].x
    assert at["leaf 0"].x == pytest.approx((at["host 0"].x + at["host 1"].x) / 2)
    assert [at[name].tier for name in ("host 0", "leaf 0", "spine 0")] == [0, 1, 2]
    assert len(drawing.links) == len(drawing.link_of_port) == 12


def test_labels_of_nodes_are_drawn():
    drawing = drawn(*NETWORK, host_1="w1", leaf_1="west b")
    assert [(node.name, node.mark) for node in drawing.nodes if node.mark or node.name == "w1"] == [
        ("w1", ""),
        ("leaf 0", "0"),
        ("west b", "west b"),
        ("spine 0", "0"),
    ]


def test_many_hosts_of_a_rack_are_one_node():
    rack = [(host, 300, "host-leaf") for host in range(300)]
    drawing = drawn(*rack, (300, 301, "leaf-spine"))
    assert [(node.name, node.hosts) for node in drawing.nodes] == [
        ("300 hosts of leaf 0", 300),
        ("leaf 0", 0),
        ("spine 0", 0),
    ]
    assert sorted(link[2] for link in drawing.links) == [100, 100, 30_000, 30_000]


def test_merged_ports_add_up_in_any_order():
    links, of_port = fabric._links([(0, 1), (2, 1), (0, 1)], np.array([1e9, 2e9, 4e9]), 1)
    assert [(start, end, gbps) for start, end, gbps, *_ in links] == [(0, 1, 5.0), (2, 1, 2.0)]
    assert of_port.tolist() == [0, 1, 0]


def test_parallel_links_are_lanes():
    two = [(0, 2, "host-leaf"), (1, 3, "host-leaf"), *[(2, 3, "leaf-leaf")] * 2]
    lanes = [link[3:] for link in drawn(*two).links if link[4] == 2]
    assert sorted(lanes) == [(0, 2), (0, 2), (1, 2), (1, 2)]


def test_a_network_with_too_many_links_is_not_drawn():
    mesh = [(leaf, 1000 + spine, "leaf-spine") for leaf in range(60) for spine in range(60)]
    assert drawn(*mesh) is None


def port_samples(ports, times, **columns):
    count = len(ports["node"])
    empty = dict.fromkeys(("queue_bytes", "held_bytes", "tx_bytes", "paused_ps"), 0)
    rows = {name: np.full(count * len(times), value) for name, value in empty.items()}
    rows["time_ps"] = np.repeat(np.array(times) * 10**7, count)
    for name, values in columns.items():
        rows[name] = np.array(values).ravel()
    return pa.table(rows)


def test_states_of_links_are_encoded_by_frame():
    found = ports(*NETWORK)
    recorder = recording(found)
    queue = np.zeros((2, 12), dtype=int)
    queue[0, 5], queue[1, 5], queue[1, 6] = 1_000_000, 250_000, 40_000
    sent = np.full((2, 12), 62_500)
    paused = np.full((2, 12), 5_000_000)
    samples = port_samples(
        found, [1, 2], queue_bytes=queue, held_bytes=queue // 2, tx_bytes=sent, paused_ps=paused
    )
    recorder.add("port_samples", samples)
    payload = recorder.fabric.payload()
    assert payload["ms"] == [0.01, 0.02]
    assert payload["frame_ms"] == 0.01
    assert payload["most_bytes"] == 1_000_000
    assert payload["total_bytes"] == [1_000_000, 290_000]
    assert payload["held_ports"] == [1, 2]
    levels = decoded(payload, "queue")
    assert levels[0, 5] == 255
    assert levels[1, 5] == round(255 * 0.5)
    assert levels[1, 6] == round(255 * 0.2)
    # 62,500 bytes in 10 us are half of 100 Gb/s.
    assert set(decoded(payload, "used").ravel()) == {128}
    assert set(decoded(payload, "paused").ravel()) == {128}


def decoded(payload, key):
    found = np.frombuffer(base64.b64decode(payload[key]), dtype=np.uint8)
    return found.reshape(len(payload["ms"]), -1)


def test_utilisation_is_over_the_rate_of_the_port():
    table = {**ports(*NETWORK), "tx_bytes": np.full(12, 6250)}
    found = links(table, named(table, host_0="w0"), 10**6)
    assert [kind["link"] for kind in found["kinds"]] == [
        *("host-leaf", "leaf-host", "leaf-spine", "spine-leaf")
    ]
    assert all(kind["used"] == {"mean": 0.5, "max": 0.5} for kind in found["kinds"])
    assert found["busiest"][0]["from"] == "w0"
    assert links(ports(*NETWORK), {}, 0) == {"kinds": [], "busiest": []}


def test_settings_that_differ_are_listed():
    one = 'scheme = "bfc"\n[[traffic]]\nload = 0.5\n[run]\nx = true\n'
    other = 'scheme = "dctcp"\n[[traffic]]\nload = 0.5\n[ecn]\nkmin = "1kB"\n[run]\nx = true\n'
    assert scenarios.differences([one, other]) == [
        {"key": "scheme", "values": ["bfc", "dctcp"]},
        {"key": "ecn.kmin", "values": ["-", "1kB"]},
    ]
    assert scenarios.differences([one, "KMAX_MAP 1 2"])[0]["values"] == ["bfc", "-"]


@pytest.mark.parametrize(
    ("text", "ps"), [('"10us"', 10**7), ('"1.5 ms"', 1_500_000_000), ('"0ps"', 0), ("7", 0)]
)
def test_intervals_are_read_from_the_scenario(text, ps):
    assert scenarios.interval_ps(f"[run]\nport_samples = {text}\n", "port_samples") == ps
    assert scenarios.interval_ps("KMAX 1 2 3", "port_samples") == 0


def test_text_of_users_cannot_leave_its_element():
    page = document.html({"format": 1, "runs": [{"name": HOSTILE + "\ud800 {{scripts}}"}]})
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1]
    assert not set("<>&\u2028") & set(data)
    assert json.loads(data)["runs"][0]["name"] == HOSTILE + "\ud800 {{scripts}}"
    assert page.count("<img") == 0


def test_the_page_allows_only_its_own_scripts_and_no_network():
    page = document.html({})
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "default-src 'none'" in policy
    assert "connect-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r'(src|href)="(?!#)', page.split('id="data"')[0])
    assert policy.count("sha256-") == len(document.SCRIPTS) + len(document.STYLES)
    assert "connect-src 'self'" in document.policy(live=True)


def test_every_asset_is_used_and_small():
    used = {*document.SCRIPTS, *document.STYLES, "report.html", "vendor/uPlot-LICENSE"}
    found = {str(file.relative_to(ASSETS)) for file in ASSETS.rglob("*") if file.suffix != ".md"}
    assert found - {"vendor"} == used
    for file in ASSETS.glob("*.*"):
        lines = file.read_text().splitlines()
        assert len(lines) <= 300, file.name
        assert all(line.isprintable() for line in lines), file.name


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_scripts_parse():
    check = """
    const { readFileSync } = require("fs");
    const { Script } = require("vm");
    for (const filename of process.argv.slice(1)) {
      new Script(readFileSync(filename, "utf8"), { filename });
    }
    """
    command = ["node", "-e", check, *(ASSETS / name for name in document.SCRIPTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_vendored_library_is_the_published_file():
    import hashlib

    known = {
        "vendor/uPlot-1.6.32.iife.min.js": "19c8d4c6ad88929a",
        "vendor/uPlot-1.6.32.min.css": "df630c6a8d6f8eea",
    }
    for name, digest in known.items():
        assert hashlib.sha256((ASSETS / name).read_bytes()).hexdigest().startswith(digest)


def test_the_command_refuses_what_is_no_run_and_no_file(tmp_path, capsys):
    assert cli.main(["report", str(tmp_path)]) == 2
    assert "is not a run directory" in capsys.readouterr().err
    assert cli.main(["report", str(tmp_path), "--out", str(tmp_path)]) == 2
    assert "is a folder; name a file" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def path_rows(*rows):
    names = ("flow", "since_ps", "hop", "node", "port")
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def test_paths_are_lists_of_drawn_links_by_the_time_they_began():
    found = ports(*NETWORK)
    recorder = recording(found)
    drawing = fabric.draw(found, named(found))
    first, second, third = (int(drawing.link_of_port[row]) for row in (0, 4, 6))
    at = [(int(found["node"][row]), int(found["port"][row])) for row in (0, 4, 6)]
    # Routes change at 5 us, and the rows of the new path come last.
    recorder.add("paths", path_rows((7, 1_000_000, 0, *at[0]), (7, 1_000_000, 1, *at[1])))
    recorder.add("paths", path_rows((7, 5_000_000, 1, *at[2]), (7, 5_000_000, 0, *at[0])))
    assert recorder.paths.payload() == {
        "flows": {"7": [(0.001, [first, second]), (0.005, [first, third])]},
        "most": None,
    }


def test_a_page_has_the_paths_of_the_first_flows(monkeypatch):
    monkeypatch.setattr(paths, "MOST_FLOWS", 4)
    found = ports(*NETWORK)
    at = int(found["node"][0]), int(found["port"][0])
    recorder = recording(found, runs=2)
    assert recorder.paths.payload() is None
    recorder.add("paths", path_rows(*((flow, 0, 0, *at) for flow in range(5))))
    payload = recorder.paths.payload()
    assert list(payload["flows"]) == ["0", "1"]
    assert payload["most"] == 2


@pytest.mark.real_engine
def test_names_of_a_network_of_a_file_are_shown():
    file = ASSETS.parents[2] / "scenarios/own-network.toml"
    short = {"warmup": "0us", "measure": "20us", "port_samples": "10us", "paths": True}
    run = xoff.scenario(file).without("fault").with_(run=short).run()
    shown = payload.of_result("run", run)
    marks = {name: mark for name, *_, mark in shown["fabric"]["nodes"]}
    assert {"west-a", "east-b", "router-1", "w0", "e7"} <= marks.keys()
    assert (marks["west-a"], marks["w0"]) == ("west-a", "")
    assert {port["from"] for port in shown["links"]["busiest"]} <= marks.keys()
    (path,) = run.paths_of(0).values()
    assert set(path) <= marks.keys()
