"""The command as users run it: the built engine, in a separate process."""

import json
import math
import os
import resource
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import xoff
from xoff.batches import of_sizes
from xoff.manifest import read_manifest
from xoff.metrics import Term

pytestmark = pytest.mark.real_engine

GOOD = """\
name = "small"
scheme = "bfc"
[run]
warmup = "0us"
measure = "50us"
[[traffic]]
kind = "open-loop"
load = 0.5
"""


def start(*args, **options):
    command = [sys.executable, "-m", "xoff", *map(str, args)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, **pipes, **options)


def call(*args, **options):
    process = start(*args, **options)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.fixture
def small(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(GOOD)
    return file


def test_a_capture_is_written_and_depends_on_no_thread(small, tmp_path):
    files = []
    for threads in ("1", "2"):
        out = tmp_path / f"on-{threads}"
        set_ = ["--set", "run.capture=0,spine:1", "--threads", threads]
        code, _, err = call("run", small, "--out", out, *set_)
        assert (code, err) == (0, "")
        files.append((out / "trace.pcapng").read_bytes())
    assert files[0] == files[1]
    kinds = []
    at = 0
    while at < len(files[0]):
        kind, length = struct.unpack_from("<II", files[0], at)
        kinds.append(kind)
        at += length
    # Host 0's link and the spine's eight, each in two directions, before all packets.
    assert kinds[:19] == [0x0A0D0D0A, *[1] * 18]
    assert len(kinds) > 1000
    assert set(kinds[19:]) == {6}


def test_a_capture_of_a_link_that_does_not_exist_is_refused(small):
    code, _, err = call("check", small, "--set", "run.capture=spine:8")
    assert code == 2
    assert "spine:8 names no spine switch: they are spine:0 to spine:7" in err


def test_a_run_writes_whole_results(small, tmp_path):
    out = tmp_path / "out"
    code, said, err = call("run", small, "--out", out)
    assert (code, err) == (0, "")
    assert "small: scheme bfc, seed 1, digest" in said
    assert read_manifest(out)["complete"] is True
    summary = json.loads((out / "summary.json").read_text())
    flows = pq.read_table(out / "flows.parquet").to_pydict()
    assert len(flows["flow"]) == sum(c["flows"] for c in summary["classes"]) > 1000
    slowdown = [a / b for a, b in zip(flows["fct_ps"], flows["ideal_fct_ps"], strict=True)]
    assert min(slowdown) >= 1
    assert not out.with_name("out.partial").exists()


def test_from_python_and_from_the_command_line_it_is_the_same(small, tmp_path):
    assert call("run", small, "--out", tmp_path / "out", "--quiet")[0] == 0
    here = xoff.run(small)
    assert here.digest == read_manifest(tmp_path / "out")["digest"]


@pytest.mark.parametrize("scheme", ["bfc", "hpcc"])
def test_results_do_not_depend_on_threads(small, tmp_path, scheme):
    files = ("flows.parquet", "ports.parquet", "samples.parquet", "summary.json", "scenario.toml")
    found = set()
    for threads in (1, 2, 3, 8):
        out = tmp_path / str(threads)
        sets = ["--set", f"scheme={scheme}", "--threads", threads]
        assert call("run", small, "--out", out, "--quiet", *sets) == (0, "", "")
        manifest = read_manifest(out)
        assert (manifest["threads"], manifest["threads_note"]) == (threads, None)
        found.add((manifest["digest"], *[(out / name).read_bytes() for name in files]))
    assert len(found) == 1


STAGGERED = """\
name = "staggered"
scheme = "ideal-fq"
leaf_spine = { leaves = 4, spines = 2, hosts_per_leaf = 4 }
[run]
warmup = "0us"
measure = "1200us"
flow_series = "20us"
port_samples = "100us"
[[traffic]]
kind = "staggered"
senders = "4,8,12"
interval = "200us"
"""


def test_flows_that_come_and_go_share_a_link(small, tmp_path):
    small.write_text(STAGGERED)
    found = set()
    for threads in (1, 2):
        out = tmp_path / str(threads)
        assert call("run", small, "--out", out, "--quiet", "--threads", threads) == (0, "", "")
        files = ("flow_series.parquet", "port_samples.parquet", "summary.json")
        found.add(tuple((out / name).read_bytes() for name in files))
    assert len(found) == 1
    result = xoff.load(tmp_path / "1")
    assert result.flow_series.column_names[-2:] == ["received_bytes", "delivered_bytes"]
    read = {
        path: Term("c", path=path).read(result)
        for path in ("series.settle_us.max", "series.deviation.max", "series.utilisation.p50")
    }
    # Fair queueing shares the link from the first round trip on.
    assert 20 <= read["series.settle_us.max"] <= 60
    assert read["series.deviation.max"] < 0.05
    assert 0.98 < read["series.utilisation.p50"] < 1.02
    # At most three windows wait at the receiver's port; there is no other traffic.
    assert Term("c", path="queueing.4.p99_us").read(result) > 0
    assert Term("c", path="dropped.bytes").read(result) == 0


def test_a_flow_tells_its_path_and_a_change_of_it(tmp_path):
    fault = (
        '[[fault]]\nkind = "link-down"\nlink = "leaf:1,spine:{}"\n'
        'at = "100us"\ndetection = "50us"\n'
    )
    sets = ["run.measure=400us", "run.paths=true", "scheme=tcp-newreno"]
    changed = 0
    for spine in (0, 1):
        out = tmp_path / str(spine)
        result = xoff.run(STAGGERED + fault.format(spine), out, set=sets)
        paths = xoff.load(out).paths_of(0)
        assert list(paths) in ([0], [0, 150_000_000])
        for path in paths.values():
            assert (path[0], path[1], path[3], path[4]) == ("host 4", "leaf 1", "leaf 0", "host 0")
        names = [path[2] for path in paths.values()]
        assert names in ([f"spine {spine}", f"spine {1 - spine}"], [f"spine {1 - spine}"])
        changed += len(paths) - 1
        assert result.paths.equals(xoff.load(out).paths)
        racks = result.nodes["rack"].to_pylist()
        assert racks[:8] == [0] * 4 + [1] * 4
        assert racks[-2:] == [None, None]
    assert changed == 1
    with pytest.raises(xoff.UsageError, match="no path of flow 99"):
        result.paths_of(99)


def test_a_link_that_goes_down_loses_what_the_summary_says(small, tmp_path):
    fault = '[[fault]]\nkind = "link-down"\nlink = "leaf:0,spine:1"\nat = "20us"\nuntil = "40us"\n'
    small.write_text(GOOD.replace("bfc", "tcp-newreno") + fault)
    assert call("run", small, "--out", tmp_path / "out", "--quiet") == (0, "", "")
    result = xoff.load(tmp_path / "out")
    ports = result.ports.to_pylist()
    ends = [{row["node"], row["peer"]} == {128, 137} for row in ports]
    lost = sum(row["drop_bytes"] for row, end in zip(ports, ends, strict=True) if end)
    assert lost > 0
    assert result.summary["dropped"]["bytes"] >= lost
    small.write_text(small.read_text().replace("leaf:0,spine:1", "leaf:0,spine:8"))
    code, _, err = call("check", small)
    assert code == 2
    assert "spine:8 names no spine switch: they are spine:0 to spine:7" in err


STAR = """\
name = "star"
scheme = "dctcp"
network.topology = "star"
run = { warmup = "0us", measure = "50us" }
[[traffic]]
kind = "open-loop"
load = 0.5
load_on = "hosts"
"""


def test_who_asks_for_threads_hears_why_there_are_fewer(small, tmp_path):
    small.write_text(STAR)
    out = tmp_path / "out"
    why = (
        "one thread is used: all hosts are attached to one switch, so the network cannot be divided"
    )
    code, _, err = call("run", small, "--out", out, "--threads", 2)
    assert (code, err) == (0, f"xoff: note: {why}\n")
    manifest = read_manifest(out)
    assert (manifest["threads"], manifest["threads_note"]) == (1, why)
    assert call("run", small, "--out", out)[2] == ""


def assert_one_error(found, code, *parts):
    """One error with description and location, only on stderr; no traceback."""
    given, out, err = found
    assert (given, out) == (code, ""), err
    assert err.count("error") == 1, err
    assert "Traceback" not in err
    for part in parts:
        assert part in err, err


def assert_nothing_left(tmp_path):
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.partial").exists()


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("measure", "meazure", ["small.toml:5:1", '"meazure"', "measure"]),
        ("[run]", "[runn]", ["small.toml:3:", "[runn]", 'did you mean "run"']),
        ('"bfc"', '"bcf"', ["small.toml:2:", "bcf", "bfc"]),
        ('"50us"', '"50MB"', ["small.toml:5:11", "50MB", "us"]),
        ('"50us"', "50", ["small.toml:5:11", "without a unit"]),
        ("load = 0.5", "load = -0.5", ["small.toml:8:8", "-0.5"]),
        ("load = 0.5", "load = 0.5\n[leaf_spine]\nhost_rate = '-1Gbps'", ["toml:10:13", "-1Gbps"]),
        ("load = 0.5", "load = 0.5\n[buffer]\nsize = '0B'", ["toml:10:1", "more than zero"]),
        ("load = 0.5", "load = 0.5 0.6", ["small.toml:8:"]),
    ],
)
def test_a_wrong_scenario_is_refused_at_its_place(small, tmp_path, old, new, parts):
    small.write_text(GOOD.replace(old, new))
    assert_one_error(call("run", small, "--out", tmp_path / "out"), 2, *parts)
    assert_one_error(call("check", small), 2, *parts)
    assert_nothing_left(tmp_path)


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        ("0,128,1000,0\n", ["list.csv, line 2:", "host 128 does not exist", "0 to 127"]),
        ("0,1,1000,0\n5,5,1000,9\n", ["list.csv, line 3:", "host 5 cannot send to itself"]),
        ("0,1,1000,9\n0,1,1000,0\n", ["list.csv, line 3:"]),
        ("0,1,-1000,0\n", ["list.csv, line 2:", "-1000"]),
    ],
)
def test_a_wrong_flow_list_is_refused_at_its_line(small, tmp_path, rows, parts):
    (tmp_path / "list.csv").write_text("src,dst,size_bytes,start_ps\n" + rows)
    old = 'kind = "open-loop"\nload = 0.5'
    small.write_text(GOOD.replace(old, 'kind = "list"\nfile = "list.csv"'))
    assert_one_error(call("run", small, "--out", tmp_path / "out"), 2, *parts)
    assert_nothing_left(tmp_path)


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        ("100,0\n200,0.4\n300,0.3\n", ["sizes.csv, line 4:", "falls from 0.4 to 0.3"]),
        ("100,0\n200,0.9\n", ["sizes.csv, line 3:", "0.9"]),
        ("100,0\n50,1\n", ["sizes.csv, line 3:", "50"]),
    ],
)
def test_wrong_sizes_are_refused_at_their_line(small, tmp_path, rows, parts):
    (tmp_path / "sizes.csv").write_text("size_bytes,cdf\n" + rows)
    small.write_text(GOOD.replace("load", 'sizes = "sizes.csv"\nload'))
    assert_one_error(call("run", small, "--out", tmp_path / "out"), 2, *parts)
    assert_nothing_left(tmp_path)


def test_all_mistakes_are_reported_at_once(small):
    small.write_text(GOOD.replace("measure", "meazure").replace("load", "laod"))
    code, _, err = call("check", small)
    assert code == 2
    assert "small.toml:5:1" in err
    assert "small.toml:8:1" in err


def test_an_out_that_cannot_be_written(small, tmp_path):
    (tmp_path / "file").write_text("precious")
    found = call("run", small, "--out", tmp_path / "file" / "out")
    assert_one_error(found, 2, str(tmp_path / "file" / "out"))
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_out_without_permission(small, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    found = call("run", small, "--out", tmp_path / "locked" / "out")
    assert_one_error(found, 2, "locked", "permission denied")


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


def test_a_disk_that_fills(small, tmp_path):
    # A limit on the size of files stops a write in the middle, as a full disk does.
    found = call("run", small, "--out", tmp_path / "out", preexec_fn=small_files)
    assert_one_error(found, 1, "flows.parquet", "marked incomplete")
    assert not (tmp_path / "out").exists()
    manifest = read_manifest(tmp_path / "out.partial")
    assert (manifest["complete"], manifest["status"]) == (False, "failed")
    # The remaining files do not block the next run.
    assert call("run", small, "--out", tmp_path / "out", "--quiet") == (0, "", "")
    assert read_manifest(tmp_path / "out")["complete"] is True


def test_a_run_from_the_shell_does_not_import_numpy(small, tmp_path):
    out = tmp_path / "lean"
    code = (
        "import sys; from xoff.cli import main; code = main(); "
        "assert 'pyarrow' in sys.modules and 'numpy' not in sys.modules; import numpy; "
        "sys.exit(code)"
    )
    command = [sys.executable, "-c", code, "run", str(small), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    with_numpy = xoff.run(small, tmp_path / "full")
    for name in ("flows", "samples"):
        assert getattr(xoff.load(out), name).equals(getattr(with_numpy, name))


def test_a_full_disk_under_stdout(small):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "xoff", "check", str(small)]
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
    assert done.returncode == 1
    assert done.stderr.count("error") == 1
    assert "no space left" in done.stderr


def test_ctrl_c_ends_a_run(small, tmp_path):
    out = tmp_path / "out"
    endless = ["--set", 'run.measure="100s"', "--progress-json"]
    process = start("run", small, "--out", out, *endless)
    assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"interrupted; what was done is in {out}.partial (marked incomplete)" in err
    assert "Traceback" not in err
    assert not out.exists()
    manifest = read_manifest(tmp_path / "out.partial")
    assert (manifest["complete"], manifest["status"]) == (False, "interrupted")
    assert pq.read_table(tmp_path / "out.partial" / "flows.parquet").num_rows > 1000


def test_a_stuck_run_says_where(small, tmp_path):
    lossy = ["faults.control_loss=0.5", 'bfc.refresh_period="10s"', 'run.watchdog="1ms"']
    lossy += ["traffic.0.load=0.9", 'traffic.0.stop="50us"']
    sets = [part for text in lossy for part in ("--set", text)]
    found = call("run", small, "--out", tmp_path / "out", *sets)
    parts = ["the run is stuck", "flow ", "NIC queue", "paused", "marked incomplete"]
    assert_one_error(found, 1, *parts)
    assert not (tmp_path / "out").exists()


def test_bench_lists_its_cases():
    code, out, _ = call("bench", "--list")
    assert code == 0
    assert {"dctcp-hadoop-128", "bfc-google-128"} <= set(out.split())


def test_bench_says_what_it_measured():
    process = start("bench", "dctcp-hadoop-128", "--json", "--threads", "1")
    out, _ = process.communicate(timeout=300)
    found = json.loads(out)
    assert process.returncode == 0
    assert found["threads"] == 1
    assert len(found["digest"]) == 16
    assert found["hosts"] == 128
    for key in ("packet_hops", "flows", "build_s", "wall_s", "ns_per_packet_hop"):
        assert found[key] > 0, key
    if sys.platform == "linux":
        assert found["peak_rss_bytes"] > 0
        assert 0 < found["bytes_per_active_flow"] < 1e6
        assert found["bytes_per_idle_host"] >= 0


def test_bench_says_why_a_case_is_refused():
    code, out, err = call("bench", "sfc-buffer-x100", "--threads", "1")
    assert (code, out) == (2, "")
    assert err.startswith("error: [sfc] trigger"), err


def test_bench_ends_on_ctrl_c():
    process = start("bench", "bfc-google-128", "--json")
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err


GOLDEN = Path(__file__).parents[2] / "crates/xoff-run/tests/golden"
DIGESTS = """
import sys
from xoff import _native
text = open(sys.argv[1]).read()
# Presets with their own topology size; the others get one with enough traffic.
own = ("ideal-fq", "ideal-srf", "ndp", "expresspass", "xcp", "pfabric", "sfqcodel")
for scheme, _ in _native.presets():
    sized = scheme not in own and not scheme.startswith(
        ("tcp-", "ns2-", "ns3-", "htsim-", "detail", "capfc", "pfc-w", "homa")
    )
    sets = [f"scheme={scheme}"] + ["buffer.size=2MB"] * sized
    # Their thresholds are those of Gigabit links.
    if scheme in ("detail", "detail-pfc"):
        sets += ["crossbar.ingress_size=1MB", "pause.xoff=60KB"]
    if scheme.startswith(("capfc", "pfc-w")):
        sets += ["pipeline.packet_rate=1e9"]
        if not scheme.endswith("-shared"):
            sets += ["pipeline.ingress_size=1MB", "pause.xoff=900KB"]
    if scheme == "bfc-incast-label":
        sets += ["traffic.1.labelled=true"]
    run = _native.open_run(text, sys.argv[1], sets, 1)
    while run.step(1000):
        pass
    print(scheme, run.digest())
"""


def test_release_and_debug_builds_agree():
    """The release build has the digests of the table that Rust's tests check in debug builds."""
    command = [sys.executable, "-c", DIGESTS, GOLDEN / "scenario.toml"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = (GOLDEN / "presets.txt").read_text().splitlines()[1:]
    assert [line.split() for line in said.splitlines()] == [line.split()[:2] for line in lines]


OVERLOAD = """\
name = "overload"
scheme = "dctcp"
[run]
warmup = "0us"
measure = "100us"
drain = "20us"
batches = 5
[[traffic]]
kind = "incast"
degree = 60
bytes = "4MB"
period = "20us"
"""


def test_batches_count_every_flow_of_the_summary(tmp_path):
    xoff.run(OVERLOAD, out=tmp_path / "run")
    run = xoff.load(tmp_path / "run")
    rows = [row for row in run.batches.to_pylist() if row["group"] == "all"]
    assert {row["kind"] for row in rows} == {"flows"}
    assert {row["batch"] for row in rows} == set(range(5))
    (incast,) = run.class_entries
    finished = [row for row in rows if row["finished"]]
    assert sum(row["finished"] for row in finished) == incast["finished"] > 0
    assert sum(row["censored"] for row in rows) == incast["unfinished"] > 0
    assert all(row["low"] < row["high"] <= row["low"] * 257 / 256 + 0.001 for row in rows)
    slowdowns = run.flows["slowdown"].to_pylist()
    assert sum(row["sum"] for row in finished) == pytest.approx(sum(slowdowns))
    within = [row["low"] - 0.001 <= row["sum"] / row["finished"] <= row["high"] for row in finished]
    assert all(within)
    plain = xoff.run(OVERLOAD, out=tmp_path / "plain", set=["run.batches=0"])
    assert plain.digest == run.digest
    with pytest.raises(xoff.UsageError, match=r"this run recorded no batches: set run\.batches"):
        _ = plain.batches


SIZES = """\
name = "sizes"
scheme = "dctcp"
[run]
warmup = "50us"
measure = "400us"
drain = "20us"
batches = 5
[[traffic]]
kind = "open-loop"
load = 0.6
sizes = "fb-web"
class = "background"
"""


def test_flows_of_a_range_of_sizes_have_the_histograms_of_their_bins(tmp_path):
    xoff.run(SIZES, out=tmp_path / "run")
    run = xoff.load(tmp_path / "run")

    def content(columns):
        names = ("batch", "middle", "finished", "censored")
        rows = sorted(zip(*(columns[name] for name in names), strict=True))
        merged = {}
        for batch, middle, *counts in rows:
            key = (int(batch), float(middle))
            merged[key] = np.add(merged.get(key, [0, 0]), counts)
        return {key: list(counts) for key, counts in merged.items()}

    for index, one in enumerate(run.class_entries[0]["bins"]):
        # Sizes of a bin are at least `low`, and below `high`.
        low, high = max(0, one["low_bytes"] - 1), (one["high_bytes"] or math.inf) - 1
        whole = run.batch_groups[("flows", "background", f"bin{index}")]
        assert content(of_sizes(run, "background", low, high)) == content(whole)
    assert run.class_entries[0]["unfinished"] > 0


def test_the_drain_says_what_is_missing():
    seen = []
    overload = ["run.drain=2ms", "run.batches=0", "traffic.0.stop=100us"]
    xoff.run(OVERLOAD, set=overload, progress=lambda at: seen.append(dict(at)), threads=1)
    last = seen[-1]
    assert set(last) == set(xoff.Progress.__annotations__)
    assert (last["phase"], last["drain_end_ps"]) == ("drain", 2_100_000_000)
    assert last["measured_flows"] == 300
    assert (last["missing_flows"], last["measured_requests"]) == (0, 0)


@pytest.mark.parametrize(
    ("scheme", "counts"),
    [
        *((scheme, True) for scheme in ("bfc", "hpcc-pfc-sfq", "ideal-fq", "ideal-srf", "pfabric")),
        *((scheme, False) for scheme in ("dctcp", "hpcc", "swift")),
    ],
)
def test_a_run_knows_whether_its_switches_count_flows(scheme, counts):
    incast = [{"kind": "incast", "victims": 0, "degree": 40, "bytes": "4MB"}]
    times = {"warmup": "0us", "measure": "20us", "drain": "0us"}
    network = {"network": {"topology": "star"}, "star": {"hosts": 41}}
    run = xoff.Scenario(scheme=scheme, **network, run=times, traffic=incast).run()
    assert run.counts_flows == counts
    # Forty flows wait at one port, which has up to 32 queues.
    assert (run.summary["active_flows"]["max"] > 32) == counts
