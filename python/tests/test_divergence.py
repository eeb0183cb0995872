"""The first difference of two runs, by the public command and the built engine."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.real_engine

SCENARIO = """\
name = "small"
scheme = "bfc"
[leaf_spine]
leaves = 2
spines = 2
hosts_per_leaf = 4
[run]
warmup = "0us"
measure = "50us"
[[traffic]]
kind = "open-loop"
load = 0.5
[[traffic]]
kind = "incast"
degree = 4
bytes = "40KB"
start = "20us"
period = "100us"
"""


@pytest.fixture
def diverge(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(SCENARIO)

    def call(*arguments):
        command = [sys.executable, "-m", "xoff", "diverge", str(file), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout, done.stderr

    return call


def test_cuts_and_threads_agree(diverge):
    code, out, _ = diverge("--other-set", "run.partitions=2", "--other-threads", "2")
    assert (code, out.strip()) == (
        0,
        "the runs agree: every node has the same events at the same times",
    )


def test_the_first_packet_that_differs_is_shown_with_its_context(diverge):
    code, out, _ = diverge("--other-set", "traffic.1.bytes=41KB")
    assert code == 1
    # The incast begins at 20 us, in the third step of 10 us.
    assert "in step 2, between 20.000000 and 30.000000 us" in out
    marked = [line for line in out.splitlines() if line.startswith(">")]
    assert marked
    assert all(" Data " in line for line in marked)
    assert "leaf:" in out


def test_another_seed_differs_from_its_first_packet_on(diverge):
    code, out, _ = diverge("--other-set", "seed=2")
    assert code == 1
    assert "nodes that differ" in out


def test_a_run_without_packets_cannot_be_compared(diverge, tmp_path):
    file = tmp_path / "fluid.toml"
    file.write_text(
        'engine = "fluid"\n[[traffic]]\nkind = "open-loop"\nload = 0.5\nload_on = "hosts"\n'
    )
    code, _, err = diverge(str(file))
    assert code == 2
    assert "no packets" in err
