"""Cases computed in Python: compared with closed forms, and as parts of an experiment."""

import numpy as np
import pytest

from xoff import UsageError
from xoff.computed import hashing, sharing, sizes
from xoff.experiment import load_experiment
from xoff.reproduce import reproduce
from xoff.theory import bfc

# The size table of the fake engine: half of the flows up to 1 KB, the others up to 9 KB.
TABLE = [(0.0, 0.0), (1000.0, 0.5), (9000.0, 1.0)]


def test_bytes_by_size():
    assert sizes.mean(TABLE) == pytest.approx(0.5 * 500 + 0.5 * 5000)
    assert sizes.byte_share(TABLE, 1000) == pytest.approx(250 / 2750)
    assert sizes.byte_share(TABLE, 9000) == pytest.approx(1)
    # Of the upper half 1/8 lies below 2 KB, 1500 B long on average.
    assert sizes.byte_share(TABLE, 2000) == pytest.approx((250 + 0.5 / 8 * 1500) / 2750)
    assert sizes.byte_share([(0.0, 0.0), (5.0, 0.0), (5.0, 1.0)], 5) == 0


def test_sizes_are_drawn_in_proportion():
    drawn = sizes.draw(TABLE, np.array([0.0, 0.25, 0.5, 0.75, 1.0]))
    assert drawn.tolist() == [1, 500, 1000, 5000, 9000]


def test_equal_shares_by_hand():
    # The second flow arrives when the first has received half of its 2 s of service. Both need 1 s
    # more, share the link for 2 s, and finish together.
    times, counts = sharing.share([0.0, 1.0, 10.0], [2.0, 1.0, 1.0], others=0)
    assert times == [0.0, 1.0, 3.0, 3.0, 10.0]
    assert counts == [1, 2, 1, 0, 1]


def test_a_flow_that_never_ends_takes_its_share():
    times, counts = sharing.share([0.0, 5.0], [2.0, 1.0], others=1)
    assert times == [0.0, 4.0, 5.0]
    assert counts == [1, 0, 1]


def test_what_flows_get_is_what_the_link_carries():
    stream = np.random.default_rng(1)
    arrivals = np.cumsum(stream.exponential(1.0, 2000)).tolist()
    work = stream.uniform(0.1, 1.0, 2000).tolist()
    times, counts = sharing.share(arrivals, work, others=0)
    busy = sum(
        end - begin for begin, end, n in zip(times, times[1:], counts, strict=False) if n > 0
    )
    left = sum(work) - busy
    assert 0 <= left < 5  # of the flows that the end finds at the link


@pytest.mark.parametrize("load", [0.5, 0.8])
def test_the_number_of_flows_is_geometric(load):
    found = sharing.active_flows("google", load=load, flows=200_000)
    active = found.columns["active"]
    assert found.numbers["mean_active"] == pytest.approx(bfc.active_flows(load), rel=0.05)
    for flows in range(12):
        share = (active <= flows).mean()
        assert share == pytest.approx(bfc.active_flows_cdf(load, flows), abs=0.02)


def test_the_fair_share_changes_more_with_time_and_speed():
    slow, fast = (sharing.fair_share("google", link_gbps=g, flows=20_000) for g in (10, 100))
    assert (np.diff(slow.columns["change"]) > 0).all()
    assert (fast.columns["change"] > slow.columns["change"]).all()
    # The same arrivals, ten times as fast.
    assert fast.numbers["change_1us"] == pytest.approx(
        sharing.fair_share("google", link_gbps=1000 / 8, flows=20_000).numbers["change_1us"],
        rel=0.2,
    )


@pytest.mark.parametrize("queues_per_flow", [1, 10, 100])
def test_hashing_collides_as_often_as_it_should(queues_per_flow):
    found = hashing.collisions(flows=32, queues_per_flow=queues_per_flow)
    expected = bfc.collision_share(32, queues_per_flow)
    assert found.numbers["collided"] == pytest.approx(expected, rel=0.03)


EXPERIMENT = """
title = "Computed beside run"
compute = "collisions"
seeds = [1, 2]
[[case]]
name = "hashed"
set = ["trials=50"]
sweep = { key = "queues_per_flow", values = [1.0, 4.0] }
[[case]]
name = "run"
scenario = "scenario.toml"
[[plot]]
kind = "curve"
cases = ["hashed"]
path = "collided"
theory = { name = "bfc.collision_share", over = "queues_per_flow", arguments = { flows = 32 } }
[[column]]
title = "shared"
path = "collided"
"""


COLUMN = '[[column]]\ntitle = "shared"\npath = "collided"\n'


@pytest.fixture
def computed(paper):
    file = paper / "demo" / "fig1" / "experiment.toml"
    file.write_text(EXPERIMENT)
    return file


def test_computed_cases_stand_beside_runs(paper, tmp_path, computed):
    first = reproduce("demo/fig1", out=tmp_path / "out", root=paper, slots=2)
    assert set(first.results) == {"hashed@1.0", "hashed@4.0", "run"}
    assert "| hashed@1.0 | 2 | 0.6" in first.files[2].read_text()
    again = reproduce("demo/fig1", out=tmp_path / "out", root=paper, slots=2)
    assert again.runs == first.runs
    assert first.runs["hashed@1.0 seed 1"] != first.runs["hashed@1.0 seed 2"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('compute = "collisions"', 'compute = "colisions"', "did you mean `collisions`?"),
        ('compute = "collisions"', "", "give either `scenario` or `compute`"),
        ('key = "queues_per_flow"', 'key = "queues"', "has no setting `queues`"),
        ("values = [1.0, 4.0]", 'values = ["x"]', "must be a float, not 'x'"),
        (COLUMN, "", "need at least one `[[column]]`"),
        ('over = "queues_per_flow"', 'over = "queues"', "unknown over `queues`"),
        ("arguments = { flows = 32 }", "scale = 2", "`flows` is missing"),
        ('"trials=50"', '"trials=0"', "requires flows >= 2, trials >= 1"),
    ],
)
def test_mistakes_are_named(paper, tmp_path, computed, old, new, message):
    text = computed.read_text()
    assert old in text
    computed.write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError) as caught:
        reproduce("demo/fig1", out=tmp_path / "out", root=paper, slots=2)
    assert message in str(caught.value)


def test_a_file_is_beside_its_experiment(paper, tmp_path):
    folder = paper / "demo" / "fig1"
    (folder / "stated.csv").write_text("# said\nyears,capacity\n0,2\n6,20\n")
    (folder / "experiment.toml").write_text(
        'title = "Stated"\ncompute = "listed"\nset = ["file=stated.csv"]\n[[case]]\nname = "all"\n'
        '[[column]]\ntitle = "ratio"\npath = "capacity_ratio"\n'
        '[[plot]]\nkind = "columns"\nover = "years"\ncolumn = "capacity"\nmarks = [3]\n'
    )
    outcome = reproduce("demo/fig1", out=tmp_path / "out", root=paper)
    assert outcome.results["all"][0].summary["capacity_ratio"] == 10
    (folder / "stated.csv").write_text("years,capacity\n0,many\n")
    with pytest.raises(UsageError, match="expected a header and rows of numbers"):
        reproduce("demo/fig1", out=tmp_path / "out", root=paper)


def test_settings_are_read_by_their_kind(paper, computed):
    points = load_experiment(computed.parent, "demo/fig1", "quick").points
    from xoff import computed as registry

    with pytest.raises(UsageError, match="no setting"):
        registry.arguments(type(points[0])(**{**vars(points[0]), "overrides": ("trails=1",)}))
