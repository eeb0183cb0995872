"""A process that checks and runs scenarios for a parent process, which survives its crashes.

It is started as a file, so that it can use the engine of another build: of that build it needs
only `xoff._native`. Requests arrive on stdin, one JSON object per line; answers go to stdout in
the same format.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import sys
import time
from typing import Any

STEP_MS = 100
SHARE = 4
"""A scenario may need this part of the process's memory, whatever earlier ones have left."""


def _check(native: Any, request: dict[str, Any]) -> dict[str, Any]:
    try:
        effective = native.check(request["text"], request["file"], [], request["most"])
    except native.ScenarioError as error:
        return {"status": "refused", "message": str(error)}
    return {"status": "accepted", "effective": effective}


def _run(native: Any, request: dict[str, Any]) -> dict[str, Any]:
    way = request["way"]
    overrides = way["overrides"]
    # Another build may not have checks.
    violated = getattr(native, "InvariantError", ())
    if not violated:
        overrides = [one for one in overrides if "check_invariants" not in one]
    scenario = (request["text"], request["file"], overrides)
    arguments = (*scenario, way["threads"], request["most"])
    # Another build may not support `delay_seed`; it is passed only if needed.
    delays = {} if way["delay_seed"] is None else {"delay_seed": way["delay_seed"]}
    try:
        run = native.open_run(*arguments, **delays)
    except native.ScenarioError as error:
        return {"status": "refused", "message": str(error)}
    rows = _Rows()
    began = time.monotonic()
    status, message = "over budget", ""
    try:
        while status != "ran" and time.monotonic() - began < request["budget_s"]:
            if not run.step(STEP_MS):
                status = "ran"
            if request["tables"]:
                rows.take(run)
    except native.RunError as error:
        status = "violates an invariant" if isinstance(error, violated) else "stuck"
        message = str(error)
    answer = {"status": status, "message": message, "wall_s": time.monotonic() - began}
    answer["hops"] = run.progress()["packet_hops"]
    if status != "over budget":
        answer["digest"] = run.digest()
    if status == "ran" and request["tables"]:
        answer["tables"] = rows.hashes()
        answer["summary"] = json.loads(run.summary())
    return answer


class _Rows:
    """Hash of each column of a run's tables, independent of how rows are batched."""

    def __init__(self) -> None:
        self._columns: dict[str, Any] = {}

    def take(self, run: Any) -> None:
        for name, batch in run.take_tables():
            self._add(name, batch)
        for name, data in run.take_files():
            self._column(name).update(data)

    def _add(self, name: str, batch: Any) -> None:
        import pyarrow as pa

        table = pa.record_batch(batch)
        for field, column in zip(table.schema, table.columns, strict=True):
            into = self._column(f"{name}.{field.name}")
            if pa.types.is_integer(field.type) or pa.types.is_floating(field.type):
                into.update(column.to_numpy(zero_copy_only=False).tobytes())
            else:
                into.update("\n".join(map(str, column.to_pylist())).encode())

    def hashes(self) -> dict[str, str]:
        return {name: into.hexdigest()[:16] for name, into in sorted(self._columns.items())}

    def _column(self, name: str) -> Any:
        return self._columns.setdefault(name, hashlib.sha256())


def main() -> int:
    """Answer requests until stdin ends."""
    # Redirect stdout, so that output of the engine is not taken for an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    from xoff import _native as native

    tasks = {"check": _check, "run": _run}
    most = None
    for line in sys.stdin:
        request = json.loads(line)
        if "memory" in request:
            resource.setrlimit(resource.RLIMIT_AS, (request["memory"], request["memory"]))
            most = f"{request['memory'] // SHARE}B"
            continue
        request["most"] = most
        try:
            answer = tasks[request["do"]](native, request)
        except BaseException as error:  # a panic of the engine is not an Exception
            if isinstance(error, KeyboardInterrupt):
                return 130
            answer = {"status": "panic", "message": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
