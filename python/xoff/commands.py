"""The subcommands. Each imports heavy modules only when it runs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff import api, engine
from xoff.cores import cores
from xoff.errors import UsageError, writing
from xoff.progress import JsonProgress, Line, RunProgress
from xoff.terminal import complain, say
from xoff.text import table

if TYPE_CHECKING:
    from xoff.reproduce_paper import Keeping
    from xoff.result import Result

MEMORY_OF_A_WORLD = 4 << 30


def run(args: argparse.Namespace) -> int:
    """`xoff run`: simulate, write the run directory, print the summary."""
    out = args.out or _default_out(Path(args.file))
    line = Line(quiet=args.quiet)
    report = JsonProgress() if args.progress_json else RunProgress(line)
    command = ["xoff", *sys.argv[1:]]
    # The note on the number of threads is only for users who set --threads.
    note = _note_on(line) if args.threads else None
    try:
        with _live_view(args, out, line) as watcher:
            result = api.run(
                Path(args.file),
                out,
                _settings(args),
                report,
                command,
                threads=args.threads,
                note=note,
                max_memory=args.max_memory,
                watcher=watcher,
            )
    finally:
        line.clear()
    if not args.quiet and not args.progress_json:
        from xoff import reference, summary

        say(summary.render(result), end="")
        say(reference.report(Path(args.file), result), end="")
        say(f"\nresults in {result.path}")
    return 0


def _live_view(
    args: argparse.Namespace, out: Path, line: Line
) -> AbstractContextManager[engine.Watcher | None]:
    """Return the live page of a run; nothing without `--live`."""
    if not args.live:
        if args.live_port:
            raise UsageError("--live-port requires --live")
        return nullcontext()
    from xoff.html_report.live import LiveView

    def announce(url: str) -> None:
        # Also with --quiet: without the address the page is of no use.
        line.clear()
        complain(f"live report: {url}")

    return LiveView(out, announce, args.live_port)


def _settings(args: argparse.Namespace) -> list[str]:
    """Return the overrides of a run, with the network of a connection matrix."""
    if args.topology is None:
        return list(args.set)
    if Path(args.file).suffix.lower() != ".cm":
        raise UsageError(
            f"--topology is the network of a connection matrix (.cm), and {args.file} is none: a "
            "scenario has its network in [network]"
        )
    return [f"topology={args.topology}", *args.set]


def _note_on(line: Line) -> Callable[[str], None]:
    return lambda text: line.note(f"xoff: note: {text}")


def _default_out(file: Path) -> Path:
    # An HPCC case always has a config.txt; the name of the case is that of its folder.
    stem = file.resolve().parent.name if file.name == "config.txt" else file.stem
    return Path("out") / stem


def experiment(args: argparse.Namespace) -> int:
    """`xoff experiment`: what `xoff reproduce` does, for experiments in a folder."""
    from xoff import papers

    root, name = papers.of_folder(args.folder)
    claims = root / name.split("/")[0] / "claims.toml"
    if args.check and not claims.is_file():
        raise UsageError(f"--check needs claims, and {claims} does not exist")
    args.experiment = name
    return reproduce(args, root)


def reproduce(args: argparse.Namespace, root: Path | None = None) -> int:
    """`xoff reproduce`: run experiments, draw them, check their claims."""
    from xoff import catalogue, reproduce_report
    from xoff.reproduce import Outcome
    from xoff.reproduce_paper import Keeping, reproduce_all

    if args.list:
        say(catalogue.text(args.experiment, args.scale, root), end="")
        return 0
    if args.experiment is None:
        raise UsageError("name a paper or PAPER/EXPERIMENT; `xoff reproduce --list` lists them")
    keeping = Keeping(args.results, args.resume, args.page)
    checked = args.check or args.budget is not None or keeping != Keeping()
    options: dict[str, Any] = {
        "scale": args.scale,
        "out": args.out,
        "root": root,
        "check": checked or args.json,
        "slots": args.jobs,
        "max_memory": args.max_memory,
        "settings": tuple(args.set),
        "chosen": _chosen(args.reading),
        "seeds": args.seeds,
        "budget_s": 60.0 * (args.budget or 0.0),
    }
    if args.sensitivity:
        return _sensitivity(args, options, keeping)

    def show(outcome: Outcome) -> None:
        if args.json:
            return
        say(reproduce_report.table_text(outcome.experiment, outcome.results), end="")
        if checked:
            say("\n" + reproduce_report.claims_text(outcome), end="")
        say(f"\nfigure: {outcome.out / 'figure.svg'}\n        {outcome.out / 'figure.png'}")
        say(f"table:  {outcome.out / 'table.md'}", flush=True)

    outcomes = reproduce_all(args.experiment, show, Line(), keeping, **options)
    if args.json:
        found = [reproduce_report.as_json(outcome) for outcome in outcomes]
        one = found[0] if "/" in args.experiment.strip("/") else found
        say(json.dumps(one, indent=2, allow_nan=False))
    return 0


def _chosen(given: Iterable[str]) -> dict[str, str]:
    """Parse `READING=CANDIDATE`."""
    for one in given:
        if "=" not in one:
            raise UsageError(f"--reading {one}: expected READING=CANDIDATE")
    return {reading: value for reading, _, value in (one.partition("=") for one in given)}


def _sensitivity(args: argparse.Namespace, options: dict[str, Any], keeping: Keeping) -> int:
    from xoff import sensitivity

    if options["chosen"]:
        raise UsageError("--sensitivity tries every candidate: leave out --reading")
    show = (lambda _text: None) if args.json else (lambda text: say(text, end="", flush=True))
    trials = sensitivity.sensitivity(args.experiment, show, Line(), keeping, **options)
    if args.json:
        say(json.dumps(sensitivity.as_json(trials), indent=2, allow_nan=False))
    elif not trials:
        say("no reading changes a run of these experiments")
    return 0


def check(args: argparse.Namespace) -> int:
    """`xoff check`: print the effective scenario and its backpressure graph, or the schema."""
    if args.schema:
        say(engine.schema())
        return 0
    if args.file is None:
        raise UsageError("name a scenario file, or use --schema")
    settings = _settings(args)
    say(api.check(Path(args.file), settings, args.max_memory), end="")
    cycles = api.backpressure(Path(args.file), settings, args.any_link, args.max_memory)
    if cycles is not None:
        say("\n" + cycles, end="")
    return 0


def diverge(args: argparse.Namespace) -> int:
    """`xoff diverge`: report the first difference of two runs; exit code 1 if there is one."""
    from xoff import divergence

    text, file = api.read_scenario(Path(args.file))
    other_text, other_file = api.read_scenario(Path(args.other or args.file))
    one = divergence.Side(text, file, tuple(args.set), args.threads)
    overrides = (*args.set, *args.other_set)
    other = divergence.Side(other_text, other_file, overrides, args.other_threads)
    line = Line()

    def tick(sim_ps: int) -> None:
        if line.due():
            line.show(f"identical until {sim_ps / 1e9:.3f} ms")

    try:
        found = divergence.find(one, other, tick)
    finally:
        line.clear()
    if found is None:
        say("the runs agree: every node has the same events at the same times")
        return 0
    say(divergence.render(found, ("first run", "second run")), end="")
    return 1


def torture(args: argparse.Namespace) -> int:
    """`xoff torture`: run random scenarios; exit code 1 if any fails."""
    from xoff.torture import campaign
    from xoff.torture.pool import unpacked

    with unpacked(args.against) as other:
        limits = campaign.Limits(args.budget, MEMORY_OF_A_WORLD, other)
        found = campaign.Campaign(args.seed, limits, args.out, args.jobs or cores())
        if args.world is not None:
            say(str(found.write(args.world)))
            return 0
        line = Line()

        def tick(tally: campaign.Tally) -> None:
            if line.due():
                refused = tally.statuses["refused"]
                line.show(
                    f"{tally.worlds:,} worlds, {refused:,} refused, {len(tally.failures)} failed"
                )

        try:
            found.run(args.minutes, tick, args.first)
        finally:
            line.clear()
            say(campaign.render(found.tally, args.seed), end="", flush=True)
    return 1 if found.tally.failures else 0


def presets(args: argparse.Namespace) -> int:
    """`xoff presets`: list every preset with its description, or show the settings of one."""
    if args.name is not None:
        text = engine.preset_text(args.name)
        say(json.dumps({"preset": args.name, "toml": text}) if args.json else text.rstrip())
    elif args.json:
        for name, description in engine.presets():
            say(json.dumps({"preset": name, "description": description}))
    else:
        say(table(("preset", "description"), engine.presets(), left=2))
    return 0


def doctor(args: argparse.Namespace) -> int:
    """`xoff doctor`: what is installed; exit code 1 if something that xoff needs is missing."""
    from xoff import doctor as examining

    found = examining.examine()
    if args.json:
        for item in found:
            say(json.dumps(item._asdict()))
    else:
        say(examining.text(found))
    return 0 if all(item.is_well for item in found) else 1


def completion(args: argparse.Namespace) -> int:
    """`xoff completion`: print the completion script of a shell."""
    from argcomplete.shell_integration import shellcode

    say(shellcode(["xoff"], shell=args.shell))
    return 0


def plot(args: argparse.Namespace) -> int:
    """`xoff plot`: draw finished runs in one figure."""
    from xoff.result import load

    if args.out.name in ("", ".."):
        raise UsageError(f"--out {args.out} is a folder; give the figure's name, e.g. --out plot")
    loaded = {_label(folder, args.runs): load(folder) for folder in args.runs}
    known = dict.fromkeys(cls for run in loaded.values() for cls in run.classes)
    if args.cls not in (None, *known):
        raise UsageError(f"no run has a class {args.cls}; there are {', '.join(known)}")
    from xoff import plots

    results = _by_seed(loaded)
    stem = args.out.with_suffix("") if args.out.suffix in (".svg", ".png") else args.out
    for file in plots.save(plots.overview(results, args.cls), stem):
        say(str(file))
    return 0


def _by_seed(results: dict[str, Result]) -> dict[str, list[Result]]:
    """Join runs that differ in nothing but their seed: they are drawn as one curve, their mean."""
    from xoff.html_report.scenarios import differences

    groups: list[list[str]] = []
    for label, run in results.items():
        for group in groups:
            rows = differences([results[group[0]].effective, run.effective])
            if [row["key"] for row in rows] == ["seed"]:
                group.append(label)
                break
        else:
            groups.append([label])
    seeds = [f" ({len(group)} seeds)" if len(group) > 1 else "" for group in groups]
    return {
        group[0] + more: [results[label] for label in group]
        for group, more in zip(groups, seeds, strict=True)
    }


def report(args: argparse.Namespace) -> int:
    """`xoff report`: write finished runs as one HTML page."""
    from xoff.html_report import document, payload
    from xoff.manifest import replace_text
    from xoff.result import load

    if args.out.is_dir() or args.out.name in ("", ".."):
        raise UsageError(f"--out {args.out} is a folder; name a file, e.g. --out report.html")
    results = {_label(folder, args.runs): load(folder) for folder in args.runs}
    page = document.html(payload.of_results(results))
    with writing(args.out):
        args.out.parent.mkdir(parents=True, exist_ok=True)
        replace_text(args.out, page)
    say(str(args.out))
    return 0


def compare_reference(args: argparse.Namespace) -> int:
    """`xoff compare-reference`: print a row per case; 1 if one is not within the tolerance."""
    from xoff import compare_reference as comparing
    from xoff import fidelity_page

    reasons = fidelity_page.read_reasons(args.page) if args.page is not None else {}
    line, cases = Line(), []
    for case in comparing.run(args.folder, args.out, args.threads):
        cases.append(case)
        if args.json:
            say(json.dumps(case.figures()), flush=True)
        else:
            line.show(f"compare-reference  {len(cases)} cases done")
    line.clear()
    if args.page is not None:
        fidelity_page.write(cases, args.page, reasons)
    if not args.json:
        say(comparing.table_text(cases))
        for case in cases:
            if case.note:
                say(f"{case.name}: {case.note}")
    return 0 if all(case.within(args.tolerance) for case in cases) else 1


def _label(folder: str, among: Iterable[str]) -> str:
    """Return the run's folder name, or the whole path where two runs share the name."""
    name = Path(folder).resolve().name
    return folder if [Path(f).resolve().name for f in among].count(name) > 1 else name


def bench(args: argparse.Namespace) -> int:
    """`xoff bench`: print a table, or one line of JSON per case and number of threads."""
    from xoff import bench as benchmark

    if args.estimate and args.cases[:1] in (["alloc"], ["stress"]):
        raise UsageError("`--estimate` is for cases; `xoff bench --list` lists them")
    if args.cases == ["alloc"]:
        return _bench_alloc(args)
    if args.cases[:1] == ["stress"]:
        return _bench_stress(args)
    if args.list:
        say("\n".join(benchmark.cases(args.cases or ["*"])))
        return 0
    if not args.cases:
        raise UsageError(
            "name a case or a pattern, such as bfc-google-128 or 'bfc-*-128'; "
            "`xoff bench --list` lists the cases"
        )
    if args.estimate and max(args.threads or [cores()]) == 1:
        raise UsageError("`--estimate` needs a number of cores above 1, such as --threads 16")
    measured = benchmark.measure(
        benchmark.cases(args.cases), args.threads or [cores()], args.repeat, args.estimate
    )
    if args.json:
        for found in measured:
            say(json.dumps(found), flush=True)
    else:
        say(benchmark.table_text(measured))
    return 0


def _bench_stress(args: argparse.Namespace) -> int:
    from xoff import bench_stress

    if args.threads not in (None, [1]):
        raise UsageError("bench stress measures on one thread; leave --threads out")
    chosen = bench_stress.cases(args.cases[1:])
    if args.list:
        say("\n".join(f"{preset}-{shape}" for shape, preset in chosen))
        return 0
    measured = bench_stress.measure(chosen, args.repeat)
    if args.json:
        for row in measured:
            say(row.as_json(), flush=True)
    else:
        say(bench_stress.table_text(list(measured)))
    return 0


def _bench_alloc(args: argparse.Namespace) -> int:
    from xoff import bench_alloc

    if args.list:
        say("alloc")
        return 0
    threads = args.threads or list(range(1, cores() + 1))
    measured = bench_alloc.measure(threads, args.repeat)
    if args.json:
        for found in measured:
            say(json.dumps(found), flush=True)
    else:
        say(bench_alloc.table_text(list(measured)))
    return 0


def sweep(args: argparse.Namespace) -> int:
    """`xoff sweep`: run a grid of settings; exit code 1 if any run failed."""
    from xoff import sweep as sweeping

    if args.list or args.emit:
        return _sweep_unrun(args)
    options: dict[str, Any] = {
        "set": args.set,
        "seeds": args.seeds,
        "slots": args.jobs,
        "again": args.again,
        "x": args.x,
        "y": args.y,
        "max_memory": args.max_memory,
        "line": Line(quiet=args.json),
    }
    if args.dask is None:
        found = sweeping.sweep(args.file, args.out, **options)
    else:
        from xoff.sweep import on_dask

        with on_dask.connected(args.dask) as client:
            found = sweeping.sweep(args.file, args.out, client=client, **options)
    if args.json:
        for row in found.table.to_pylist():
            say(json.dumps(row, allow_nan=False))
    else:
        from xoff.sweep import table as rows

        say(rows.text(found.grid, found.rows), end="")
        say("\n" + "\n".join(str(file) for file in found.files))
    for title, failure in found.failures.items():
        complain(f"run `{title}` failed: {failure}")
    return 1 if found.failures else 0


def _sweep_unrun(args: argparse.Namespace) -> int:
    """List the runs, or write them as commands for a batch system."""
    from xoff import sweep as sweeping

    prepared = sweeping.prepare(Path(args.file), args.out, args.set, args.seeds, args.max_memory)
    if args.list:
        for job in prepared.planned:
            state = "finished" if job.done else "to run"
            say(f"{state:8}  {', then '.join(point.title for point in job.points)}")
        return 0
    from xoff.sweep import on_slurm

    with writing(prepared.out, UsageError):
        (prepared.out / "runs").mkdir(parents=True, exist_ok=True)
    for file in on_slurm.emit(prepared.planned, Path(args.file).resolve(), prepared.out):
        say(str(file))
    return 0
