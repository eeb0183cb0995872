"""Closed forms of papers, as functions with which claims and tests compare runs.

Each paper has a module. `FORMULAS` maps names in claims to functions: `sfc.t_f` is `t_f` of
`xoff.theory.sfc`.
"""

from __future__ import annotations

from collections.abc import Callable

from xoff.theory import bfc, capfc, detail, flowtune, sfc

Formula = Callable[..., float]

FORMULAS: dict[str, Formula] = {
    f"{paper.__name__.rpartition('.')[2]}.{name}": getattr(paper, name)
    for paper in (bfc, capfc, detail, flowtune, sfc)
    for name in paper.__all__
}
"""Every formula by its name in claims."""
