"""The traces in scenarios/models are what make.py says, and make.py what the papers say."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

import xoff

MODELS = Path(__file__).parents[2] / "scenarios" / "models"


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    """Return the names of make.py."""
    return runpy.run_path(str(MODELS / "make.py"))


def test_the_files_are_what_make_says(made: dict[str, Any]) -> None:
    files = dict(made["files"]())
    assert files == {path.name: path.read_bytes() for path in MODELS.glob("*.et")}


def test_resnet50_has_the_published_number_of_parameters(made: dict[str, Any]) -> None:
    layers = list(made["_resnet50"]())
    assert sum(parameters for _, parameters, _ in layers) == 25_557_032
    # torchvision documents 4.09 G multiply-adds for an image of 224 x 224.
    assert sum(macs for _, _, macs in layers) == pytest.approx(4.09e9, rel=0.01)


@pytest.mark.real_engine
@pytest.mark.parametrize(
    ("model", "collectives"),
    [
        ("resnet50", '"5 all-reduce"'),
        ("llama-1b", '"32 all-gather, 16 reduce-scatter"'),
        ("mixtral", '"64 all-to-all"'),
    ],
)
def test_each_has_its_collective_operations(model: str, collectives: str) -> None:
    effective = xoff.check(MODELS / f"{model}.toml")
    assert f"collectives_by_kind = {collectives}" in effective
    assert "ranks = 8\n" in effective


@pytest.mark.real_engine
def test_gradients_hide_behind_the_backward_pass() -> None:
    result = xoff.run(MODELS / "resnet50.toml", progress=False)
    [row] = result.rounds.to_pylist()
    time_ms = row["end_ps"] * 1e-9
    # 3 x 2 x 4.09 G operations for each of 256 images, at 40 % of 312 TFLOP/s.
    computing_ms = 3 * 2 * 4.09 * 256 / (0.4 * 312)
    # The last bucket, of some 5 MB or less, begins when all gradients are there.
    assert computing_ms < time_ms < computing_ms * 1.05
