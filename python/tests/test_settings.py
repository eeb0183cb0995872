"""Every key in the effective scenario of every preset has an effect."""

import os
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatch

import pytest
import sweep
from sweep import Verdicts

from xoff import _native

pytestmark = pytest.mark.real_engine

LOSSES = "acts on losses, and these runs have none"
FULL = "acts only on a full buffer of 12 MB or more; buffer.size has an effect"
LIMIT = "flow control keeps queues below this limit"
# Settings without effect in the short runs, presets (patterns), and the reason.
EXEMPT = [
    ("run.partitions", "*", "results do not depend on it"),
    ("run.check_invariants = True", "*", "ends runs that violate one, and none does"),
    ("run.watchdog", "hpcc-pfc*", "ends stuck runs, and these never get stuck"),
    ("buffer.kind = unlimited", "*", FULL),
    ("buffer.kind = shared", "expresspass homa*", FULL),
    ("buffer.kind = dedicated", "homa*", FULL),
    ("switch.hop = pfc", "irn onramp", FULL),
    ("switch.elide = *", "bfc* dctcp* hpcc* pfc* powertcp", "needs pauses on a path that bounces"),
    ("transport.recovery = perfect", "ideal-fq dctcp-ss sfc sfc-p *-dcqcn", LOSSES),
    ("transport.recovery = *", "ideal-fq", "where links lose packets, only some allow its timeout"),
    ("traffic.long.priority", "ideal-srf homa* pfabric", "the longest flow is last anyway"),
    ("cubic.fast_convergence = False", "sfqcodel", "losses do not follow each other closely"),
    ("crossbar.classes", "detail-baseline detail-fc", "traffic cannot have priorities there"),
    ("crossbar.iterations", "detail-*", "a fast crossbar has little contention"),
    ("pause.scope = class", "detail-fc", "the only class is the port"),
    ("pause.scope = *", "detail-baseline", "an egress that drops keeps ingress queues short"),
    ("pause.scope = port", "detail-priority", "an egress that drops keeps ingress queues short"),
    ("tcp.rto_floor = *", "pfc-w* capfc-max-shared", "round trips vary by more than min_rto"),
    ("pipeline.ingress_size", "capfc-* pfc-wstop", LIMIT),
    ("pipeline.all_*", "*-shared", LIMIT),
    ("switch.departure = end", "xcp", "no queue is full, nothing is marked"),
    ("tcp.halved = pipe", "pfc-w* capfc-*", "few losses, down to the least window"),
    ("tcp.max_rto", "htsim-*", "no timeout of these runs is that long"),
    ("tcp.*rto*", "htsim-tcp", "timeouts are noticed every 10 ms, when these runs have ended"),
    ("tcp.*rtt*", "htsim-tcp", "acts on timeouts"),
    ("tcp.newreno = rfc6582", "htsim-tcp", "losses do not follow each other closely"),
    ("tcp.window_validation = *", "ns3-*", "windows are used from the start"),
    ("tcp.reduction = prr", "detail", "nothing is lost or marked"),
    ("transport.window = bdp", "ns2-xcp", "XCP's windows stay below it"),
    ("xcp.beta", "ns2-xcp", "no queue lasts for an interval"),
    ("ns3_cubic.*", "ns3-cubic", "acts at longer round trips, and over seconds"),
    ("tcp.increase = per-ack-exact", "ns3-newreno", "differs by fractions of a byte"),
    ("run.watchdog", "htsim-dctcp htsim-ndp htsim-eqds", "ends stuck runs, and these do not"),
    ("trim.*", "htsim-ndp htsim-eqds", "few headers wait"),
]


def exempt(found: str, preset: str) -> bool:
    return any(
        fnmatch(found, setting) and any(fnmatch(preset, one) for one in presets.split())
        for setting, presets, _ in EXEMPT
    )


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Verdicts]:
    presets = [name for name, _ in _native.presets()]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(presets, pool.map(sweep.verdicts, presets), strict=True))


def test_every_setting_does_something_or_is_refused(verdicts):
    dead = [
        f"{preset}: {found}"
        for preset, of in verdicts.items()
        for found in sorted(of.dead)
        if not exempt(found, preset)
    ]
    assert not dead, "accepted but without effect:\n" + "\n".join(dead)


def test_every_setting_has_a_value_that_some_preset_accepts(verdicts):
    """Otherwise the table of hand-chosen values (`BY_HAND`) needs an entry."""
    alive = set().union(*(of.alive for of in verdicts.values()))
    unasked = [
        f"{preset}: {name}"
        for preset, of in verdicts.items()
        for name in sorted(of.refused - alive)
        if not exempt(name, preset)
    ]
    assert not unasked, "all other values are refused:\n" + "\n".join(unasked)


def test_every_exemption_is_needed(verdicts):
    found = [(preset, one) for preset, of in verdicts.items() for one in of.dead | of.refused]
    needless = [
        f"{setting} has an effect under {one}"
        for setting, presets, _ in EXEMPT
        for one in presets.split()
        if not any(fnmatch(what, setting) and fnmatch(preset, one) for preset, what in found)
    ]
    assert not needless
    assert len(EXEMPT) <= 34


@pytest.mark.parametrize("preset", [name for name, _ in _native.presets()])
def test_what_the_effective_scenario_leaves_out_is_refused(preset):
    """Setting a key that the effective scenario does not print is an error."""
    world = next(world for world in sweep.WORLDS if world.takes(preset))
    where = sweep.place(world, preset)
    printed = sweep.check(where.text, where.required)
    left_out = [
        f"{section}.{key}={sweep.default(section, key)}"
        for section, properties in sweep.schema().items()
        for key in properties.get("properties", ())
        if key not in printed.get(section, {})
    ]
    with pytest.raises(sweep.Refused) as refused:
        sweep.check(where.text, [*where.required, *left_out])
    errors = str(refused.value).split("error: ")
    without_effect = [text for text in errors if text.startswith("setting has no effect")]
    silent = [one for one in left_out if not any(f"| {one}\n" in text for text in without_effect)]
    assert not silent
