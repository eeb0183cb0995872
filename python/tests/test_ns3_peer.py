"""Parts of the comparison with ns-3 that do not require ns-3."""

import importlib.util
import sys
from pathlib import Path

import pytest

import xoff
from xoff import _native

SCRIPT = Path(__file__).parents[2] / "bench" / "peers" / "ns3" / "compare.py"


@pytest.fixture
def peer(monkeypatch):
    spec = importlib.util.spec_from_file_location("ns3_compare", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "ns3_compare", module)  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


def program(peer, name, hops, seconds, **more):
    runs = [{"packet_hops": hops, "wall_s": s, "setup_s": 0.5, **more} for s in seconds]
    return peer.Program(name, ["unused"], runs)


def fake_ns3(prefix, name):
    (prefix / "include" / "ns3").mkdir(parents=True)
    (prefix / "include" / "ns3" / "core-module.h").touch()
    folder = prefix / "lib" / "x86_64-linux-gnu"
    folder.mkdir(parents=True)
    (folder / name).touch()
    return folder


def test_a_list_is_in_the_order_of_arrival(peer):
    columns = {
        "flow": [2, 0, 1],
        "src": [5, 3, 4],
        "dst": [6, 7, 8],
        "size_bytes": [1000, 10, 2500],
        "start_ps": [900, 100, 100],
    }
    assert peer.list_text(columns) == (
        "src,dst,size_bytes,start_ps\n3,7,10,100\n4,8,2500,100\n5,6,1000,900\n"
    )


def test_a_row_has_medians_and_extremes(peer):
    ns3 = program(peer, "ns-3", 2_000_000, [9.0, 2.0, 4.0], events=3_000_000)
    assert peer.row(ns3) == [
        "ns-3",
        "2,000,000",
        "3,000,000",
        "0.500",
        "4.000",
        "2,000",
        "1,000",
        "4,500",
    ]
    assert peer.row(program(peer, "xoff", 1000, [1e-4]))[2] == "-"


def test_ratios_are_of_the_time_of_one_packet_hop(peer):
    ours = program(peer, "xoff", 1_000_000, [0.1, 0.2, 0.4])
    # Twice the packet-hops: each program's time is divided by its own count.
    theirs = program(peer, "ns-3", 2_000_000, [4.0, 5.0, 6.0])
    assert peer.ratio_lines(ours, [theirs]) == [
        "ns-3: 12.5 times xoff's time per packet-hop (medians; 20.0 for the fastest runs)"
    ]
    text = peer.report(ours, [theirs])
    assert text.splitlines()[0].split()[:2] == ["program", "packet-hops"]
    assert len(text.splitlines()) == 5


def test_what_is_missing_is_said_with_what_to_install(peer, tmp_path, monkeypatch):
    monkeypatch.setattr(peer.shutil, "which", lambda name: None)
    text = peer.missing(tmp_path)
    assert "the compiler g++ and the libraries of ns-3" in text
    assert "apt install libns3-dev g++" in text


def test_without_ns3_the_command_ends_kindly(peer, tmp_path, capsys):
    assert peer.main(["--ns3-prefix", str(tmp_path)]) == 1
    seen = capsys.readouterr()
    assert "apt install libns3-dev" in seen.err
    assert seen.out == ""


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("libns3-core.so", "-lns3-internet"),
        ("libns3.37-core-optimized.so", "-lns3.37-internet-optimized"),
    ],
)
def test_libraries_are_found_under_any_name(peer, tmp_path, monkeypatch, name, option):
    monkeypatch.setattr(peer.shutil, "which", lambda name: "/usr/bin/g++")
    folder = fake_ns3(tmp_path, name)
    assert peer.missing(tmp_path) is None
    core = peer.core_library(tmp_path)
    command = peer.compile_command(core, tmp_path, tmp_path / "peer")
    assert option in command
    assert f"-L{folder}" in command
    assert any(part.endswith("lean.cc") for part in command)


def test_a_program_that_drops_or_fails_gives_no_figures(peer):
    code = 'print(\'{"packet_hops": 1, "wall_s": 1.0, "dropped": 3}\')'
    dropping = peer.Program("ns-3", [sys.executable, "-c", code])
    with pytest.raises(peer.Trouble, match="dropped 3 packets"):
        dropping.run()
    failing = peer.Program("ns-3", [sys.executable, "-c", "raise SystemExit('no such flow')"])
    with pytest.raises(peer.Trouble, match="no such flow"):
        failing.run()


@pytest.mark.real_engine
@pytest.mark.skipif(
    not getattr(_native, "__file__", "").endswith((".so", ".pyd")),
    reason="the engine is not built",
)
def test_a_list_gives_the_run_it_was_made_from(peer, tmp_path):
    args = peer.parser().parse_args(["--arrivals", "20us"])
    file = peer.write_flows(args, tmp_path)
    made_from = xoff.run(peer.scenario(args, "none", peer.open_loop(args))).summary
    found = peer.run_xoff(file)
    assert found["packet_hops"] == made_from["packet_hops"]
    assert found["flows"] == made_from["flows_finished"]
    assert found["wall_s"] > 0
