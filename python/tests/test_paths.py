"""A misspelt path of the summary or class is an error before anything runs."""

import json

import pytest

from xoff import _native
from xoff.errors import UsageError
from xoff.jobs import Kind
from xoff.paths import SUMMARIES, Named, refuse_unknown

PACKETS = [Kind(classes=("background",))]


def named(path=None, cdf=None, cls=None):
    return [Named("here", path, cdf, cls)]


@pytest.mark.parametrize(
    "path",
    [
        "drops_packets",
        "buffer.p99_bytes",
        "bfc.sharing_flows.mean",
        "classes.0.bins.3.p99",
        "classes.background.all.p99",
        "pfc.pause_time_share_by_link.leaf-spine",
        "link_delays.spine-leaf scheduled.p99_ps",
        "monitors.long.utilisation",
        "fairness.score",
        "flows.slowdown.p99",
        "queries.background.all.p99_us",
        "senders.jain",
    ],
)
def test_what_runs_have_is_accepted(path):
    refuse_unknown(named(path), PACKETS)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("bufer.p99_bytes", "the summary has no key `bufer` (did you mean `buffer`?)"),
        ("pipeline.resumes", "`pipeline` of the summary has no key `resumes`"),
        ("classes.background.al.p99", "`classes.background` of the summary has no key `al`"),
        ("drops_packets.mean", "`drops_packets` of the summary has no keys"),
        ("buffer", "`buffer` of the summary is not a number"),
        ("digest", "`digest` of the summary is not a number"),
        ("buffer.cdf", "`buffer.cdf` of the summary is not a number"),
        ("queries.qurey.all.p99_us", "no run has a class `qurey`; there are background"),
        ("classes.bakground.all.p99", "class `bakground` (did you mean `background`?)"),
    ],
)
def test_a_path_that_no_run_has_is_refused_at_its_place(path, message):
    with pytest.raises(UsageError, match=r"^here: ") as caught:
        refuse_unknown(named(path), PACKETS)
    assert message in str(caught.value)


def test_distributions_and_classes_are_checked_too():
    refuse_unknown(named(cdf="bfc.sharing_flows", cls="background"), PACKETS)
    refuse_unknown(named(cdf="samples.bytes"), PACKETS)
    refuse_unknown(named(cdf="queries.background.priority3"), PACKETS)
    with pytest.raises(UsageError, match="no run has a class `query`"):
        refuse_unknown(named(cdf="queries.query.priority3"), PACKETS)
    with pytest.raises(UsageError, match="`frame` of the summary is not a distribution"):
        refuse_unknown(named(cdf="frame"), PACKETS)
    with pytest.raises(UsageError, match="no run has a class `incast`; there are a, b"):
        refuse_unknown(named(cls="incast"), [Kind(classes=("a",)), Kind(classes=("b",))])


def test_each_engine_has_numbers_of_its_own():
    refuse_unknown(named("optimum.share.mean"), [Kind("fluid")])
    refuse_unknown(named("iterations.p50"), [Kind("convergence")])
    refuse_unknown(named("iterations.p50"), [Kind(), Kind("convergence")])
    with pytest.raises(UsageError, match="the summary has no key `iterations`"):
        refuse_unknown(named("iterations.p50"), [Kind("fluid")])


def test_only_runs_of_packets_have_results_by_class():
    text = '[[traffic]]\nclass = "background"\n'
    assert Kind.of(text) == Kind(None, ("background",))
    assert Kind.of(f'engine = "fluid"\n{text}') == Kind("fluid")


def test_every_engine_has_a_declared_summary():
    engines = json.loads(_native.schema())["properties"]["engine"]["enum"]
    assert set(engines) == {engine or "packets" for engine in SUMMARIES}
