"""`xoff timeline`: a decoder reads the trace back and compares it with the tables."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

import xoff
from xoff import cli
from xoff.perfetto import Lanes, Trace

SCENARIO = """
scheme = "pfc"
network.topology = "star"
star.hosts = 6
run = { warmup = "0us", measure = "100us", drain = "20ms", port_samples = "10us" }
pfc.threshold = 0.001
[[traffic]]
kind = "incast"
victims = "0"
degree = 5
bytes = "1MB"
period = "50us"
[[traffic]]
kind = "collective"
bytes = "400KB"
rounds = 2
hosts = "1-4"
"""


def fields(data: bytes) -> dict[int, list]:
    """Return the fields of a message by their tags."""
    found = defaultdict(list)
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            found[key >> 3].append(varint())
        else:
            assert key & 7 == 2
            size = varint()
            found[key >> 3].append(data[at : at + size])
            at += size
    assert at == len(data)
    return found


class Decoded:
    """Tracks as (group, name), slices by track and values by track."""

    def __init__(self, path: Path) -> None:
        self.tracks: dict[int, tuple[str, str]] = {}
        self.slices = defaultdict(list)
        self.values = defaultdict(list)
        groups: dict[int, str] = {}
        open_slices: dict[int, tuple] = {}
        for packet in map(fields, fields(path.read_bytes())[1]):
            assert packet[10] == [1]
            for track in map(fields, packet.get(60, [])):
                number = track[1][0]
                if 3 in track:
                    groups[number] = fields(track[3][0])[6][0].decode()
                else:
                    self.tracks[number] = (groups[track[5][0]], track[2][0].decode())
            for event in map(fields, packet.get(11, [])):
                (kind,), (track,), (time,) = event[9], event[11], packet[8]
                if kind == 1:
                    # Slices of a track do not overlap.
                    assert track not in open_slices
                    notes = map(fields, event.get(4, []))
                    about = {
                        n[10][0].decode(): n[3][0] if 3 in n else n[6][0].decode() for n in notes
                    }
                    open_slices[track] = (event[23][0].decode(), time, about)
                elif kind == 2:
                    name, begin, about = open_slices.pop(track)
                    previous = self.slices[track]
                    assert not previous or previous[-1][2] <= begin
                    previous.append((name, begin, time, about))
                else:
                    self.values[self.tracks[track]].append((time, event[30][0]))
        assert not open_slices

    def slices_of(self, group: str, name: str) -> list:
        """Return the slices of all tracks with this group and name, by their begins."""
        tracks = [track for track, place in self.tracks.items() if place == (group, name)]
        return sorted(
            (one for track in tracks for one in self.slices[track]), key=lambda one: one[1:3]
        )


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return xoff.run(SCENARIO, out=tmp_path_factory.mktemp("timeline") / "run", progress=False)


@pytest.mark.real_engine
def test_slices_and_counters_are_those_of_the_tables(run, tmp_path, capsys):
    target = tmp_path / "sub" / "run.pftrace"
    assert cli.main(["timeline", str(run.path), "--out", str(target)]) == 0
    assert capsys.readouterr().out == f"{target}\n"
    found = Decoded(target)
    rows = sorted(run.flows.to_pylist(), key=lambda row: row["start_ps"])
    for host in range(6):
        expected = [row for row in rows if row["src"] == host]
        slices = found.slices_of("flows by sender", f"host {host}")
        by_flow = {about["flow"]: (begin, end) for _, begin, end, about in slices}
        assert by_flow == {
            row["flow"]: (row["start_ps"] // 1000, (row["start_ps"] + row["fct_ps"]) // 1000)
            for row in expected
        }
    about = found.slices_of("flows by sender", "host 5")[0][3]
    assert (about["to"], about["class"], about["bytes"]) == ("host 0", "incast", 200_000)

    job = "job 1: collective"
    assert [one[:3] for one in found.slices_of(job, "rounds")] == [
        (f"round {row['round']}", row["begin_ps"] // 1000, row["end_ps"] // 1000)
        for row in run.rounds.to_pylist()
    ]
    assert len(found.slices_of(job, "steps")) == run.steps.num_rows

    samples = run.table("port_samples").to_pylist()
    [switch] = {row["node"] for row in run.ports.to_pylist() if row["link"] != "host-leaf"}
    changes = [(0, 0)]
    for row in samples:
        if row["node"] == switch and row["port"] == 0 and row["queue_bytes"] != changes[-1][1]:
            changes.append((row["time_ps"] // 1000, row["queue_bytes"]))
    names = dict(zip(*(run.nodes[key].to_pylist() for key in ("node", "name")), strict=True))
    assert found.values[names[switch], "to host 0: queue"] == changes
    paused = [values for (_, name), values in found.values.items() if "paused" in name]
    assert paused
    assert max(value for values in paused for _, value in values) > 0


@pytest.mark.real_engine
def test_what_is_left_out_is_said(run, tmp_path, capsys):
    target = tmp_path / "run.pftrace"
    assert cli.main(["timeline", str(run.path), "--out", str(target), "--most", "7"]) == 0
    printed = capsys.readouterr().out.splitlines()
    total = run.flows.num_rows
    assert printed[0].startswith(f"left out: {total - 7:,} of {total:,} flows, which begin at ")
    assert printed[1].startswith("left out: values of port samples after the first 7 changes")
    found = Decoded(target)
    kept = [
        about["flow"] for slices in found.slices.values() for *_, about in slices if "flow" in about
    ]
    rows = sorted(run.flows.to_pylist(), key=lambda row: (row["start_ps"], row["flow"]))
    assert sorted(kept) == sorted(row["flow"] for row in rows[:7])


@pytest.mark.real_engine
def test_a_failure_leaves_the_file_as_it_was(run, tmp_path, monkeypatch, capsys):
    target = tmp_path / "run.pftrace"
    target.write_text("before")
    monkeypatch.setattr(Trace, "slice", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    assert cli.main(["timeline", str(run.path), "--out", str(target)]) == 1
    assert "cannot write" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["run.pftrace"]
    assert target.read_text() == "before"
    assert cli.main(["timeline", str(run.path), "--out", str(tmp_path)]) == 2


def test_lanes_are_used_again(tmp_path):
    path = tmp_path / "lanes"
    with path.open("wb") as file:
        trace = Trace(file)
        lanes = Lanes(trace, trace.group("g"), "n")
        for begin, end in ((0, 5000), (1000, 2000), (2000, 9000), (5000, 6000)):
            lanes.slice("s", begin, end, {})
    assert len(Decoded(path).tracks) == 2
