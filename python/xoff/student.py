"""Quantiles of Student's t distribution."""

from __future__ import annotations

# Two-sided 95 % quantiles for 1, 2, ... degrees of freedom.
_T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
)
NORMAL = 1.960


def student_t(freedom: int) -> float:
    """Return the two-sided 95 % quantile of Student's t with `freedom` degrees of freedom.

    Beyond the table it is a series in 1/`freedom` (Abramowitz and Stegun, 26.7.5), which errs by
    less than 0.0005.
    """
    if freedom <= len(_T):
        return _T[freedom - 1]
    z = NORMAL
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
