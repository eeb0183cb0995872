"""`xoff compare-reference`: cases of the HPCC simulator with its own answers."""

import json
import shutil
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from xoff import compare_reference, reference
from xoff.cli import main
from xoff.compare_reference import Case
from xoff.errors import RunError
from xoff.reference import Comparison, compare

NETWORKS = Path(__file__).parent / "data/hpcc_ns3"
CASES = Path(__file__).parents[2] / "crates/xoff-run/tests/hpcc_ns3"


def a_case(folder, control="dctcp"):
    """Copy a case of 17 flows, with the simulator's answer, in that simulator's form."""
    folder.mkdir(parents=True)
    for name in ("topology.txt", "flow.txt"):
        shutil.copy(CASES / name, folder)
    shutil.copy(CASES / f"{control}.txt", folder / "config.txt")
    shutil.copy(CASES / f"{control}.fct.txt", folder / "fct.txt")
    return folder


def a_comparison(*pairs):
    flows = [Comparison(n, 0, 1, 1000, 0, *pair) for n, pair in enumerate(pairs)]
    return Case("a", "s", "dctcp", len(flows), flows, "")


def test_figures_are_those_of_the_flows():
    case = a_comparison(*((fct * 10**6, 10**8) for fct in (100, 110, 90, 100)))
    found = case.figures()
    assert (found["flows"], found["matched"], found["exact"]) == (4, 4, 2)
    assert found["error_median"] == 0
    assert [found[f"error_{key}"] for key in ("p90", "p99", "max")] == pytest.approx([0.1] * 3)
    assert found["mean_fct_error"] == 0
    assert (case.within(0.05), case.within(0.11)) == (False, True)


def test_exact_is_to_the_nanosecond():
    assert a_comparison((10**6 + 999, 10**6), (10**6, 10**6 + 1000)).exact() == 1


def test_a_missing_flow_is_not_within_any_tolerance():
    whole = a_comparison((100, 100))
    assert whole.within(0)
    assert not whole._replace(flows=2).within(1)
    none = whole._replace(compared=[])
    assert not none.within(1)
    assert none.figures()["error_max"] is None


def test_a_flow_that_never_ends_counts_among_those_of_its_pair(tmp_path):
    """Nothing times out in that simulator: the first flow from 1 to 2 may wait forever."""
    (tmp_path / "config.txt").write_text("CC_MODE 8\nFLOW_FILE flow.txt\n")
    flow = "1 2 3 100 500 2.0"
    (tmp_path / "flow.txt").write_text(f"3\n{flow}\n3 2 3 100 500 2.0\n{flow}\n")
    ends = "0b000101 0b000201 10001 100 500 2000000000 7000 1\n"
    (tmp_path / "fct.txt").write_text(
        ends + ends.replace("0101 ", "0301 ").replace("10001", "10000")
    )
    columns = {"flow": [1, 2], "src": [3, 1], "dst": [2, 2], "size_bytes": [500, 500]}
    columns |= {"start_ps": [0, 0], "fct_ps": [8_000_000, 7_000_000]}
    flows = SimpleNamespace(select=lambda _: SimpleNamespace(to_pydict=lambda: columns))
    summary = {"flows_finished": 2, "flows_started": 3}
    found = compare(tmp_path / "fct.txt", SimpleNamespace(flows=flows, summary=summary))
    assert [(flow.flow, flow.fct_ps, flow.reference_fct_ps) for flow in found] == [
        (1, 8_000_000, 7_000_000),
        (2, 7_000_000, 7_000_000),
    ]


def test_the_last_flow_file_counts_and_none_is_an_error(tmp_path):
    (tmp_path / "a.txt").write_text("1\n1 2 3 100 500 2.0\n")
    (tmp_path / "b.txt").write_text("1\n3 4 3 100 500 2.0\n")
    config = tmp_path / "config.txt"
    config.write_text("FLOW_FILE a.txt\nFLOW_FILE b.txt\n")
    assert reference._listed(tmp_path) == [(3, 4)]
    config.write_text("FLOW_FILE\n")
    with pytest.raises(RunError, match="FLOW_FILE is missing"):
        reference._listed(tmp_path)
    config.write_text("FLOW_FILE a.txt\n")
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(RunError, match="the number of flows"):
        reference._listed(tmp_path)


@pytest.mark.real_engine
def test_every_case_of_a_folder_is_compared(tmp_path, capsys):
    for control in ("dctcp", "hpcc"):
        a_case(tmp_path / "cases" / control, control)
    (tmp_path / "cases" / "other").mkdir()
    command = ["compare-reference", str(tmp_path / "cases"), "--out", str(tmp_path / "out")]
    assert main([*command, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["case"] for row in rows] == ["dctcp", "hpcc"]
    for row in rows:
        assert (row["transport"], row["exact"], row["flows"]) == (row["case"], 17, 17)
        assert row["error_max"] == row["mean_fct_error"] == 0
    assert main(command) == 0
    assert "0.0000 %" in capsys.readouterr().out


@pytest.mark.real_engine
@pytest.mark.parametrize(
    ("name", "control", "flows"),
    [
        ("fat320_fb50_dctcp", "dctcp", 7967),
        ("fat320_fb50_timely", "timely", 7967),
        # Each host has two links.
        ("ali320_fb_hpcc_25g", "hpcc", 3075),
        # A link between two switches fails.
        ("fat320_fb50_hpcc_down", "hpcc", 7967),
    ],
)
def test_every_flow_of_320_hosts_ends_at_the_same_nanosecond(name, control, flows, tmp_path):
    with tarfile.open(NETWORKS / f"{name}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    (case,) = compare_reference.run(tmp_path / name, tmp_path / "out")
    assert (case.transport, case.flows, case.exact()) == (control, flows, flows)
    # Recorded paths tell the order of next hops in the one, only the answer in the others.
    assert bool(case.note) == (control != "dctcp")


@pytest.mark.real_engine
def test_a_refused_case_does_not_hide_the_others(tmp_path, capsys):
    for name in ("a", "b"):
        a_case(tmp_path / "cases" / name)
    with (tmp_path / "cases" / "a" / "config.txt").open("a") as file:
        file.write("CC_MODE 4\n")
    command = ["compare-reference", str(tmp_path / "cases"), "--out", str(tmp_path / "out")]
    assert main(command) == 1
    out = capsys.readouterr().out
    assert "a: refused: error: " in out
    assert "CC_MODE 4 is not modelled" in out
    assert "17" in out.splitlines()[2]


@pytest.mark.real_engine
def test_another_answer_is_not_within_the_tolerance(tmp_path, capsys):
    folder = a_case(tmp_path / "case")
    lines = (folder / "fct.txt").read_text().splitlines()
    words = lines[3].split()
    words[6] = str(int(words[6]) * 2)
    (folder / "fct.txt").write_text("\n".join([*lines[:3], " ".join(words), *lines[4:]]))
    command = ["compare-reference", str(folder), "--out", str(tmp_path / "out"), "--json"]
    assert main(command) == 1
    row = json.loads(capsys.readouterr().out)
    assert (row["exact"], row["error_max"], row["error_median"]) == (16, 0.5, 0)
    assert main([*command, "--tolerance", "0.5"]) == 0


FABRIC_CONFIG = """
TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
CC_MODE 8
HAS_WIN 1
VAR_WIN 1
KMAX_MAP 1 100000000000 300
KMIN_MAP 1 100000000000 300
PMAX_MAP 1 100000000000 1.0
"""


def a_fabric(folder):
    """Write a case of two leaves and four spines at different distances, without an answer."""
    folder.mkdir()
    links = [f"{host} {8 + host // 4} 100Gbps 1000ns 0" for host in range(8)]
    for leaf, spine in ((leaf, spine) for leaf in (8, 9) for spine in range(4)):
        links.append(f"{leaf} {10 + spine} 100Gbps {1000 + 500 * spine}ns 0")
    (folder / "topology.txt").write_text(
        f"14 6 {len(links)}\n8 9 10 11 12 13\n" + "".join(f"{link}\n" for link in links)
    )
    flows = [f"{n % 4} {4 + n % 3} 3 100 {200_000 + n} 2.00000{n // 10}" for n in range(40)]
    (folder / "flow.txt").write_text(f"{len(flows)}\n" + "\n".join(flows) + "\n")
    (folder / "config.txt").write_text(FABRIC_CONFIG)
    return folder


def answer(folder, order):
    """Write the answer of a case whose next hops are in this order."""
    import xoff

    result = xoff.run(folder / "config.txt", set=[f"next_hops={order}"])
    columns = ["flow", "src", "dst", "size_bytes", "fct_ps"]
    rows = sorted(zip(*result.flows.select(columns).to_pydict().values(), strict=True))
    seen = {}
    with (folder / "fct.txt").open("w") as file:
        for _, src, dst, size, fct in rows:
            port = seen[src, dst] = seen.get((src, dst), 9_999) + 1
            ends = " ".join(f"{0x0B000001 + (host << 8):08x}" for host in (src, dst))
            file.write(f"{ends} {port} 100 {size} 2000000000 {fct // 1000} 1\n")


@pytest.mark.real_engine
@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_the_answer_says_in_which_order_next_hops_are(order, tmp_path, monkeypatch):
    folder = a_fabric(tmp_path / "case")
    answer(folder, order)
    # The first run is in the wrong order, as with recorded paths of another case.
    wrong = {"ascending": "descending", "descending": "ascending"}[order]
    run = compare_reference.api.run
    monkeypatch.setattr(
        compare_reference.api,
        "run",
        lambda file, out, overrides, **options: run(
            file, out, overrides or [f"next_hops={wrong}"], **options
        ),
    )
    (case,) = compare_reference.run(folder, tmp_path / "out")
    assert (case.exact(), case.flows) == (40, 40)
    assert case.note == f"next hops {order}: more flows are exact than in the other order"


def test_a_folder_without_a_case_is_refused(tmp_path, capsys):
    (tmp_path / "config.txt").write_text("CC_MODE 1\n")
    assert main(["compare-reference", str(tmp_path)]) == 2
    assert "has both config.txt and fct.txt" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["compare-reference", str(tmp_path), "--tolerance", "-1"])


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("page.toml", "a page is Markdown"),
        ("page.png", "a page is Markdown"),
        ("none/page.md", "there is no folder"),
        ("wrong.md", "'a*' must be a text"),
    ],
)
def test_a_page_that_cannot_be_written_is_refused_before_the_runs(page, words, tmp_path, capsys):
    (tmp_path / "wrong.toml").write_text('"a*" = 7\n')
    arguments = ["compare-reference", str(tmp_path), "--page", str(tmp_path / page)]
    assert main(arguments) == 2
    message = capsys.readouterr().err
    assert words in message
    assert "has no case" not in message


def test_a_folder_for_runs_that_cannot_be_written_is_an_error(tmp_path, capsys):
    case = Path(__file__).parent / "data" / "ns3" / "newreno_two_fast"
    place = tmp_path / "out" / f"{case.name}.flows.csv"
    place.mkdir(parents=True)
    assert main(["compare-reference", str(case), "--out", str(tmp_path / "out")]) == 2
    assert f"cannot write {place}: " in capsys.readouterr().err
