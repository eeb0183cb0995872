"""Words and phrases that plain English does without, with what to write instead."""

import re
from collections import Counter

from tidy import tree

# The phrase as a regular expression over text in lower case; what to write instead.
PHRASES = {
    "heeds?": "obeys, reacts to; with a negation: ignores",
    "of whose": "two sentences",
    "of which": "two sentences",
    "that which": "the noun",
    "(those|one) that": "the noun",
    "whether of": "two sentences",
    "stands? beside": "is combined with, is next to",
    "beside": "next to, in addition to, with",
    "somebody": "the user, the sender, ...: say who",
    "nobody": "no user, no sender, ...: say who",
    "goes? by": "uses, follows",
    "as it were": "nothing",
    "(may be|is) said": "say where it is declared or checked",
    "told": "given, reported",
    "so many [a-z]+": "a number, or n with its unit",
    "so (long|much)": "a duration, an amount",
    "for what": "the noun",
    "for ever": "forever, without limit",
    "but for": "except",
    "comes? of": "results from",
    "brings? ([a-z]+ ){0,3}along": "carries, keeps",
    "knows no": "has no, does not support",
    "anew": "again",
    "lest": "so that ... not",
    "upon": "on",
}
MARKERS = re.compile(r"^[ \t]*(///|//!|//|#!?|\*|>)[ \t]?", re.M)


def paths() -> list[str]:
    """Return the files whose prose is checked: no words of papers, and no generated pages."""
    written = tree.files("*.rs", "*.py", "*.md", "crates/*.toml", "scenarios/*.toml", "Makefile")
    of_settings = ("docs/settings.md", "python/xoff/declared_settings.py")
    quoting = ("papers/", "docs/reproduction/", *of_settings, "python/tests/tidy/prose.py")
    return [path for path in written if not path.startswith(quoting)]


def counts() -> dict[str, int]:
    """Return how often each phrase occurs, also across the lines of a comment."""
    found: Counter[str] = Counter()
    for path in paths():
        if (tree.ROOT / path).is_symlink():
            continue
        text = re.sub(r"\s+", " ", MARKERS.sub("", tree.text(path))).lower()
        for phrase in PHRASES:
            found[phrase] += len(re.findall(rf"\b(?:{phrase})\b", text))
    return {phrase: count for phrase, count in found.items() if count}
