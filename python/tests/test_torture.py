"""Random worlds: drawing, failures of workers, and detection of differences."""

import json
import random
import re
import subprocess
import sys

import pytest

from xoff import engine
from xoff.toml_text import parse_toml
from xoff.torture import settings, trial, worlds
from xoff.torture.campaign import Campaign, Limits, render
from xoff.torture.contents import CONTENTS
from xoff.torture.drawing import reason
from xoff.torture.pool import Worker, unpacked
from xoff.torture.scales import Fabric
from xoff.torture.shrink import shrink
from xoff.torture.ways import WHOLE, Way
from xoff.torture.worlds import World

pytestmark = pytest.mark.real_engine

MEMORY = 4 << 30
SMALL = World(
    {"scheme": "bfc", "seed": 1},
    {
        "network": {"topology": "leaf-spine"},
        "leaf_spine": {"leaves": 2, "spines": 2, "hosts_per_leaf": 2},
        "run": {"warmup": "0us", "measure": "50us"},
    },
    [{"kind": "incast", "degree": 3, "bytes": "30KB", "period": "50us"}],
)


@pytest.fixture
def worker():
    found = Worker(MEMORY)
    yield found
    found.close()


def other_engine(folder, body):
    """Create a fake of another build whose `open_run` and `check` execute `body`."""
    package = folder / "xoff"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "_native.py").write_text(
        "import os, time\n"
        "class ScenarioError(Exception): pass\n"
        "class RunError(Exception): pass\n"
        "class Panic(BaseException): pass\n"
        f"def check(*arguments):\n    {body}\n"
        "open_run = check\n"
    )
    return folder


def test_every_kind_of_traffic_can_be_drawn():
    schema = json.loads(engine.schema())
    kinds = worlds.traffic_kinds(schema)
    fabric = worlds.fabric("leaf-spine", {"leaves": 2, "spines": 2, "rate": "100Gbps"}, 8)
    at, rng = worlds.times(fabric, 1000), random.Random(1)
    world = World()
    for _ in range(200):
        worlds.add_source(rng, world, kinds, fabric, at)
    assert {source["kind"] for source in world.traffic} == set(kinds)


def test_every_topology_can_be_drawn():
    schema = json.loads(engine.schema())
    known = set(schema["properties"]["network"]["properties"]["topology"]["enum"])
    rng = random.Random(1)
    drawn = [worlds.base(rng, ["bfc"], schema).sections["network"] for _ in range(200)]
    assert {network["topology"] for network in drawn} == known


def test_a_value_is_another_one_of_the_same_kind():
    schema = json.loads(engine.schema())["properties"]
    rng = random.Random(7)
    for section, key, value, form in [
        ("switch", "scheduler", "fifo", r"[a-z0-9-]+"),
        ("buffer", "size", "12MB", r"\d+B"),
        ("transport", "timeout", "10ms", r"\d+(ns|ps)"),
        ("hpcc", "min_rate", "1Gbps", r"\d+bps"),
    ]:
        declared = schema[section]["properties"][key]
        for _ in range(50):
            other = settings.other_value(rng, declared, value)
            assert other != value
            assert re.fullmatch(form, str(other)), other
    assert settings.other_value(rng, schema["switch"]["properties"]["ecn"], True) is False
    assert settings.other_value(rng, schema["run"]["properties"]["monitor"], "") is None


def test_a_world_reads_back_as_it_was_written():
    world = SMALL.copy()
    world.set("switch", "ecn", False)
    read = parse_toml(world.text())
    assert read["leaf_spine"]["leaves"] == 2
    assert read["switch"]["ecn"] is False
    assert read["traffic"] == world.traffic
    assert "[switch]" not in SMALL.text()


def test_times_are_multiples_of_the_grid():
    rng = random.Random(3)
    for _ in range(200):
        rate, delay = rng.choice(settings.RATES_BPS), settings.between(rng, 1e3, 1e12)
        at = worlds.times(Fabric(rng.randrange(2, 60), 2, 2, rate, delay), 1000)
        for time in (at.warmup, at.measure):
            assert time > 0
            assert time % at.grid == 0
        assert at.end + at.drain <= (worlds.MOST_STEPS + 100) * at.grid


def test_a_worker_tells_what_is_accepted_refused_and_run(worker):
    assert worker.check(SMALL)["status"] == "accepted"
    wrong = SMALL.copy()
    wrong.set("buffer", "kind", "elastic")
    answer = worker.check(wrong)
    assert answer["status"] == "refused"
    assert "buffer" in answer["message"]
    ran = worker.run(SMALL, WHOLE, 10)
    assert ran["status"] == "ran"
    assert ran["hops"] > 100
    assert "flows.fct_ps" in ran["tables"]
    assert trial.differs(ran, worker.run(SMALL, Way(2, 2, delay_seed=5), 10)) is None


@pytest.mark.parametrize("kind", sorted(CONTENTS))
def test_files_of_random_traffic_are_accepted_in_all_cuts(kind, worker):
    hosts = int(
        SMALL.sections["leaf_spine"]["leaves"] * SMALL.sections["leaf_spine"]["hosts_per_leaf"]
    )
    fabric = Fabric(hosts, 2, 2, 100e9, 1e7)
    for seed in range(10):
        world = SMALL.copy()
        world.traffic = []
        rng = random.Random(seed)
        worlds.add_source(rng, world, [kind], fabric, worlds.times(fabric, 1000))
        world.traffic[0].pop("priority", None)
        answer = worker.check(world)
        assert answer["status"] == "accepted", answer
    whole, cut = (worker.run(world, way, 10) for way in (WHOLE, Way(2, 2, delay_seed=5)))
    assert whole["status"] == "ran"
    assert trial.differs(whole, cut) is None


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ("os.abort()", "died", "SIGABRT"),
        ("raise Panic('of the engine')", "panic", "Panic: of the engine"),
        ("os._exit(7)", "died", "exit code 7"),
        ("bytearray(1 << 33)", "panic", "MemoryError"),
        ("raise ScenarioError('error: no')", "refused", "error: no"),
    ],
)
def test_a_worker_outlives_its_engine(tmp_path, body, status, said):
    worker = Worker(MEMORY, other_engine(tmp_path, body))
    for _ in range(2):
        answer = worker.check(SMALL)
        assert answer["status"] == status
        assert said in answer["message"]
    worker.close()


def test_a_worker_that_does_not_answer_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr("xoff.torture.pool.GRACE_S", 0.5)
    worker = Worker(MEMORY, other_engine(tmp_path, "time.sleep(60)"))
    assert worker.check(SMALL)["status"] == "hangs"
    worker.close()


def test_what_differs_is_named():
    ran = {"status": "ran", "digest": "a", "tables": {"flows.src": "1"}, "summary": {"a": {"b": 1}}}
    assert trial.differs(ran, ran) is None
    assert "digest: a and b" in str(trial.differs(ran, {**ran, "digest": "b"}))
    tables = {**ran, "tables": {"flows.src": "2"}}
    assert "column flows.src differs" in str(trial.differs(ran, tables))
    assert "column ports.node differs" in str(
        trial.differs(ran, {**ran, "tables": {**ran["tables"], "ports.node": "1"}})
    )
    summary = {**ran, "summary": {"a": {"b": 2}}}
    assert "summary.a.b differs: 1 and 2" in str(trial.differs(ran, summary))
    assert "status" in str(trial.differs(ran, {"status": "stuck", "message": "x"}))


def test_a_failing_world_is_made_small():
    world = SMALL.copy()
    world.sections["leaf_spine"] = {"leaves": 5, "spines": 4, "hosts_per_leaf": 8}
    world.sections["buffer"] = {"size": "1MB"}
    world.set("run", "monitor", "0")
    world.traffic += [{"kind": "permutation", "bytes": "10KB"}, {"kind": "long", "bytes": "1KB"}]
    world.faults = [{"kind": "loss"}]
    world.top["name"] = "large"

    def fails(smaller):
        kinds = [source["kind"] for source in smaller.traffic]
        return "permutation" in kinds and smaller.sections["leaf_spine"]["leaves"] >= 3

    small = shrink(world, fails, 10)
    assert small.sections["leaf_spine"] == {"leaves": 3, "spines": 1, "hosts_per_leaf": 1}
    assert [source["kind"] for source in small.traffic] == ["permutation"]
    assert not small.faults
    assert "buffer" not in small.sections
    assert "monitor" not in small.sections["run"]


def test_reasons_leave_out_numbers_and_names():
    text = 'error: [bfc] queues = 300 of leaf:3: "x" takes 12.5MB\n --> place'
    assert reason(text) == '[bfc] queues = N of leaf:N: "..." takes N'


def test_worlds_of_a_seed_are_the_same_whoever_draws_them(tmp_path):
    texts = []
    for folder in ("one", "two"):
        campaign = Campaign(11, Limits(5, MEMORY), tmp_path / folder, 1)
        texts.append([campaign.write(number).read_text() for number in range(3)])
    assert texts[0] == texts[1]
    assert len(set(texts[0])) == 3


def test_a_campaign_counts_and_finds_nothing_wrong(tmp_path):
    campaign = Campaign(5, Limits(5, MEMORY), tmp_path, 1)
    tally = campaign.run(0.1, lambda _: None)
    assert tally.worlds >= 1
    assert tally.failures == []
    assert f"{tally.worlds:,} worlds of seed 5" in render(tally, 5)
    assert not list(tmp_path.iterdir())


def test_another_build_is_compared(tmp_path):
    package = tmp_path / "other"
    package.mkdir()
    other = other_engine(package, "raise Panic")
    (package / "xoff" / "_native.so").touch()
    with unpacked(str(package)) as found:
        assert found == other
    same = Campaign(5, Limits(5, MEMORY, engine_folder()), tmp_path / "same", 1)
    assert same.run(0.05, lambda _: None).failures == []


def engine_folder():
    with unpacked(str(worlds.__file__).rsplit("/xoff/", 1)[0]) as folder:
        return folder


OTHER_DIGESTS = (
    "\n    class Run:"
    "\n        def step(self, ms): return False"
    "\n        def digest(self): return '0'"
    "\n        def progress(self): return {'packet_hops': 1}"
    "\n    return Run()"
)


def test_a_build_with_other_digests_is_found(tmp_path):
    limits = Limits(5, MEMORY, other_engine(tmp_path, OTHER_DIGESTS))
    tally = Campaign(5, limits, tmp_path / "out", 1).run(5, lambda _: None, first=True)
    number, failure, path = tally.failures[0]
    assert failure.kind == "differs"
    assert "with the other build" in failure.detail
    text = path.read_text()
    assert f"world {number} of seed 5" in text
    assert "xoff run world-5-" in text


def test_an_interrupt_does_not_wait_for_worlds_that_run(tmp_path, monkeypatch):
    monkeypatch.setattr("xoff.torture.pool.GRACE_S", 3600)
    asked = tmp_path / "asked"
    body = f"open({str(asked)!r}, 'w').close(); time.sleep(3600)"
    limits = Limits(5, MEMORY, other_engine(tmp_path, body))

    def interrupt(_):
        if asked.exists():
            raise KeyboardInterrupt

    campaign = Campaign(5, limits, tmp_path / "out", 2)
    with pytest.raises(KeyboardInterrupt):
        campaign.run(60, interrupt)
    assert campaign.tally.failures == []


def test_a_failure_that_is_being_reduced_at_an_interrupt_is_kept(tmp_path, monkeypatch):
    limits = Limits(5, MEMORY, other_engine(tmp_path, OTHER_DIGESTS))
    campaign = Campaign(5, limits, tmp_path / "out", 1)

    def shrink(world, fails, _):
        for worker in campaign._workers:
            worker.abandon()
        assert not fails(world)
        return world

    monkeypatch.setattr("xoff.torture.campaign.shrink", shrink)
    ((_, _, path),) = campaign.run(5, lambda _: None).failures
    assert path.exists()


def test_a_folder_without_an_engine_is_refused(tmp_path):
    command = [sys.executable, "-m", "xoff", "torture", "--against", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "contains no built engine" in done.stderr
    assert "Traceback" not in done.stderr
