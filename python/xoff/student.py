"""Quantiles of Student's t distribution."""

from __future__ import annotations

# Two-sided 95 % quantiles for 1, 2, ... degrees of freedom.
_T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
)
NORMAL = 1.960


def student_t(freedom: int) -> float:
    """Return the two-sided 95 % quantile of Student's t with `freedom` degrees of freedom."""
    return _T[freedom - 1] if freedom <= len(_T) else NORMAL
