"""Location of the papers' experiments, in a checkout or in the installed package."""

from __future__ import annotations

from pathlib import Path

from xoff.errors import UsageError
from xoff.text import suggestion

FILE = "experiment.toml"


def papers_dir() -> Path:
    """Return the folder `papers`. Raises `UsageError` if it is missing."""
    package = Path(__file__).resolve().parent
    # In a checkout `_papers` is a link to `papers`; in a wheel it is a folder of files.
    for candidate in (package / "_papers", package.parent.parent / "papers"):
        if candidate.is_dir():
            return candidate
    raise UsageError(
        f"cannot find the folder `papers` (looked in {package / '_papers'} and "
        f"{package.parent.parent / 'papers'}); reinstall xoff or run from a checkout"
    )


def experiments(root: Path | None = None) -> list[str]:
    """List every experiment as `paper/experiment`, sorted."""
    root = root or papers_dir()
    files = root.glob(f"*/*/{FILE}")
    return sorted(f"{file.parent.parent.name}/{file.parent.name}" for file in files)


def find_experiment(name: str, root: Path | None = None) -> Path:
    """Return the folder of experiment `paper/experiment`.

    Raises `UsageError` with a suggestion if there is no such experiment.
    """
    root, name = root or papers_dir(), name.strip("/")
    if "/" in name and (root / name / FILE).is_file():
        return root / name
    if Path(name).is_dir():
        raise UsageError(
            f"{name} is a folder: `xoff experiment {name}` runs experiments of your own"
        )
    known = experiments(root)
    papers = ", ".join(dict.fromkeys(one.split("/")[0] for one in known)) or "none"
    raise UsageError(
        f"unknown experiment `{name}`{suggestion(name, known)}; papers: {papers}; "
        "`xoff reproduce --list` lists all experiments"
    )


def find_experiments(name: str, root: Path | None = None) -> list[str]:
    """List the experiments of `paper`, or just `paper/experiment`.

    Raises `UsageError` with a suggestion if there is none.
    """
    root, name = root or papers_dir(), name.strip("/")
    files = root.joinpath(name).glob(f"*/{FILE}") if name and "/" not in name else []
    if of_paper := sorted(f"{name}/{file.parent.name}" for file in files):
        return of_paper
    find_experiment(name, root)
    return [name]


def of_folder(folder: Path) -> tuple[Path, str]:
    """Return (root, name) of a folder outside the papers: an experiment, or a folder of several.

    Raises `UsageError` if it is neither.
    """
    folder = (folder.parent if folder.name == FILE else folder).resolve()
    if (folder / FILE).is_file():
        return folder.parent.parent, f"{folder.parent.name}/{folder.name}"
    if any(folder.glob(f"*/{FILE}")):
        return folder.parent, folder.name
    raise UsageError(f"{folder} has no {FILE}, and none of its folders has one")
