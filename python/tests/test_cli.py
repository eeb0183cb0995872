import io
import itertools
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import xoff
from xoff import bench, cli, engine, jobs, panels, plots, reference, summary
from xoff.manifest import read_manifest
from xoff.progress import Line, RunProgress
from xoff.reproduce_progress import ReproduceProgress

SHIPPED = Path(__file__).parents[2] / "scenarios"


def call(capsys, *args):
    code = cli.main(list(map(str, args)))
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def test_run_prints_a_summary(scenario, tmp_path, capsys):
    code, out, _ = call(capsys, "run", scenario, "--out", tmp_path / "out")
    assert code == 0
    assert "small: scheme bfc, seed 1, digest" in out
    assert "FCT slowdown of class normal (7,100 flows)" in out
    assert "size (bytes)" in out
    assert "warning: realised load" in out
    assert f"results in {tmp_path / 'out'}" in out
    rows = [line for line in out.splitlines() if line.startswith(("short", "long"))]
    assert rows[0].split() == ["short", "5,000", "0.83", "1.10", "1.32", "1.65"]
    assert rows[1].split()[-1] == "-"


def test_quiet_is_quiet(scenario, tmp_path, capsys):
    assert call(capsys, "run", scenario, "--out", tmp_path / "o", "--quiet") == (0, "", "")


def test_default_out(scenario, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call(capsys, "run", scenario)[0] == 0
    assert (tmp_path / "out" / "small" / "manifest.json").exists()


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (b"scheme = 'bfc'", 0, "bfc"),
        (b"shceme = 1", 2, "--> <standard input>:1"),
        (b"\xff", 2, "standard input is not UTF-8"),
    ],
)
def test_a_scenario_may_come_from_standard_input(tmp_path, capsys, monkeypatch, given, code, said):
    monkeypatch.chdir(tmp_path)
    for command in ("check", "run"):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(given)))
        found, out, err = call(capsys, command, "-")
        assert found == code
        assert said in out + err
    assert (tmp_path / "out" / "stdin").exists() == (code == 0)


def test_progress_json(scenario, tmp_path, capsys):
    code, out, _ = call(capsys, "run", scenario, "--out", tmp_path / "o", "--progress-json")
    assert code == 0
    assert json.loads(out.splitlines()[0])["phase"] == "measure"


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["run", "SCENARIO", "--set", "shceme=bfc", "--out", "OUT"], 2, "unknown key `shceme`"),
        (["run", "missing.toml"], 2, "cannot read missing.toml: no such file"),
        (["run", "FOLDER"], 2, "is a folder"),
        (["run", "SWEEP"], 2, "load.toml is a sweep: use `xoff sweep "),
        (["check", "EXPERIMENT"], 2, "experiment.toml is an experiment: use `xoff experiment "),
        (["sweep", "SCENARIO"], 2, "is a scenario: `xoff run` runs it"),
        (["run", "SCENARIO", "--out", "SCENARIO"], 2, "is a file"),
        (["run", "SCENARIO", "--out", "SCENARIO/x"], 2, "cannot write"),
        (["run", "SCENARIO", "--set", "run.fail=1", "--out", "OUT"], 1, "queue 3 of port leaf0:2"),
        (["check"], 2, "name a scenario file"),
        (["bench"], 2, "name a case"),
        (["bench", "bfc-gogle-128"], 2, "did you mean `bfc-google-128`?"),
        (["bench", "*-128", "bfc-*-9"], 2, "no bench case matches `bfc-*-9`"),
        (["bench", "--list", "x*"], 2, "no bench case matches `x*`"),
        (["reproduce", "bfc/nothing"], 2, ""),
        (["reproduce"], 2, "name a paper"),
        (["plot", "FOLDER"], 2, "not a run directory"),
    ],
)
def test_mistakes(scenario, tmp_path, capsys, args, code, message):
    places = {"SCENARIO": scenario, "FOLDER": tmp_path, "OUT": tmp_path / "out"}
    places["SWEEP"] = SHIPPED / "sweeps" / "load.toml"
    places["EXPERIMENT"] = SHIPPED / "experiments" / "incast" / "experiment.toml"
    given = [str(places.get(a, a)).replace("SCENARIO", str(scenario)) for a in args]
    found, out, err = call(capsys, *given)
    assert found == code
    assert message in err
    assert out == ""


@pytest.mark.parametrize(
    "args", [["run"], ["run", "x", "--threads", "0"], ["bench", "x", "--threads", "1,,2"]]
)
def test_usage_errors_of_argparse(args):
    with pytest.raises(SystemExit) as stop:
        cli.main(args)
    assert stop.value.code == 2


def test_a_bug_is_not_hidden(scenario, monkeypatch):
    monkeypatch.setattr("xoff.commands.check.api.check", lambda *a: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cli.main(["check", str(scenario)])


def test_check_explains_a_scenario(scenario, capsys):
    code, out, err = call(capsys, "check", scenario, "--set", "scheme=pfc")
    assert (code, err) == (0, "warning: a setting cannot matter\n")
    assert "\n# Load offered\n\n# Backpressure of PFC\n" in out
    code, out, err = call(capsys, "check", scenario, "--set", "scheme=pfc", "--json")
    found = json.loads(out)
    assert (code, err, found["warnings"]) == (0, "", ["a setting cannot matter"])
    assert found["scenario"] == xoff.check(scenario, ["scheme=pfc"])
    assert found["backpressure"] == "# Backpressure of PFC\n"


def test_check_draws_the_network(scenario, tmp_path, capsys):
    for name, begin in (("net.svg", b"<?xml"), ("net.png", b"\x89PNG")):
        file = tmp_path / name
        code, out, err = call(capsys, "check", scenario, "--draw", file)
        drawn = f"the network is drawn in {file}\n"
        assert (code, err) == (0, f"{drawn}warning: a setting cannot matter\n"), name
        assert out.startswith("name = ")
        assert file.read_bytes().startswith(begin)
    code, out, err = call(capsys, "check", scenario, "--draw", tmp_path / "net.txt")
    assert (code, out) == (2, "")
    assert "name a file that ends in .svg or .png" in err
    code, _, err = call(capsys, "check", scenario, "--set", "scheme=none", "--draw", file)
    assert (code, err) == (2, "error: an engine without packets has no network to draw\n")


def test_check_presets_bench(scenario, capsys):
    assert 'scheme = "hpcc"' in call(capsys, "check", scenario, "--set", "scheme=hpcc")[1]
    assert call(capsys, "check", "--schema")[1] == "{}\n"
    assert "Backpressure" not in call(capsys, "check", scenario, "--set", "scheme=hpcc")[1]
    out = call(capsys, "check", scenario, "--set", "scheme=pfc")[1]
    assert out.endswith("\n\n# Backpressure of PFC\n")
    out = call(capsys, "check", scenario, "--set", "scheme=pfc", "--any-link")[1]
    assert out.endswith("# Backpressure of PFC, any link\n")
    assert "Backpressure" in call(capsys, "presets")[1]
    assert call(capsys, "bench", "--list")[1].split() == ["bfc-google-128", "dctcp-hadoop-128"]
    _, out, _ = call(capsys, "bench", "bfc-google-128", "dctcp-hadoop-128", "--json")
    assert [json.loads(line)["case"] for line in out.splitlines()] == [
        "bfc-google-128",
        "dctcp-hadoop-128",
    ]
    assert "ns/packet-hop" in call(capsys, "bench", "bfc-google-128")[1]


@pytest.mark.parametrize(
    ("patterns", "cases"),
    [
        (["*-128"], ["bfc-google-128", "dctcp-hadoop-128"]),
        (["dctcp-*", "*"], ["dctcp-hadoop-128", "bfc-google-128"]),
        (["bfc-[fg]*"], ["bfc-google-128"]),
    ],
)
def test_bench_takes_patterns(capsys, patterns, cases):
    assert call(capsys, "bench", "--list", *patterns)[1].split() == cases
    _, out, _ = call(capsys, "bench", *patterns, "--json")
    assert [json.loads(line)["case"] for line in out.splitlines()] == cases


def test_bench_of_the_allocator(capsys):
    args = ["bench", "alloc", "--threads", "1,2,5", "--repeat", "2"]
    found = [json.loads(line) for line in call(capsys, *args, "--json")[1].splitlines()]
    assert [(f["nodes"], f["threads"], f["blocks"]) for f in found] == [
        (nodes, threads, blocks)
        for nodes in (384, 1536, 4608)
        for threads, blocks in ((1, 1), (2, 2), (5, 4))
    ]
    assert found[1]["iteration_us"] == 1.92
    assert found[1]["ns_per_flow_per_core"] == 1.25
    rows = [line.split() for line in call(capsys, *args)[1].splitlines()]
    assert rows[1][:5] == ["384", "3,072", "1", "1", "3.84"]
    assert [row[-4] for row in rows[1:4]] == ["-", "2.00", "5.00"]


def test_two_runs_of_the_allocator_must_agree(capsys, monkeypatch):
    digests = itertools.count()
    monkeypatch.setattr(engine, "bench_alloc", lambda *_: (1, 1.0, 1.0, 1.0, next(digests)))
    code, _, err = call(capsys, "bench", "alloc", "--repeat", "2")
    assert code == 1
    assert "this is a bug in xoff" in err


def test_bench_alternates_over_numbers_of_threads(capsys):
    args = ["bench", "*", "--threads", "1,2,1", "--repeat", "2"]
    _, out, _ = call(capsys, *args, "--json")
    found = [json.loads(line) for line in out.splitlines()]
    cases = ("bfc-google-128", "dctcp-hadoop-128")
    assert [(f["case"], f["threads"]) for f in found] == [(c, n) for c in cases for n in (1, 2)]
    assert [f["runs"] for f in found] == [2] * 4
    rows = [line.split() for line in call(capsys, *args)[1].splitlines()]
    assert [row[-2] for row in rows] == ["speed-up", "-", "1.00", "-", "1.00"]


def fake_times(monkeypatch, times, digest=lambda case, threads: "00"):
    """Fake the times of bench runs; return the list of (case, threads) that ran."""
    ran = []

    def run(case, threads, estimate):
        ran.append((case, threads))
        wall_s = times[len(ran) - 1]
        found = {"case": case, "threads": threads, "packet_hops": 10, "flows": 1, "build_s": 0.1}
        return {
            **found,
            "wall_s": wall_s,
            "ns_per_packet_hop": wall_s * 100,
            "peak_rss_bytes": wall_s * 10,
            "digest": digest(case, threads),
        }

    monkeypatch.setattr(bench, "_apart", run)
    return ran


def test_bench_gives_medians_with_their_extremes(monkeypatch):
    ran = fake_times(monkeypatch, [5, 2, 1, 4, 3, 1.5])
    one, two = bench.measure(["bfc-google-128"], [1, 2], 3)
    assert ran == [("bfc-google-128", 1), ("bfc-google-128", 2)] * 3
    assert (one["wall_s"], one["wall_s_min"], one["wall_s_max"]) == (3, 1, 5)
    ns = [one[f"ns_per_packet_hop{end}"] for end in ("", "_min", "_max")]
    assert (ns, one["peak_rss_bytes"], one["runs"]) == ([300, 100, 500], 30, 3)
    assert (two["wall_s"], two["threads"]) == (2, 2)
    assert bench.table_text([one, two]).splitlines()[-1].split()[-2] == "1.50"


@pytest.mark.real_engine
def test_bench_estimates_the_time_with_more_cores_than_there_are(capsys):
    args = ("bench", "hpcc-permutation-128", "--threads", "1000", "--estimate", "--json")
    code, out, _ = call(capsys, *args)
    found = json.loads(out)
    # The network has eight racks.
    assert (code, found["threads"]) == (0, 8)
    assert found["one_thread_s"] / 8 < found["wall_s"] < found["one_thread_s"]
    assert 0.125 < found["balance"] <= 1
    code, _, err = call(capsys, "bench", "hpcc-permutation-128", "--threads", "1", "--estimate")
    assert (code, "above 1" in err) == (2, True)
    code, _, err = call(capsys, "bench", "stress", "--estimate")
    assert (code, "`--estimate` is for cases" in err) == (2, True)


def test_bench_fails_where_two_runs_of_a_case_differ(capsys, monkeypatch):
    fake_times(monkeypatch, [1] * 4, lambda case, threads: f"{case[:3]}{threads}")
    args = ("bench", "bfc-google-128", "--json")
    assert call(capsys, *args, "--repeat", "2")[0] == 0
    code, out, err = call(capsys, *args, "--threads", "1,2", "--repeat", "1")
    assert (code, out.count("\n")) == (1, 1)
    assert "digest bfc1 with threads = 1 and bfc2 with threads = 2" in err


def test_threads_are_noted(scenario, tmp_path, capsys):
    args = ["run", scenario, "--out", tmp_path / "out"]
    for more, said in [
        ([], ""),
        (["--threads", "4"], ""),
        (["--threads", "9"], "xoff: note: 4 threads are used\n"),
        (["--threads", "9", "--quiet"], ""),
    ]:
        assert call(capsys, *args, *more)[2] == said
    manifest = read_manifest(tmp_path / "out")
    assert (manifest["threads"], manifest["threads_note"]) == (4, "4 threads are used")
    with pytest.raises(xoff.UsageError, match="whole number from 1"):
        xoff.run(scenario, threads=0)


def test_reproduce_json_is_alone_on_stdout(paper, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("xoff.papers.papers_dir", lambda: paper)
    args = ["reproduce", "demo/fig1", "--out", tmp_path / "out", "--json"]
    code, out, _ = call(capsys, *args)
    assert code == 0
    assert json.loads(out)["experiment"] == "demo/fig1"
    code, out, _ = call(capsys, *args[:-1], "--check")
    assert code == 0
    assert "figure.svg" in out
    assert "D-C1" in out


def test_plot(scenario, tmp_path, capsys):
    for scheme in ("bfc", "hpcc"):
        xoff.run(scenario, tmp_path / scheme, set=[f"scheme={scheme}"])
    stem = tmp_path / "pic"
    code, out, _ = call(capsys, "plot", tmp_path / "bfc", tmp_path / "hpcc", "--out", f"{stem}.svg")
    assert code == 0
    assert out.split() == [f"{stem}.svg", f"{stem}.png"]
    code, _, err = call(capsys, "plot", tmp_path / "bfc", "--class", "incats")
    assert code == 2
    assert "no run has a class incats; there are incast, normal" in err


def test_a_plot_shows_the_class_asked_for(scenario, tmp_path, capsys, monkeypatch):
    drawn = []
    overview = plots.overview
    monkeypatch.setattr(plots, "overview", lambda *a: drawn.append(a) or overview(*a))
    for seed in (1, 2, 3):
        xoff.run(scenario, tmp_path / str(seed), set=[f"seed={seed}"])
    xoff.run(scenario, tmp_path / "hpcc", set=["scheme=hpcc"])
    folders = [tmp_path / name for name in ("1", "2", "hpcc", "3")]
    call(capsys, "plot", *folders, "--out", tmp_path / "pic", "--class", "incast")
    ((results, cls),) = drawn
    assert cls == "incast"
    assert {label: len(runs) for label, runs in results.items()} == {"1 (3 seeds)": 3, "hpcc": 1}


def test_single_figures_and_their_repetition(scenario, tmp_path):
    runs = {"BFC": xoff.run(scenario)}
    for name in "ab":
        figure, axes = plots.new_figure(4)
        drawn = [
            plots.slowdown_by_size(runs, "mean", ax=axes[0]),
            plots.buffer_cdf(runs, ax=axes[1]),
            plots.active_flows_cdf(runs, 31, ax=axes[2]),
            plots.pause_share(runs, ax=axes[3]),
        ]
        assert drawn == axes
        assert all(ax.get_xlabel() and ax.get_ylabel() for ax in axes)
        engine = figure.get_layout_engine()
        plots.save(figure, tmp_path / name)
        assert figure.get_layout_engine() is engine
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_figure_of_its_own_is_that_of_pyplot(scenario):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ax = plots.pause_share(xoff.run(scenario))
    assert pyplot.gca() is ax
    pyplot.close(ax.figure)


def test_watermarks_and_throughput_are_drawn_in_their_units():
    found = {
        "buffer_watermark": {"cdf": [[2_000_000, 0.5], [3_000_000, 1]]},
        "receiver_throughput": {"cdf": [[0, 0.25], [90_000_000_000, 1]]},
    }
    runs = {"SFC": xoff.Result(found, "", "d")}
    figure, (left, right) = plots.new_figure(2)
    panels.watermark_axes(left, runs)
    panels.throughput_axes(right, runs)
    assert list(left.lines[0].get_xdata()) == [2, 3]
    assert list(right.lines[0].get_xdata()) == [0, 90]
    assert all(axes.get_xlabel() and axes.get_ylabel() for axes in figure.axes)


@pytest.mark.parametrize(
    ("sizes", "slowdowns"),
    [
        ((100, 200, 400), (1.1, 1.3, 1.6)),
        ((30, 900, 9e6), (1.0, 8.0, 9.0)),
        ((40, 60), (4, 5)),
        ((0.92e6, 1.5e6, 2.48e6), (1.1, 2.9, 3.0)),
    ],
)
def test_an_axis_of_any_width_has_labels_that_do_not_overlap(sizes, slowdowns, tmp_path):
    found = [
        {
            "low_bytes": size / 2,
            "high_bytes": size * 2,
            "flows": 1000,
            "finished": 1000,
            "mean": one,
        }
        for size, one in zip(sizes, slowdowns, strict=True)
    ]
    runs = {"BFC": xoff.Result({"classes": [{"class": "n", "bins": found}]}, "", "d")}
    figure, (ax,) = plots.new_figure(1)
    plots.slowdown_by_size(runs, "mean", ax=ax)
    plots.save(figure, tmp_path / "narrow")
    for axis, side in ((ax.xaxis, "x"), (ax.yaxis, "y")):
        labels = [*axis.get_ticklabels(minor=True), *axis.get_ticklabels()]
        low, high = axis.get_view_interval()
        boxes = sorted(
            (getattr(box, f"{side}0"), getattr(box, f"{side}1"))
            for label in labels
            if label.get_text() and low <= label.get_position()[side == "y"] <= high
            for box in [label.get_window_extent()]
        )
        assert len(boxes) >= 2
        assert all(one[1] < other[0] for one, other in itertools.pairwise(boxes))


def test_a_panel_with_too_few_flows_says_so(tmp_path):
    few = {"low_bytes": 0, "high_bytes": 100, "flows": 9, "mean": 1.0, "p99": None}
    entry = {"class": "n", "flows": 9, "unfinished": 0, "bins": [few]}
    runs = {"BFC": xoff.Result({"classes": [entry]}, "", "d")}
    figure, axes = plots.new_figure(2)
    for ax, statistic in zip(axes, ("mean", "p99"), strict=True):
        plots.slowdown_by_size(runs, statistic, ax=ax)
    plots.save(figure, tmp_path / "few")
    assert (tmp_path / "few.png").stat().st_size > 0


def test_the_summary_of_a_bare_run():
    bare = xoff.Result({"name": "x", "classes": [{"class": "n", "flows": 0}]}, "", "d")
    assert "no flows measured" in summary.render(bare)


def test_a_notebook_shows_the_summary_as_text():
    entry = {"class": "<b>", "flows": 0}
    shown = xoff.Result({"name": "x", "classes": [entry]}, "", "d")._repr_html_()
    assert shown.startswith("<pre>x: ")
    assert "&lt;b&gt;" in shown


def test_losses_on_links_are_printed(scenario):
    lossy = xoff.Result({"drops_packets": 0, "dropped": {"packets": 190}}, "", "d")
    rows = [" ".join(line.split()) for line in summary.render(lossy).splitlines()]
    assert "packets without room, whole run 0" in rows
    assert "packets lost in the measured time, failed links included 190" in rows


def test_what_a_watchdog_dropped_had_room():
    watchdog = {"stuck_queues": 2, "restored_queues": 1, "dropped_packets": 70}
    run = xoff.Result({"drops_packets": 90, "pfc": {"watchdog": watchdog}}, "", "d")
    rows = [" ".join(line.split()) for line in summary.render(run).splitlines()]
    assert "packets without room, whole run 20" in rows
    assert "queues found stuck by PFC's watchdog, whole run 2" in rows
    assert "packets dropped by PFC's watchdog, whole run 70" in rows


def test_times_and_counts_of_a_run_have_names():
    bfc = {
        "some_queue_paused_share": 0.228,
        "some_queue_paused_share_by_link": {"host-leaf": 0.456, "leaf-host": 0},
        "pauses": 16_953,
        "frame_bytes_share": 0.001489,
    }
    times = {"sim_ps": 6 * 10**9, "warmup_ps": 10**9, "measured_ps": 2 * 10**9}
    run = xoff.Result({"name": "x", "bfc": bfc, **times, "packet_hops": 3_980_000}, "", "d")
    rows = [" ".join(line.split()) for line in summary.render(run).splitlines()]
    assert "simulated 6 ms: 1 ms warm-up, 2 ms measured, 3 ms drain; 3.98 M packet-hops" in rows
    at = rows.index("time with a queue paused by BFC 22.800%")
    assert rows[at + 1 : at + 4] == [
        "host-leaf links 45.600%",
        "BFC frames that pause a queue 16,953",
        "BFC frames, share of all bytes sent 0.149%",
    ]


def test_unfinished_flows_are_infinite():
    group = {"low_bytes": 0, "high_bytes": None, "flows": 5000, "mean": None, "p50": 2.0}
    entry = {"class": "n", "flows": 5000, "unfinished": 80, "bins": [group]}
    text = summary.render(xoff.Result({"classes": [entry]}, "", "d"))
    assert "80 unfinished, counted as infinite" in text
    row = next(line for line in text.splitlines() if line.startswith("0 and more"))
    assert row.split()[-5:] == ["5,000", "inf", "2.00", "inf", "inf"]


class Terminal:
    def __init__(self):
        self.said = ""

    def isatty(self):
        return True

    def write(self, text):
        self.said += text

    def flush(self):
        pass


MEASURING = {
    "sim_ps": 10**9,
    "end_ps": 2 * 10**9,
    "flows_started": 4,
    "flows_finished": 3,
    "packet_hops": 5,
    "phase": "measure",
    "drain_end_ps": 20 * 10**9,
    "measured_flows": 2,
    "missing_flows": 1,
    "measured_requests": 0,
    "missing_requests": 0,
}
DRAINING = {
    **MEASURING,
    "sim_ps": 8 * 10**9,
    "phase": "drain",
    "measured_flows": 56_789,
    "missing_flows": 1234,
}


def test_progress_line():
    stream = Terminal()
    line = Line(stream)
    RunProgress(line)(MEASURING)
    assert stream.said.startswith("\rmeasure  1.000 of 2.000 ms simulated (50%)  3 of 4 flows")
    line.clear()
    assert stream.said.endswith("\r\x1b[K")


def test_progress_of_a_drain(monkeypatch):
    now = 100.0
    monkeypatch.setattr("xoff.progress.time.monotonic", lambda: now)
    progress = RunProgress(Line(Terminal()))
    now += 80.0
    # 8 ms took 80 s, so 12 ms may take 120 s.
    text = progress.text({**DRAINING, "packet_hops": 8_000_000_000})
    assert text == (
        "draining: 1,234 of 56,789 measured flows missing, at most 12 ms more (2:00)  "
        "100 M packet-hops/s"
    )
    requests = {"measured_requests": 3000, "missing_requests": 12}
    text = progress.text({**DRAINING, **requests})
    assert "1,234 of 56,789 measured flows and 12 of 3,000 measured web requests missing" in text
    text = progress.text({**DRAINING, "sim_ps": 20 * 10**9})
    assert "at most 0 ps more (0:00)" in text


def test_progress_of_many_runs_names_those_that_drain(monkeypatch):
    now = 100.0
    monkeypatch.setattr("xoff.progress.time.monotonic", lambda: now)
    titled = [SimpleNamespace(title=title) for title in ("BFC", "HPCC", "DCTCP")]
    first, second, third = (jobs.Job([point], Path("runs"), "") for point in titled)
    progress = ReproduceProgress([first, second, third], Line(quiet=True), "bfc/fig10")
    now += 60.0
    first.done, second.progress, third.progress = True, dict(MEASURING), dict(MEASURING)
    # One run is done and two have half of theirs, of three.
    text = "bfc/fig10: 1 of 3 runs done  {}  0.167 packet-hops/s  {} left"
    assert progress.text() == text.format("HPCC 50%  DCTCP 50%", "0:30")
    third.progress = {**DRAINING, "missing_requests": 6}
    # 8 of 20 ms.
    drain = "HPCC 50%  DCTCP drain 1,240 left"
    assert progress.text() == text.format(drain, "at most 0:35")


def test_comparison_with_a_reference(tmp_path):
    file = tmp_path / "config.txt"
    file.write_text("run.slices=1\n")
    # Two flows of one pair: both 2 us in xoff, 1.6 and 2 us in the reference.
    (tmp_path / "fct.txt").write_text(
        "0b000001 0b000101 10001 100 1000 0 2000 1000\n"
        "0b000001 0b000101 10000 100 1000 0 1600 1000\n"
    )
    result = xoff.run(file)
    compared = reference.compare(tmp_path / "fct.txt", result)
    errors = {flow.flow: flow.error for flow in compared}
    assert errors == pytest.approx({0: 0.25, 1: 0.0})
    lines = reference.as_csv(compared).splitlines()
    assert lines[0].endswith("fct_ps,reference_fct_ps,error")
    assert lines[1].endswith(",0.250000000")
    assert "(2 of 2 flows): median 12.50 %" in reference.report(file, result)
