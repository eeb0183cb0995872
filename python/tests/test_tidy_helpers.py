"""What the checks of `test_tidy.py` find, on small examples."""

import re

import pytest
from tidy import ceilings, cycles, prose, rust, tree, variants


@pytest.fixture
def source(monkeypatch):
    """Return a function that puts files in place of the working tree."""

    def put(**files):
        named = {name.replace("__", "/") + ".rs": text for name, text in files.items()}
        monkeypatch.setattr(tree, "text", lambda path: named[path])
        monkeypatch.setattr(tree, "files", lambda *patterns: tuple(sorted(named)))
        rust.code.cache_clear()
        rust.production_code.cache_clear()

    yield put
    rust.code.cache_clear()
    rust.production_code.cache_clear()


def test_lengths_of_functions_do_not_depend_on_braces_in_strings_and_comments(source):
    source(
        a='fn one() {}\nfn two(x: [u8; 2]) -> char {\n    // }\n    "}"; r#"}"}"#;\n    \'{\'\n}\n'
    )
    assert list(rust.functions("a.rs")) == [("one", 1), ("two", 5)]


def test_documentation_is_compared_by_its_first_sentence(source):
    source(a="/// Bytes in it. More.\n#[must_use]\npub fn size() {}\n/// Private.\nfn other() {}\n")
    assert list(rust.docs("a.rs")) == [rust.Doc("Bytes in it.", "size", "a.rs")]


def test_a_use_names_all_its_leaves():
    found = set(cycles.leaves("crate::a::{self, b::{C, D as E}, f}"))
    assert found == {"crate::a", "crate::a::b::C", "crate::a::b::D", "crate::a::f"}


@pytest.mark.parametrize(
    ("port", "found"),
    [
        ("use crate::link::Link;", ["port", "link"]),
        ("use super::link;", ["port", "link"]),
        ("fn f() { crate::link::go() }", ["port", "link"]),
        ("use crate::Link;", ["port", "link"]),
        ("// use crate::link::Link;", []),
        ("#[cfg(test)]\nmod checks {\n use crate::link::Link;\n}\n", []),
        ("use crate::Other;", []),
    ],
)
def test_cycles_are_found_through_names_that_parents_export(source, port, found):
    source(
        c__src__lib="pub use link::Link;\nmod link;\nmod port;\npub struct Other;\n",
        c__src__link="use crate::port::Port;\n",
        c__src__port=port,
    )
    expected = {frozenset((name,) for name in found)} if found else set()
    assert set(cycles.Crate("c/src").cycles()) == expected


@pytest.mark.parametrize(
    ("code", "matches"),
    [
        ("matches!(hop, HopSetup::Bfc(bfc) if bfc.queues > 1)", True),
        ("match hop { HopSetup::Pfc(_) => 1, }", True),
        ("match hop { HopSetup::None | HopSetup::Pfc(_) => 1, }", True),
        ("match (hop, x) { (HopSetup::Pfc(_), _) => 1, }", True),
        ("match hop { HopSetup::Bfc(b) if b.on => 1, }", True),
        ("if let HopSetup::Bfc(bfc) = &hop {}", True),
        ("let HopSetup::Bfc(bfc) = hop else { return };", True),
        ("if kind == HopSetup::None {}", True),
        ("match kind { Kind::Bfc => HopSetup::Bfc(bfc), Kind::None => 1 }", False),
        ("let hop = HopSetup::None;", False),
        ("run(HopSetup::Bfc(bfc), 1);", False),
        ("a || f(HopSetup::None) || b", False),
    ],
)
def test_a_variant_in_a_pattern_or_a_comparison_is_a_match(code, matches):
    found = re.search(r"\bHopSetup::\w+", code)
    assert variants.is_match(code, found) == matches


def test_matches_on_the_variants_of_a_seam_are_counted(source):
    seam = "xoff_core::seam! { pub enum HopSetup: dyn HopSettings, named by HopKind { } }"
    code = "fn f() { if hop == HopKind::None {} matches!(hop, HopSetup::Bfc(_)); HopKind::Bfc }"
    source(
        **{"crates__xoff-net__src__hop": seam},
        **{"crates__xoff-scenario__src__resolve__hosts": code},
    )
    variants.seams.cache_clear()
    try:
        assert variants.seams() == {"HopSetup", "HopKind"}
        assert variants.matches() == {"resolve/hosts.rs HopKind": 1, "resolve/hosts.rs HopSetup": 1}
    finally:
        variants.seams.cache_clear()


def test_phrases_are_found_across_the_lines_of_a_comment(source, monkeypatch):
    source(
        a="/// It goes\n/// by size, and a switch stands\n    // beside it.\nfn heeds_marks() {}\n"
    )
    monkeypatch.setattr(prose, "paths", lambda: ["a.rs"])
    assert prose.counts() == {"goes? by": 1, "stands? beside": 1, "beside": 1}


def test_every_phrase_is_an_expression_with_a_replacement():
    for phrase, instead in prose.PHRASES.items():
        assert re.compile(phrase)
        assert instead


def test_counts_must_be_at_their_ceilings():
    assert ceilings.compare({"a": 2, "b": 1}, {"a": 2, "b": 1}) == []
    assert ceilings.compare({"a": 2}, {"a": 3, "b": 1}) == [
        "a: 3, but at most 2 are allowed",
        "b: 1, but at most 0 are allowed",
    ]
    assert ceilings.compare({"a": 2}, {}) == ["a: lower the ceiling from 2 to 0"]


def test_ceilings_are_lowered_and_never_raised(tmp_path, monkeypatch):
    file = tmp_path / "ceilings.toml"
    file.write_text(ceilings.written({"t": {"a": 3, 'b "c"': 2, "d": 1}, "u": {"e": 1}}))
    monkeypatch.setattr(ceilings, "FILE", file)
    monkeypatch.setenv("XOFF_LOWER_CEILINGS", "1")
    with pytest.raises(AssertionError, match="d: 5, but at most 1"):
        ceilings.hold("t", {"a": 1, "d": 5})
    monkeypatch.delenv("XOFF_LOWER_CEILINGS")
    ceilings.hold("t", {"a": 1, "d": 1})
    ceilings.hold("u", {"e": 1})
