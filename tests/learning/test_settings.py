import json

import pytest

from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.posterior import PosteriorSettings
from tacit.learning.settings import CollectionSettings, FastSettings, HomingSettings, Settings
from tacit.planning.regression import OracleSettings
from tacit.text.causal.presets import BaseModel
from tacit.text.settings import TextSettings
from tacit.text.small.climbing import FittingSettings


def test_the_papers_values_are_the_defaults():
    settings = Settings(DecoderSettings(theta=0.9, M=1.3), recipe="paper")
    assert (settings.homing.episodes, settings.homing.delta, settings.homing.bonus_scale) == (5000, 0.05, 1.0)
    assert (settings.collection.tuples, settings.posterior.method) == (5000, "neural")
    assert (settings.oracle.method, settings.oracle.learning_rate) == ("ogd", 0.05)
    assert (settings.schedule.kind, settings.schedule.scale) == ("growing", 1.0)


def test_json_round_trip():
    settings = Settings(DecoderSettings(0.8, 1.1, c=0.2, kappa=0.1), HomingSettings(7, 0.1, 0.5, 0.2))
    assert Settings.from_json(json.loads(json.dumps(settings.to_json()))) == settings


@pytest.mark.parametrize(
    ("make", "values"),
    [
        (HomingSettings, {"episodes": 0}),
        (HomingSettings, {"episodes": 2.5}),
        (HomingSettings, {"episodes": True}),
        (HomingSettings, {"delta": 0.0}),
        (HomingSettings, {"delta": 1.0}),
        (HomingSettings, {"bonus_scale": -0.1}),
        (HomingSettings, {"bonus_scale": float("inf")}),
        (HomingSettings, {"epsilon": 0.3}),
        (CollectionSettings, {"tuples": 0}),
        (CollectionSettings, {"tuples": 1.5}),
        (PosteriorSettings, {"seed": -1}),
        (PosteriorSettings, {"restarts": 2.5}),
        (PosteriorSettings, {"learning_rate": float("nan")}),
        (OracleSettings, {"width": 1.5}),
        (OracleSettings, {"learning_rate": float("inf")}),
        (OracleSettings, {"seed": "one"}),
        (OracleSettings, {"learning_rate": 1.5}),
        (OracleSettings, {"method": None}),
        (OracleSettings, {"initial": "0.5"}),
        (HomingSettings, {"epsilon": 5e-324}),
        (HomingSettings, {"bonus_scale": 10**30}),
        (HomingSettings, {"delta": 5e-324}),
        (HomingSettings, {"episodes": 10**30}),
        (DecoderSettings, {"c": 5}),
        (DecoderSettings, {"c": -3}),
        (DecoderSettings, {"c": float("nan")}),
        (DecoderSettings, {"c": 1.0000001}),
        (DecoderSettings, {"c": "0.5"}),
        (DecoderSettings, {"theta": 1.5}),
        (DecoderSettings, {"theta": 0.9, "M": 0.5}),
        (DecoderSettings, {"M": float("nan")}),
        (DecoderSettings, {"kappa": 0.0}),
        (DecoderSettings, {"kappa": 5e-324}),
        (FastSettings, {"gamma_scale": 1e300}),
        (TextSettings, {"decoder": DecoderSettings()}),
        (TextSettings, {"model": 3}),
        (FittingSettings, {"match_ridge": -1.0}),
        (FittingSettings, {"steps": 2.5}),
        (TextSettings, {"exploration": 1}),
        (BaseModel, {"name": "any", "dtype": "int4"}),
    ],
)
def test_numbers_that_make_no_sense_are_refused(make, values):
    with pytest.raises(ValueError, match="got"):
        make(**values)
