"""`xoff agent` and `xoff lab`."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from xoff import cli
from xoff.lab import deploy, experiments, network, traffic, transfers
from xoff.lab.deploy import Daemon, Faults, Flowtune
from xoff.lab.network import SETUPS

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
    assert experiments.settling_ms(deployed, run, experiments.staggered(SETUP)) == [1.0, 3.0, 4.0]


def test_a_relay_stands_between_agents_and_allocator(tmp_path, monkeypatch):
    monkeypatch.setattr(deploy, "FILES", tmp_path)
    Flowtune(SETUP, faults=Faults(0.3, 0.2)).write()
    assert 'allocators = ["10.213.0.10:4403"]' in (tmp_path / "agent3.toml").read_text()
    assert 'address = "10.213.0.10:4503"' in (tmp_path / "allocator.toml").read_text()
    assert (tmp_path / "3.key").stat().st_mode & 0o777 == 0o600
    Flowtune(SETUP).write()
    assert 'allocators = ["10.213.0.10:4300"]' in (tmp_path / "agent3.toml").read_text()
    assert 'address = "10.213.0.4:4301"' in (tmp_path / "allocator.toml").read_text()


def test_a_figure_needs_results_of_both_schemes(capsys, tmp_path):
    (tmp_path / "a.json").write_text("{}")
    out = tmp_path / "a.png"
    code, _, err = call(capsys, "lab", "plot", tmp_path / "a.json", tmp_path / "b.json", out)
    assert (code, "b.json" in err) == (2, True)
    assert not out.exists()
