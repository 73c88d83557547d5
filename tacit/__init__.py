"""Tacit learns what to do over several turns from how people react, with no reward ever observed.

>>> import tacit
>>> layout = tacit.Layout.regular([1, 2], n_actions=3, n_contexts=2, n_feedback=2)
>>> agent = tacit.Agent(layout, seed=1)
>>> agent.begin(context=0)
Episode(id=0, stage='fast learning', steps=0, open)

Everything at this door is imported when it is asked for, so that `import tacit` takes no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit import checks, decoder, envs, occupancy, text
    from tacit.agent import Agent
    from tacit.decoding.decoder import DecoderSettings
    from tacit.decoding.judgement import JudgementSettings
    from tacit.decoding.posterior import PosteriorSettings
    from tacit.envs.gym_layout import layout_of
    from tacit.learning.episode import Episode
    from tacit.learning.settings import CollectionSettings, FastSettings, HomingSettings, Settings
    from tacit.offline.fit import diagnose_logs as diagnose
    from tacit.offline.fit import fit
    from tacit.offline.loading import load_model
    from tacit.planning.regression import OracleSettings
    from tacit.planning.schedule import GammaSchedule
    from tacit.problem.layout import Layout
    from tacit.problem.records import Record, Text
    from tacit.problem.spaces import Finite, Label, Vectors
    from tacit.simulate import play
    from tacit.trust.anchors import Anchor
    from tacit.trust.findings import Diagnosis, Finding
    from tacit.trust.watches import DriftSettings

    __version__: str

__all__ = [
    "Agent",
    "Anchor",
    "CollectionSettings",
    "DecoderSettings",
    "Diagnosis",
    "DriftSettings",
    "Episode",
    "FastSettings",
    "Finding",
    "Finite",
    "GammaSchedule",
    "HomingSettings",
    "JudgementSettings",
    "Label",
    "Layout",
    "OracleSettings",
    "PosteriorSettings",
    "Record",
    "Settings",
    "Text",
    "Vectors",
    "__version__",
    "checks",
    "decoder",
    "diagnose",
    "envs",
    "fit",
    "layout_of",
    "load_model",
    "occupancy",
    "play",
    "text",
]

PLACES = {
    "Agent": "tacit.agent",
    "Anchor": "tacit.trust.anchors",
    "CollectionSettings": "tacit.learning.settings",
    "DecoderSettings": "tacit.decoding.decoder",
    "Diagnosis": "tacit.trust.findings",
    "DriftSettings": "tacit.trust.watches",
    "Episode": "tacit.learning.episode",
    "FastSettings": "tacit.learning.settings",
    "Finding": "tacit.trust.findings",
    "Finite": "tacit.problem.spaces",
    "GammaSchedule": "tacit.planning.schedule",
    "HomingSettings": "tacit.learning.settings",
    "JudgementSettings": "tacit.decoding.judgement",
    "Label": "tacit.problem.spaces",
    "Layout": "tacit.problem.layout",
    "OracleSettings": "tacit.planning.regression",
    "PosteriorSettings": "tacit.decoding.posterior",
    "Record": "tacit.problem.records",
    "Settings": "tacit.learning.settings",
    "Text": "tacit.problem.records",
    "Vectors": "tacit.problem.spaces",
    "fit": "tacit.offline.fit",
    "layout_of": "tacit.envs.gym_layout",
    "load_model": "tacit.offline.loading",
    "play": "tacit.simulate",
}
"""Where the names at the door live."""
ROOMS = ("checks", "decoder", "envs", "occupancy", "text")
"""Modules that users reach through the door."""


def __getattr__(name: str) -> Any:
    if name == "diagnose":  # of logs; agents diagnose themselves
        found = import_module("tacit.offline.fit").diagnose_logs
    elif name in PLACES:
        found = getattr(import_module(PLACES[name]), name)
    elif name == "__version__":
        found = import_module("importlib.metadata").version("tacit")
    elif name in ROOMS:
        found = import_module(f"tacit.{name}")
    else:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
