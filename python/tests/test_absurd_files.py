"""Files that name absurd counts are refused, and need no more memory than their size suggests."""

import struct
import subprocess
import sys

import pytest

pytestmark = pytest.mark.real_engine

HEAD = """\
scheme = "dctcp"
[run]
warmup = "0us"
measure = "1ms"
"""
STAR = HEAD + '[network]\ntopology = "star"\n[star]\nhosts = 8\n'
OWN = HEAD + '[network]\ntopology = "graph"\n[[traffic]]\nkind = "open-loop"\n'

ENTITIES = "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
NAMES = ",".join(f'"{{0}}{n}"' for n in range(5000))  # of hosts or switches

# The kind of file, its name, its contents, and what the error says.
FILES = [
    ("goal", "x.goal", b"num_ranks 4294967295\nrank 0 {\n}\n", "x.goal:1: num_ranks 4294967295"),
    ("goal", "x.bin", struct.pack("<QIBB", 4223, 2**32 - 1, 1, 1), "x.bin: 4294967295 ranks"),
    (
        "goal",
        "x.bin",
        struct.pack("<QIBBQQII", 4223, 1, 1, 1, 22, 2**63, 2**32 - 1, 2**32 - 1),
        "x.bin: rank 0 has the place 22 to 9223372036854775808",
    ),
    ("chakra", "x.0.et", b"\xff" * 8 + b"\x7f", "x.0.et: the message at byte 0"),
    ("chakra", "x.0.et", b"\x07\x0a\x050.0.4\xff\xff\xff\xff\x0f", "x.0.et: the message at byte 8"),
    ("list", "x.csv", b"src,dst,size_bytes,start_ps\n4294967295,1,9,0\n", "x.csv, line 2: host"),
    (
        "list",
        "x.csv",
        b"src,dst,size_bytes,start_ps\n0,1," + b"9" * 10**6 + b",0\n",
        "x.csv, line 2: size_bytes",
    ),
    ("graph", "x.edges", b"0 4294967295\n", "x.edges:1: "),
    ("graph", "x.edges", b"a b\n" * 1000 + b"\xff\xfe\n", "x.edges: it is not text in UTF-8"),
    (
        "graph",
        "x.graphml",
        f'<!DOCTYPE l [<!ENTITY a "{"a" * 10}">{ENTITIES}]><graphml>&j;</graphml>'.encode(),
        "x.graphml:1: XML with DTD",
    ),
    ("graph", "x.graphml", b"<graphml>" * 200_000, "x.graphml:1: "),
    ("graph", "x.toml", b"hosts = " + b"[" * 100_000, "x.toml:1: "),
    (
        "graph",
        "x.toml",
        b'hosts = ["a"]\nswitches = ["s"]\nlinks = [{ ends = ["a", "s"], count = 4000000000 }]',
        "x.toml:3: count",
    ),
    (
        "graph",
        "x.toml",
        f"hosts = [{NAMES.format('h')}]\nswitches = [{NAMES.format('s')}]\n"
        f"links = [{{ ends = [[{NAMES.format('h')}], [{NAMES.format('s')}]] }}]\n".encode(),
        "x.toml:3: these are 25000000 links so far",
    ),
]


# A process starts with the peak of its parent, which is large in a run of many tests. So a small
# process starts the command, and prints its exit code and its peak in KiB.
WATCH = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""


def check(scenario):
    """Run `xoff check`; return its exit code, its errors, and the memory it needed (bytes)."""
    command = [sys.executable, "-m", "xoff", "check", scenario.name]
    done = subprocess.run(
        [sys.executable, "-S", "-c", WATCH, *command],
        cwd=scenario.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    code, peak_kib = map(int, done.stdout.split())
    return code, done.stderr, peak_kib * 1024


@pytest.mark.parametrize(("kind", "name", "contents", "said"), FILES)
def test_absurd_counts_are_refused(kind, name, contents, said, tmp_path):
    scenario, file = tmp_path / "scenario.toml", tmp_path / name
    file.write_bytes(contents)
    given = name.removesuffix(".0.et")
    if kind == "graph":
        scenario.write_text(f'{OWN}[graph]\nfile = "{given}"\n')
    else:
        scenario.write_text(f'{STAR}[[traffic]]\nkind = "{kind}"\nfile = "{given}"\n')
    code, errors, memory = check(scenario)
    assert code == 2
    assert said in errors
    assert len(errors) < 2000
    assert memory < 200e6 + 40 * len(contents)
