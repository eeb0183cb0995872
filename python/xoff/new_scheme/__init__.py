"""`xoff new-scheme`: a crate with a congestion control of one's own, outside xoff's sources."""

from __future__ import annotations

import re
from pathlib import Path

from xoff import engine
from xoff.errors import UsageError

TEMPLATE = Path(__file__).parent / "template"
RUST = "1.89"
# The crates that the template depends on, by its placeholder.
_CRATES = {
    "CORE": "xoff-core",
    "HOST": "xoff-host",
    "PYTHON": "xoff-python",
    "RUN": "xoff-run",
    "SIM": "xoff-sim",
}
# What a crate needs beyond its version.
_MORE = {"PYTHON": ', features = ["extension-module"], optional = true'}
# Names that Rust or Cargo refuses for a crate.
_RESERVED = (
    "abstract as async await become box break const continue core crate do dyn else enum extern "
    "false final fn for if impl in let loop macro match mod move mut override priv proc_macro pub "
    "ref return self static std struct super test trait true try type typeof unsafe unsized use "
    "virtual where while yield"
)


def write(name: str, folder: Path, crates: Path | None) -> list[Path]:
    """Write the crate of scheme `name` into `folder`; return its files.

    The crate depends on the crates of xoff in the folder `crates`, or on published ones. Raises
    `UsageError` if the name cannot be used, the folder exists, or `crates` has no such crates.
    """
    _check(name)
    if folder.exists():
        raise UsageError(f"{folder} exists; choose another folder with --out")
    words = {
        "NAME": name,
        "TYPE": "".join(part.capitalize() for part in name.split("_")),
        "RUST": RUST,
        "VERSION": engine.version(),
        **{key: _dependency(key, crates) for key in _CRATES},
    }
    written = []
    for source in sorted(file for file in TEMPLATE.rglob("*") if file.is_file()):
        target = folder / source.relative_to(TEMPLATE)
        if target.name == "gitignore":
            target = target.with_name(".gitignore")
        target.parent.mkdir(parents=True, exist_ok=True)
        text = source.read_text(encoding="utf-8")
        text = re.sub(r"@([A-Z]+)@", lambda found: words[found[1]], text)
        target.write_text(text, encoding="utf-8")
        written.append(target)
    return written


def crates_of_checkout() -> Path | None:
    """Return the crates of the checkout that this package is run from; None if it is installed."""
    crates = Path(__file__).resolve().parents[3] / "crates"
    return crates if (crates / "xoff-host" / "Cargo.toml").is_file() else None


def _check(name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        meant = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        hint = f", e.g. {meant}" if re.match(r"[a-z]", meant) else ""
        raise UsageError(
            f"`{name}` cannot name a scheme: use lower-case letters, digits and single "
            f"underscores, and begin with a letter{hint}"
        )
    if name in _RESERVED.split() or name.startswith("xoff"):
        raise UsageError(f"`{name}` cannot name a crate; choose another name")
    controls = engine.top_level()["transport"]["properties"]["congestion"]["enum"]
    taken = {preset for preset, _ in engine.presets()}.union(engine.top_level(), controls)
    if name in taken:
        raise UsageError(
            f"there is a scheme, a congestion control or a section `{name}` already; "
            "choose another name"
        )


def _dependency(key: str, crates: Path | None) -> str:
    crate, more = _CRATES[key], _MORE.get(key, "")
    if crates is None:
        return f'{{ version = "{engine.version()}"{more} }}'
    path = crates.resolve() / crate
    if not (path / "Cargo.toml").is_file():
        raise UsageError(f"{crates} has no crate {crate}: name the folder `crates` of a checkout")
    quoted = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'{{ path = "{quoted}"{more} }}'
