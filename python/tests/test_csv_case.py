"""Cases as CSV files: reading, bad input, and answers of ns-3 met by the engine."""

import json
import random
import shutil
from pathlib import Path

import pytest

from xoff import compare_reference, csv_case, csv_forms
from xoff.errors import RunError, XoffError

DATA = Path(__file__).parent / "data"
NS3 = DATA / "ns3"


@pytest.mark.real_engine
@pytest.mark.parametrize(
    ("name", "exact"),
    [
        ("newreno_two_fast", 2),
        ("newreno_single_1g_2ms", 1),
        # Of 160 flows into a queue of 100 packets, one meets another packet at its drop.
        ("newreno_incast8_rto10_fast", 159),
        ("cubic_two_fast", 2),
        ("dctcp_two_fast", 2),
    ],
)
def test_flows_end_at_the_nanosecond_of_ns3(name, exact, tmp_path):
    (case,) = compare_reference.run(NS3 / name, tmp_path)
    assert case.note == ""
    assert (case.exact(), len(case.compared)) == (exact, case.flows)
    assert abs(case.figures()["mean_fct_error"]) < 1e-4


@pytest.mark.real_engine
@pytest.mark.parametrize("name", ["tcp_two", "tcp_incast8", "dctcp_incast8", "swift_two"])
def test_every_flow_ends_at_the_nanosecond_of_htsim(name, tmp_path):
    (case,) = compare_reference.run(DATA / "htsim" / name, tmp_path)
    assert (case.note, len(case.compared)) == ("", 8)
    assert case.exact() == 8


@pytest.fixture
def a_case(tmp_path):
    return Path(shutil.copytree(NS3 / "newreno_two_fast", tmp_path / "case"))


def test_flows_are_numbered_by_start(a_case, tmp_path):
    for name, column in ((csv_case.FLOWS, ""), (csv_case.ANSWER, ",fct_ps")):
        rows = [f"{row}{',7' if column else ''}" for row in ("1,0,10,500", "2,0,20,100")]
        head = f"src,dst,size_bytes,start_ps{column}"
        (a_case / name).write_text("\n".join([head, *rows]) + "\n")
    case = csv_case.read(a_case)
    assert csv_case.rows_by_flow(case) == [1, 0]
    text = csv_case.scenario(case, a_case, tmp_path / "sorted.csv")
    assert 'scheme = "ns3-newreno"' in text
    assert (tmp_path / "sorted.csv").read_text().splitlines()[1:] == ["2,0,20,100", "1,0,10,500"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"simulator": "ns-9"}, "simulator 'ns-9' is not known: known are"),
        ({"transport": "TcpVegas"}, "transport 'TcpVegas' of ns-3 has no preset: known are"),
        ({"hosts": None}, "hosts is missing"),
        ({"hosts": "many"}, "hosts must be a whole number, found 'many'"),
        ({"transport": 7}, "transport is missing, or not a text"),
        ({"sack": False}, "sack = False is not modelled: only True is"),
        ({"delayed_ack_count": 2}, "delayed_ack_count = 2 is not modelled: only 1 is"),
        ({"loss_recovery": "TcpClassicRecovery"}, "only 'TcpPrrRecovery' is"),
        ({"transport": "TcpCubic", "hystart": "no"}, "hystart must be true or false, found 'no'"),
    ],
)
def test_a_wrong_parameter_is_named(a_case, tmp_path, change, words):
    file = a_case / csv_case.PARAMETERS
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(RunError, match=r"params\.json") as error:
        csv_case.scenario(csv_case.read(a_case), a_case, tmp_path / "sorted.csv")
    assert words in str(error.value)


def test_a_number_too_long_to_read_is_an_error(a_case):
    (a_case / csv_case.PARAMETERS).write_text('{"hosts": ' + 5000 * "7" + "}")
    with pytest.raises(RunError, match=r"cannot read .*params\.json"):
        csv_case.read(a_case)


@pytest.mark.parametrize(
    ("src", "spines", "words"),
    [
        (5, "-1,0", "expected spines from 0 to 1: -1,0"),
        (5, "0,2", "expected spines from 0 to 1: 0,2"),
        (1, "0,0", "expected -1, within a leaf: 0,0"),
    ],
)
def test_a_path_has_spines_between_leaves_only(tmp_path, src, spines, words):
    shape = csv_forms.Parameters({"hosts_per_leaf": 4, "spines": 2}, tmp_path / "params.json")
    file = tmp_path / csv_case.PATHS
    file.write_text(f"src,dst,start_ps,data_spine,ack_spine\n{src},0,7,{spines}\n")
    with pytest.raises(RunError, match=r"paths\.csv:2") as error:
        csv_case._paths(file, [csv_case.Flow(src, 0, 1000, 7)], shape)
    assert words in str(error.value)


def test_every_truncation_is_an_error_that_names_the_file(a_case, tmp_path):
    draws = random.Random(1)
    for name in (csv_case.FLOWS, csv_case.ANSWER, csv_case.PARAMETERS):
        whole = (a_case / name).read_text()
        for end in sorted(draws.sample(range(len(whole) - 1), 50)):
            (a_case / name).write_text(whole[:end])
            message = problem(a_case, tmp_path)
            # Flows and answers are compared line by line, so either file may be named. Only the
            # last completion time may be cut and still be a number.
            named = name in message or csv_case.ANSWER in message
            assert named or name == csv_case.ANSWER, (name, end)
        (a_case / name).write_text(whole)


def problem(folder, place):
    """Return why a case cannot be run; empty if it can."""
    try:
        csv_case.scenario(csv_case.read(folder), folder, place / "sorted.csv")
    except XoffError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("nonsense", ["-1", "1e9", "x", "", "99999999999999999999", "0x10"])
def test_nonsense_in_a_table_names_the_line(a_case, nonsense):
    for name in (csv_case.FLOWS, csv_case.ANSWER):
        lines = (a_case / name).read_text().splitlines()
        broken = [*lines[:2], ",".join([nonsense, *lines[2].split(",")[1:]])]
        (a_case / name).write_text("\n".join(broken) + "\n")
        with pytest.raises(RunError, match=f"{name}:3: "):
            csv_case.read(a_case)
        (a_case / name).write_text("\n".join(lines) + "\n")
