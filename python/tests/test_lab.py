"""`xoff agent` and `xoff lab`."""

import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from xoff import cli, commands, engine
from xoff.commands import lab
from xoff.errors import UsageError
from xoff.lab import (
    deploy,
    experiments,
    figure,
    network,
    record,
    schemes,
    tap,
    tcp_counters,
    traffic,
    transfers,
)
from xoff.lab.deploy import Daemon, Faults, Flowtune
from xoff.lab.network import SETUPS
from xoff.lab.settling import Settled, settled
from xoff.lab.stages import Message, stages

ROOT = Path(__file__).parents[2]
MS = 1_000_000
SETUP = SETUPS["8to1"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="agents run on Linux")


def call(capsys, *args):
    code = cli.main(list(map(str, args)))
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def test_an_agent_needs_a_file_or_the_order_to_clean_up(capsys, tmp_path):
    code, _, err = call(capsys, "agent")
    assert (code, "give a CONFIG" in err) == (2, True)
    code, _, err = call(capsys, "agent", tmp_path / "none.toml", "--cleanup")
    assert (code, "give a CONFIG" in err) == (2, True)
    code, _, err = call(capsys, "agent", tmp_path / "none.toml")
    assert (code, "none.toml: No such file" in err) == (1, True)


def test_doctor_says_which_data_planes_there_are(capsys):
    _, out, _ = call(capsys, "doctor")
    assert "data planes sockets" in out
    assert "without eBPF" in out


def test_a_laboratory_is_refused_with_a_reason(capsys, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    code, _, err = call(capsys, "lab", "up", "8to1")
    assert (code, "needs root" in err) == (2, True)
    monkeypatch.undo()
    code, _, err = call(capsys, "lab", "up", "9to1")
    assert (code, "no set-up `9to1`" in err) == (2, True)


@pytest.mark.skipif(network.unavailable() is not None, reason=f"{network.unavailable()}")
@pytest.mark.skipif(bool(network.existing()), reason="a laboratory is up")
def test_a_laboratory_leaves_nothing(capsys):
    code, _, err = call(capsys, "lab", "up", "8to1")
    if code == 1 and "not permitted" in err:
        pytest.skip("network namespaces are not permitted")
    assert code == 0, err
    assert len(network.existing()) == 11
    assert "up or was left behind" in call(capsys, "lab", "up", "8to1")[2]
    # What a killed command would leave: a process on a host.
    with subprocess.Popen(network.inside(3, ["sleep", "60"])):
        while not network.processes():
            time.sleep(0.01)
        assert call(capsys, "lab", "down")[0] == 0
    assert (network.existing(), network.STATE.exists()) == ([], False)
    assert call(capsys, "lab", "down")[0] == 0
    assert "no laboratory is up" in call(capsys, "lab", "run", "fig06")[2]


def test_transfers_are_received_whole():
    port, stop = 42613, time.monotonic_ns() + 10_000 * MS
    script = [sys.executable, "-I", transfers.SCRIPT]
    receive = [*script, "receive", "127.0.0.1", str(port), str(stop), str(5 * MS), "3"]
    with subprocess.Popen(receive, stdout=subprocess.PIPE, text=True) as receiver:
        assert receiver.stdout.readline() == "listening\n"
        traffic.send("127.0.0.1", port, "default", (0, 0), 3, 500_000, "h")
        rows = [json.loads(line) for line in receiver.stdout]
    assert sorted(row["name"] for row in rows) == ["h.0", "h.1", "h.2"]
    for row in rows:
        assert (row["bytes"], row["is_whole"]) == (500_000, True)
        assert sum(size for _, size in row["intervals"]) == 500_000
        assert row["first_ns"] <= row["last_ns"]


def test_connections_are_open_before_a_transfer_begins():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        first = time.monotonic_ns() + 500 * MS
        to = listener.getsockname()
        arguments = (*to, "default", (first, 0), 2, 1000, "h")
        sender = threading.Thread(target=traffic.send, args=arguments)
        sender.start()
        accepted = [listener.accept()[0] for _ in range(2)]
        assert time.monotonic_ns() < first
        assert accepted[0].recv(1) == b"h"
        assert time.monotonic_ns() >= first
        for each in accepted:
            while each.recv(1 << 16):
                pass
            each.close()
        sender.join()


def test_schemes_that_the_kernel_lacks_are_left_out_with_a_reason(monkeypatch):
    monkeypatch.setattr(schemes, "_has", lambda control: control != "bbr")
    said = []
    assert schemes.available(None, said.append) == ["Flowtune", "Cubic"]
    assert ["no congestion control `bbr`" in line for line in said] == [True]
    assert schemes.available(["Cubic"], said.append) == ["Cubic"]
    with pytest.raises(UsageError, match="modprobe tcp_bbr"):
        schemes.available(["BBR"], said.append)
    monkeypatch.undo()
    assert schemes._has(None)
    assert schemes._has("reno")
    assert not schemes._has("no_such")


def test_a_record_says_what_ran_where():
    args = commands.parser().parse_args(["lab", "run", "fig07", "--scheme", "BBR", "--seed", "2"])
    command = lab._command(args)
    assert command == "xoff lab run fig07 --runs 5 --scheme BBR --seed 2"
    found = record.text({"all_s": {"BBR": [1.234567, 2]}, "runs": 5}, command, (0.5, 1.5))
    assert json.loads(found) == {
        "command": command,
        "engine": engine.build_id(),
        "machine": record.machine(),
        "load": [0.5, 1.5],
        "all_s": {"BBR": [1.2346, 2]},
        "runs": 5,
    }
    assert len(found.splitlines()) == 8


def test_counters_of_tcp_are_found_by_name():
    lines = [
        "Tcp: RtoMin RetransSegs",
        "Tcp: 200 7",
        "TcpExt: TCPLossProbes Other TCPTimeouts",
        "TcpExt: 3 9 2",
    ]
    host = tcp_counters.parse(lines)
    assert host == {"retransmitted_segments": 7, "timeouts": 2, "tail_loss_probes": 3}
    assert tcp_counters.added([host, host])["timeouts"] == 4
    assert tcp_counters.since(host, tcp_counters.added([host, host])) == host
    assert tcp_counters.parse(lines[:2])["timeouts"] == 0


def test_phases_are_between_starts_and_ends():
    plan = experiments.staggered(SETUP)
    assert (plan[0].first_ns, plan[0].last_ns) == (0, 450 * MS)
    assert (plan[7].first_ns, plan[7].last_ns) == (350 * MS, 800 * MS)
    found = [
        transfers.Transfer(each.host, 0, 0, 0, False, 0, dict.fromkeys(range(200), each.host))
        for each in plan
    ]
    phases = transfers.phases(SETUP, plan, found)
    assert [len(phase.flows) for phase in phases] == [*range(1, 9), *range(7, 0, -1)]
    assert {phase.received.shape[0] for phase in phases} == {10, 20}
    assert np.array_equal(phases[1].received[0], [1, 2])
    # 1 Gb/s for 5 ms, less headers.
    assert phases[0].full == pytest.approx(625_000 * 1448 / 1514)


def test_rates_have_settled_when_all_have_their_shares(tmp_path):
    start = 10_000 * MS
    share = SETUP.bottleneck_bps / 8 * 1448 / 1538 * 0.99

    def agent(host, *events):
        lines = [
            {"event": event, "ns": start + at * MS, "flowlet": 1, "rate": rate}
            for event, at, rate in events
        ]
        log = tmp_path / f"{host}.log"
        log.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return Daemon(host, None, log)

    first = agent(
        1,
        ("started", 0, None),
        ("rate", 1, share),
        ("rate", 52, share * 0.6),
        ("rate", 53, share * 0.5),
        ("rate", 101, share * 0.97),
        ("rate", 104, share * 1.01),
    )
    second = agent(2, ("started", 50, None), ("rate", 52, share * 0.495), ("ended", 100, None))
    deployed = Flowtune(SETUP, agents={1: first, 2: second})
    run = type("Run", (), {"start_ns": start})
    found = settled(deployed, run, experiments.staggered(SETUP))
    assert [(each.host, each.took_ms) for each in found] == [(1, 1.0), (2, 3.0), (2, 4.0)]
    assert all(each.is_alone for each in found)
    third = agent(3, ("started", 51, None), ("ended", 51.5, None))
    deployed.agents[3] = third
    found = settled(deployed, run, experiments.staggered(SETUP))
    assert [each.is_alone for each in found] == [True, False, False, False, True]


def test_a_change_has_stages():
    change = Settled(since=10 * MS, host=2, at=15 * MS)
    times = [
        (9.9, "report", 2),  # of an earlier change
        (10.1, "rates", 1),  # before the report
        (10.2, "report", 3),  # of another host
        (10.5, "report", 2),
        (11.25, "rates", 1),
        (11.3, "rates", 2),
        (12.25, "report", 2),
        (14.25, "rates", 1),
        (15.5, "rates", 1),  # after rates were equal
    ]
    messages = [Message(int(at * MS), kind, host) for at, kind, host in times]
    assert stages(change, messages) == {
        "report": 0.5,
        "wait": 0.75,
        "iterating": 3.0,
        "enforcement": 0.75,
        "iterations": 4.0,
    }
    assert stages(change, messages[:4]) is None


def frame(body, ports=(4301, 4300)):
    datagram = struct.pack("!HHHH", *ports, 8 + len(body), 0) + body
    packet = bytes([0x45, 0, *bytes(7), 17, *bytes(10)]) + datagram
    return bytes(12) + b"\x08\x00" + packet


def test_a_tap_knows_messages_with_news():
    page = (ROOT / "docs" / "flowtune-protocol.md").read_text()
    examples = page.partition("<!-- examples: begin -->")[2].partition("<!-- examples: end")[0]
    blocks = re.findall(r"^(\w[^\n]*), \d+ bytes:\n\n```\n(.*?)```", examples, re.M | re.S)
    found = {name: tap.news(frame(bytes.fromhex(text)), 4300) for name, text in blocks}
    assert found["Report: two starts"] == found["Report: one end"] == ("report", 7)
    assert found["Rates: two"] == ("rates", 7)
    assert found["Hello"] is found["Welcome"] is found["Reset"] is None
    starts = bytes.fromhex(dict(blocks)["Report: two starts"])
    assert tap.news(frame(starts, (4301, 4302)), 4300) is None
    without = starts[:50] + bytes(4) + starts[54:]
    assert tap.news(frame(without), 4300) is None
    assert tap.news(frame(starts[:7]), 4300) is None, "it is too short"


def test_a_relay_stands_between_agents_and_allocator(tmp_path, monkeypatch):
    monkeypatch.setattr(deploy, "FILES", tmp_path)
    Flowtune(SETUP, faults=Faults(0.3, 0.2)).write()
    assert 'allocators = ["10.213.0.10:4403"]' in (tmp_path / "agent3.toml").read_text()
    assert 'address = "10.213.0.10:4503"' in (tmp_path / "allocator.toml").read_text()
    assert (tmp_path / "3.key").stat().st_mode & 0o777 == 0o600
    assert "gamma" not in (tmp_path / "allocator.toml").read_text()
    Flowtune(SETUP, gamma=0.4).write()
    assert "\ngamma = 0.4\n" in (tmp_path / "allocator.toml").read_text()
    Flowtune(SETUP).write()
    assert 'allocators = ["10.213.0.10:4300"]' in (tmp_path / "agent3.toml").read_text()
    assert 'address = "10.213.0.4:4301"' in (tmp_path / "allocator.toml").read_text()


def test_a_figure_has_both_sides(monkeypatch):
    curve = (np.array([0.0, 5.0]), np.array([0.5, 1.0]))
    monkeypatch.setattr(figure, "simulated", lambda scheme: [curve])
    monkeypatch.setattr(figure, "simulated_completions", lambda: {"Flowtune": [1.7, 1.6]})
    fig06 = {"series": {"Flowtune": {"1": [[0, 500]]}, "Cubic": {"1": [[0, 400]]}}}
    fig07 = {"all_s": {"Flowtune": [1.9, 1.8], "Cubic": [1.7], "BBR": [3.0]}}
    axes = figure.figure(fig06, fig07).axes
    assert [ax.get_title() for ax in axes if ax.get_visible()] == [
        "Flowtune, simulated, 10 Gb/s",
        "Cubic, simulated, 10 Gb/s",
        "Coflow of 200 transfers, 1 Gb/s",
        "Flowtune, on Linux, 1 Gb/s",
        "Cubic, on Linux, 1 Gb/s",
    ]
    drawn = {line.get_label(): list(line.get_xdata()) for line in axes[2].lines}
    assert drawn == {
        "Flowtune, on Linux": [1.8, 1.9],
        "Cubic, on Linux": [1.7],
        "BBR, on Linux": [3.0],
        "Flowtune, simulated": [1.6, 1.7],
    }


def test_a_figure_needs_results_of_both_schemes(capsys, tmp_path):
    (tmp_path / "a.json").write_text("{}")
    out = tmp_path / "a.png"
    code, _, err = call(capsys, "lab", "plot", tmp_path / "a.json", tmp_path / "b.json", out)
    assert (code, "b.json" in err) == (2, True)
    assert not out.exists()
