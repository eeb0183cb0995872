"""Matches on the variants of another part's settings.

A scenario is resolved part by part, and a part's settings are an enum. Where another file asks
which variant it has, each new variant must be found and judged there. The part should answer
instead: a method such as `HopSetup::sends_frames`, next to the enum. So each enum has one file
under `crates/xoff-scenario/src/resolve` that may match on it, where its settings are read. Matches
elsewhere are counted, and their counts may only fall. To lower one, give the enum a method that
answers the question, and call it.
"""

import re
from collections import Counter

from tidy import rust, tree

RESOLVE = "crates/xoff-scenario/src/"
# The file that reads each enum's settings.
HOMES = {
    "ArchitectureKind": "resolve/switch.rs",
    "BufferKind": "resolve/switch.rs",
    "Congestion": "resolve/hosts.rs",
    "ControlConfig": "resolve/hosts.rs",
    "DrivenConfig": "resolve/driven.rs",
    "HopKind": "resolve/switch.rs",
    "HopSetup": "resolve/switch.rs",
    "Recovery": "resolve/hosts.rs",
    "SchedulerKind": "resolve/scheduler.rs",
    "Scheduling": "resolve/scheduler.rs",
    "TopologyKind": "resolve/network.rs",
    "TransportKind": "resolve/driven.rs",
}
VARIANT = re.compile(rf"\b({'|'.join(HOMES)})::[A-Z]\w*")
AFTER_PATTERN = re.compile(r"\s*(=>|if\b|=(?![=>]))")


def is_match(code: str, found: re.Match[str]) -> bool:
    """Return whether a variant is compared with or matched on, rather than made."""
    if re.search(r"[=!]=\s*$", code[: found.start()]):
        return True
    at = found.end()
    if code[at : at + 1] and code[at] in "({":
        at = rust.closing(code, at)
    opened = rust.opening(code, found.start())
    if code[:opened].endswith("matches!"):
        return "," in code[opened : found.start()]
    # In a pattern of alternatives or of a tuple, what follows the whole pattern decides.
    while re.match(r"\s*\|(?!\|)", code[at:]):
        other = re.compile(r"\s*\|\s*[\w:]+\s*").match(code, at)
        if other is None:
            break
        at = other.end()
        if code[at : at + 1] in {"(", "{"}:
            at = rust.closing(code, at)
    if AFTER_PATTERN.match(code, at):
        return True
    if opened >= 0 and code[opened] == "(":
        return AFTER_PATTERN.match(code, rust.closing(code, opened)) is not None
    return False


def counts() -> dict[str, int]:
    """Return the matches of each file on each enum that has its home elsewhere."""
    found: Counter[str] = Counter()
    for path in tree.files(f"{RESOLVE}resolve.rs", f"{RESOLVE}resolve/*.rs"):
        code = rust.production_code(path)
        name = path.removeprefix(RESOLVE)
        for variant in VARIANT.finditer(code):
            if HOMES[variant[1]] != name and is_match(code, variant):
                found[f"{name} {variant[1]}"] += 1
    return dict(found)
