"""Traces become scenarios that pass the check, say what each part became, and run."""

import re
import shutil
import struct
from pathlib import Path

import pytest

import xoff
from xoff import cli, importing
from xoff.strict import tomllib
from xoff.torture import chakra

SCENARIOS = Path(__file__).parents[2] / "scenarios"

pytestmark = pytest.mark.real_engine


def lines(text):
    return [line for line in text.splitlines() if line.startswith("#")]


@pytest.mark.parametrize(
    ("file", "kind", "parts"),
    [
        ("pipeline.goal", "goal", ["4 ranks", "14 messages of 40MB", "14 computations of 480us"]),
        (
            "training.3.et",
            "chakra",
            ["8 ranks", "16 messages", "2 collective operations (2 all-red"],
        ),
        ("training", "chakra", ["8 ranks"]),
        (
            "shuffle.csv",
            "dependent",
            ["6 ranks", "11 messages of 3403KB", "8 computations of 140us"],
        ),
    ],
)
def test_shipped_traces_become_scenarios(file, kind, parts, tmp_path):
    for one in SCENARIOS.iterdir():
        if one.suffix in (".et", ".goal", ".csv", ".json"):
            shutil.copy(one, tmp_path)
    text = importing.scenario_of(tmp_path / file, tmp_path)
    assert f'kind = "{kind}"' in text
    for part in parts:
        assert any(part in line for line in lines(text)), (part, lines(text))
    target = tmp_path / "imported.toml"
    target.write_text(text)
    job = xoff.run(target, progress=False).summary["jobs"][0]
    assert job["finished"] == 1


def test_a_long_trace_gets_racks(tmp_path):
    ranks = "".join(f"rank {n} {{\ns: send 1000b to {(n + 1) % 40}\n"
                    f"r: recv 1000b from {(n + 39) % 40}\n}}\n" for n in range(40))  # fmt: skip
    file = tmp_path / "ring.goal"
    file.write_text(f"// a comment\n/* num_ranks 9 */ num_ranks 40\n{ranks}")
    text = importing.scenario_of(file, tmp_path, "bfc")
    assert "leaves = 3\nhosts_per_leaf = 16\n" in text
    assert 'scheme = "bfc"' in text


def test_a_binary_schedule_is_recognised(tmp_path):
    rank = struct.pack("<II", 0, 0)
    table = struct.pack("<QQ", 22, 30)
    file = tmp_path / "empty.bin"
    file.write_bytes(struct.pack("<QIBB", 4223, 1, 1, 1) + table + rank)
    found = importing.recognise(file)
    assert (found.kind, found.hosts) == ("goal", 1)


def test_a_list_is_measured_to_its_last_flow(tmp_path):
    file = tmp_path / "flows.csv"
    file.write_text("src,dst,size_bytes,start_ps\n0,7,1000,0\n3,1,1000,4000000000\n")
    text = importing.scenario_of(file, tmp_path)
    assert "hosts = 8\n" in text
    assert re.search(r'measure = "5ms"', text)
    result = xoff.run(xoff.Scenario.from_toml(_written(tmp_path, text)), progress=False)
    assert result.flows.num_rows == 2


def _written(folder, text):
    file = folder / "imported.toml"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("name", "contents", "said"),
    [
        ("x.csv", b"a,b\n1,2\n", "none of the traces that can be imported"),
        ("x.bin", bytes(range(256)), "none of the traces that can be imported"),
        ("x.goal", b"", "none of the traces that can be imported"),
        ("x.csv", b"src,dst,size_bytes,start_ps\n0,9999999999,1,0\n", "9999999999"),
        ("x.goal", b"num_ranks 3\nrank 0 {\n", "x.goal:2: rank 0 has no closing brace"),
    ],
)
def test_what_cannot_be_imported_is_named(name, contents, said, tmp_path, capsys):
    file = tmp_path / name
    file.write_bytes(contents)
    out = tmp_path / "out.toml"
    assert cli.main(["import", str(file), "--out", str(out)]) == 2
    assert said in capsys.readouterr().err
    assert not out.exists()


def test_a_gap_in_a_chakra_trace_is_named(tmp_path, capsys):
    for rank in (0, 1, 3):
        shutil.copy(SCENARIOS / f"training.{rank}.et", tmp_path)
    assert cli.main(["import", str(tmp_path / "training.0.et")]) == 2
    assert "training.2.et is missing, but" in capsys.readouterr().err


def test_nothing_is_overwritten(tmp_path, capsys):
    out = tmp_path / "out.toml"
    shutil.copy(SCENARIOS / "pipeline.goal", tmp_path)
    command = ["import", str(tmp_path / "pipeline.goal"), "--out", str(out)]
    assert cli.main(command) == 0
    before = out.read_text()
    assert 'file = "pipeline.goal"' in before
    assert cli.main(command) == 2
    assert "exists: name another file" in capsys.readouterr().err
    assert out.read_text() == before


def test_a_missing_file_is_named(tmp_path, capsys):
    assert cli.main(["import", str(tmp_path / "no.goal")]) == 2
    assert "no.goal: No such file or directory" in capsys.readouterr().err
    assert cli.main(["import", str(tmp_path / "no.0.et")]) == 2
    assert "no.0.et: no such file" in capsys.readouterr().err


def test_a_name_cannot_end_the_comment_that_it_is_in(tmp_path):
    file = tmp_path / "x\nseed = 7\n#.csv"
    file.write_text("src,dst,size_bytes,start_ps\n0,7,1000,0\n")
    assert "seed" not in tomllib.loads(importing.scenario_of(file, tmp_path))


def test_groups_under_another_name_can_be_given(tmp_path):
    for rank in range(8):
        shutil.copy(SCENARIOS / f"training.{rank}.et", tmp_path)
    groups = shutil.copy(SCENARIOS / "training.groups.json", tmp_path / "stages.json")
    with pytest.raises(xoff.errors.ScenarioError, match="groups"):
        importing.scenario_of(tmp_path / "training", tmp_path)
    out = tmp_path / "imported.toml"
    given = ["--groups", str(groups), "--out", str(out)]
    assert cli.main(["import", str(tmp_path / "training"), *given]) == 0
    assert 'groups = "stages.json"' in out.read_text()


def test_groups_that_a_trace_does_not_use_are_left_out(tmp_path):
    for rank in range(2):
        node = chakra.node(1, chakra.COMP, micros=5)
        (tmp_path / f"trace.{rank}.et").write_bytes(chakra.file([node]))
    groups = tmp_path / "trace.groups.json"
    groups.write_text('{"1": [0, 1]}')
    text = importing.scenario_of(tmp_path / "trace", tmp_path)
    assert "groups" not in tomllib.loads(text)["traffic"][0]
    # Groups that were asked for are not.
    with pytest.raises(xoff.errors.ScenarioError, match="names none of its groups"):
        importing.scenario_of(tmp_path / "trace", tmp_path, "pfc", {"groups": str(groups)})


def test_code_points_get_their_classes(tmp_path):
    file = tmp_path / "flows.csv"
    file.write_text("src,dst,size_bytes,start_ps,dscp\n0,7,1000,0,26\n3,1,1000,4000,46\n")
    text = importing.scenario_of(file, tmp_path, "pfc", {"dscp_map": "26:3, 46:5"})
    assert 'dscp_map = "26:3, 46:5"' in text
    with pytest.raises(xoff.errors.UsageError, match="--groups has no meaning"):
        importing.scenario_of(file, tmp_path, "pfc", {"groups": "x.json"})
