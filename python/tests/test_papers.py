"""The experiments and claims of papers that come with xoff."""

from pathlib import Path

import pytest

from xoff import computed, engine
from xoff.claims import load_claims
from xoff.experiment import SCALES, load_experiment
from xoff.papers import experiments
from xoff.readings import apply, choose, load_readings, scheme_of

PAPERS = Path(__file__).parents[2] / "papers"
NAMES = experiments(PAPERS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.real_engine
def test_every_run_of_an_experiment_is_a_valid_scenario(name, scale):
    found = load_readings(PAPERS / name.split("/")[0] / "readings.toml")
    open_ones = [one for one in found if one.concerns(name.split("/")[1])]
    for point in apply(load_experiment(PAPERS / name, name, scale).points, open_ones):
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


@pytest.mark.parametrize("paper", sorted({name.split("/")[0] for name in NAMES}))
@pytest.mark.real_engine
def test_every_candidate_of_a_reading_has_an_effect_where_its_fingerprint_is(paper):
    for reading in load_readings(PAPERS / paper / "readings.toml"):
        assert reading.concerns(reading.experiment), reading.id
        name = f"{paper}/{reading.experiment}"
        points = [
            p
            for p in load_experiment(PAPERS / name, name, "quick").points
            if not p.compute
            and (not reading.schemes or scheme_of(p.scenario, p.overrides) in reading.schemes)
        ]
        for one in reading.candidates:
            chosen = choose([reading], {reading.id: one.value})
            longest = max(
                len(new.overrides) - len(old.overrides)
                for old, new in zip(points, apply(points, chosen), strict=True)
            )
            assert longest == len(one.overrides), f"{reading.id}: {one.value}"
