"""The experiments and claims of papers that come with xoff."""

from pathlib import Path

import pytest

from xoff import _native, computed, engine
from xoff.claims import load_claims
from xoff.experiment import SCALES, load_experiment
from xoff.papers import experiments

PAPERS = Path(__file__).parents[2] / "papers"
NAMES = experiments(PAPERS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.skipif(
    not getattr(_native, "__file__", "").endswith((".so", ".pyd")), reason="the engine is not built"
)
@pytest.mark.real_engine
def test_every_run_of_an_experiment_is_a_valid_scenario(name, scale):
    for point in load_experiment(PAPERS / name, name, scale).points:
        if point.compute:
            computed.arguments(point)
            continue
        engine.check(point.scenario.read_text(), str(point.scenario), point.overrides)


@pytest.mark.parametrize("paper", sorted({name.split("/")[0] for name in NAMES}))
def test_claims_name_cases_that_their_experiments_have(paper):
    for claim in load_claims(PAPERS / paper / "claims.toml"):
        for name in claim.experiments:
            folder = PAPERS / paper / name
            labels = [p.label for p in load_experiment(folder, name, "paper").points]
            missing = []
            for check in claim.about(name):
                check.expand(list(dict.fromkeys(labels)), missing)
            assert claim.needs or not missing, f"{claim.id} in {name}"
