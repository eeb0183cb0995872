"""Connection matrices and networks of htsim."""

import pytest

import xoff
from xoff import cli
from xoff.errors import ScenarioError

pytestmark = pytest.mark.real_engine

# Two pods of two leaves of two hosts, with latencies and double links to the cores.
NETWORK = """\
Nodes 8
Tiers 3
Podsize 4

Tier 0
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Switch_Latency_ns 300

Tier 1
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 4
Downlink_Latency_ns 1000

Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 1000
Bundle 2
"""

# A ring of three steps, a barrier on two of its events, and two flows one after the other.
MATRIX = """\
Nodes 8
Connections 7
Triggers 3
0->2 id 1 start 2000000 size 20000 recv_done_trigger 1
2->5 id 2 trigger 1 size 30000 recv_done_trigger 2
7->6 id 3 start 0 size 90000 send_done_trigger 2
1->3 id 4 trigger 2 size 5000 recv_done_trigger 3
5->0 id 5 trigger 2 size 6000 recv_done_trigger 3
4->1 id 6 trigger 3 size 7000
4->2 id 7 trigger 3 size 8000
trigger id 1 oneshot
trigger id 2 barrier count 2
trigger id 3 multishot
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "net.topo").write_text(NETWORK)
    (tmp_path / "case.cm").write_text(MATRIX)
    return tmp_path


def run(files, *settings):
    topology = f"topology={files / 'net.topo'}"
    return xoff.run(files / "case.cm", set=[topology, *settings])


@pytest.mark.parametrize("scheme", ["htsim-ndp", "htsim-eqds", "htsim-swift", "htsim-tcp", "bfc"])
def test_triggers_start_flows_at_the_instant_of_their_event(files, scheme):
    result = run(files, f"scheme={scheme}")
    assert result.summary["flows_finished"] == 7
    assert result.summary["classes"][0]["finished"] == 7
    rows = result.flows.sort_by("size_bytes").to_pylist()
    by_size = {row["size_bytes"]: row for row in rows}
    arrived = {size: row["start_ps"] + row["rx_fct_ps"] for size, row in by_size.items()}
    acknowledged = {size: row["start_ps"] + row["fct_ps"] for size, row in by_size.items()}
    start = {size: row["start_ps"] for size, row in by_size.items()}
    assert (start[20000], start[90000]) == (2_000_000, 0)
    assert start[30000] == arrived[20000]
    both = max(arrived[30000], acknowledged[90000])
    assert start[5000] == start[6000] == both
    first, second = sorted((arrived[5000], arrived[6000]))
    assert (start[7000], start[8000]) == (first, second)


def test_a_matrix_runs_as_a_list_of_its_flows_does(files):
    (files / "case.cm").write_text(
        "Nodes 8\nConnections 2\n0->7 start 1000 size 70000\n1->7 start 0 size 60000\n"
    )
    matrix = run(files, "scheme=htsim-ndp")
    (files / "flows.csv").write_text("src,dst,size_bytes,start_ps\n1,7,60000,0\n0,7,70000,1000\n")
    text = matrix.effective.replace('kind = "connections"', 'kind = "list"')
    text = text.replace("case.cm", str(files / "flows.csv"))
    assert xoff.run(text).digest == matrix.digest


def test_the_command_takes_a_network_and_a_scheme(files, capsys):
    arguments = ["run", str(files / "case.cm"), "--topology", str(files / "net.topo")]
    out = ["--out", str(files / "out")]
    assert cli.main([*arguments, *out, "--set", "scheme=htsim-ndp"]) == 0
    assert xoff.load(files / "out").summary["name"] == "case"
    assert cli.main([*arguments, *out]) == 2
    assert "add --set scheme=NAME" in capsys.readouterr().err
    (files / "scenario.toml").write_text('scheme = "bfc"\n')
    assert cli.main(["run", str(files / "scenario.toml"), *arguments[2:]]) == 2
    assert "--topology is the network of a connection matrix" in capsys.readouterr().err


def test_damaged_files_are_refused_by_line(files):
    for name, line, text in [
        ("case.cm", 4, MATRIX.replace("size 20000", "size twenty")),
        ("case.cm", 2, MATRIX[: MATRIX.index("4->2")]),
        ("net.topo", 9, NETWORK.replace("Latency_ns 1000\nSwitch", "Latency_ns 1e3\nSwitch")),
        ("net.topo", 17, NETWORK[: NETWORK.index("Tier 2")]),
    ]:
        original = (files / name).read_text()
        (files / name).write_text(text)
        with pytest.raises(ScenarioError, match=f"{name}, line {line}: "):
            run(files, "scheme=htsim-ndp")
        (files / name).write_text(original)
    with pytest.raises(ScenarioError, match="partitions = 0 or 1"):
        run(files, "scheme=htsim-ndp", "run.partitions=2")
    with pytest.raises(ScenarioError, match="batches = 0"):
        run(files, "scheme=htsim-ndp", "run.batches=2")
