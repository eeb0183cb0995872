import os
import sys
from pathlib import Path

import pytest

FAKE = Path(__file__).parent / "fake"
PACKAGE = Path(__file__).parent.parent
sys.path.insert(0, str(FAKE))

import fake_native  # noqa: E402

try:
    import xoff._native

    BUILT = str(xoff._native.__file__).endswith((".so", ".pyd"))
except ImportError:
    BUILT = False
    # Use the fake engine for all tests.
    sys.path.insert(0, str(PACKAGE))
    sys.modules["xoff._native"] = fake_native


def pytest_collection_modifyitems(items):
    """Skip tests of the built engine if it is not built."""
    for item in items:
        if not BUILT and item.get_closest_marker("real_engine"):
            item.add_marker(pytest.mark.skip(reason="the engine is not built"))


@pytest.fixture(autouse=True)
def fake_engine(request, monkeypatch):
    """Replace the engine by the fake one, here and in child processes.

    A test marked `real_engine` keeps the built engine.
    """
    from xoff import engine

    if request.node.get_closest_marker("real_engine"):
        yield
        return
    monkeypatch.setattr(engine, "_native", fake_native)
    forget = engine.build_id.cache_clear
    forget()
    inherited = os.environ.get("PYTHONPATH", "")
    parts = [str(FAKE), str(PACKAGE), inherited]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(part for part in parts if part))
    yield
    forget()


@pytest.fixture
def scenario(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text('name = "small"\nscheme = "bfc"\n')
    return file


@pytest.fixture
def paper(tmp_path):
    """Create a papers folder with one experiment of three schemes and some claims."""
    root = tmp_path / "papers"
    folder = root / "demo" / "fig1"
    folder.mkdir(parents=True)
    (folder / "scenario.toml").write_text('name = "fig1"\n')
    (folder / "experiment.toml").write_text(EXPERIMENT)
    (root / "demo" / "claims.toml").write_text(CLAIMS)
    return root


EXPERIMENT = """
title = "Slowdown"
source = "Fig. 1"
scenario = "scenario.toml"
[scale.quick]
set = ["run.slices=2"]
[[case]]
name = "BFC"
set = ["scheme=bfc"]
[[case]]
name = "HPCC"
set = ["scheme=hpcc"]
seeds = [1, 2]
[[case]]
name = "Sweep"
set = ["scheme=dctcp"]
sweep = { key = "run.degree", values = [10, 100, 1000], quick = [10, 100] }
[[plot]]
kind = "bars"
range = "short"
[[plot]]
kind = "curve"
cases = ["Sweep"]
x = "incast degree"
statistic = "mean"
log_x = true
"""

# Each takes as long to draw as a run of the tests.
MORE_PLOTS = """
[[plot]]
kind = "slowdown-by-size"
cases = ["BFC", "HPCC"]
[[plot]]
kind = "buffer-cdf"
[[plot]]
kind = "active-flows-cdf"
queues = 31
[[plot]]
kind = "cdf"
cdf = "active_flows"
x = "active flows"
[[plot]]
kind = "pause-share"
"""

CLAIMS = """
[[claim]]
id = "D-C1"
where = "1"
text = "the tail is 1.5 to 2.5 times better"
experiment = "fig1"
paper = "2"
metric = "ratio"
cases = ["HPCC", "BFC"]
range = "short"
low = 1.5
high = 2.5
[[claim]]
id = "D-C2"
where = "1"
text = "long flows"
experiment = ["fig1", "fig2"]
metric = "ratio"
cases = ["HPCC", "BFC"]
range = "long"
high = 2.0
[[claim]]
id = "D-C3"
where = "1"
text = "no drops, and the order"
experiment = "fig1"
explanation = "fails on purpose"
[[claim.check]]
metric = "sum"
cases = ["BFC", "HPCC"]
path = "drops_packets"
high = 0
[[claim.check]]
metric = "order"
cases = ["HPCC", "BFC"]
statistic = "mean"
[[claim]]
id = "D-C4"
where = "2"
text = "ExpressPass is worst"
needs = ["ExpressPass"]
[[claim]]
id = "D-C5"
where = "2"
text = "Homa is best"
experiment = "fig1"
metric = "lowest"
cases = ["Homa", "BFC"]
[[claim]]
id = "D-C6"
where = "2"
text = "in every bin"
experiment = "fig1"
metric = "ratio"
cases = ["HPCC", "BFC"]
range = "bins"
statistic = "mean"
low = 1
[[claim]]
id = "D-C7"
where = "2"
text = "monotone along the sweep"
experiment = "fig1"
metric = "order"
cases = ["Sweep@*"]
statistic = "mean"
[[claim]]
id = "D-C8"
where = "2"
text = "active flows stay below the queues"
experiment = "fig1"
metric = "value"
cases = ["BFC"]
cdf = "active_flows"
at = 31
low = 0.9
[[claim]]
id = "D-C9"
where = "2"
text = "elsewhere"
experiment = "fig2"
metric = "value"
cases = ["BFC"]
path = "monitors.long.utilisation"
low = 0.3
"""
