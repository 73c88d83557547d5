"""Tacit learns what to do over several turns from how people react, with no reward ever observed.

>>> import tacit
>>> layout = tacit.Layout.regular([1, 2], n_actions=3, n_contexts=2, n_feedback=2)
>>> agent = tacit.Agent(layout, seed=1)
>>> agent.begin(context=0)
Episode(id=0, stage='fast learning', steps=0, open)
"""

from typing import TYPE_CHECKING, Any

from tacit.agent import Agent
from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.posterior import PosteriorSettings
from tacit.learning.settings import CollectionSettings, FastSettings, HomingSettings, Settings
from tacit.learning.stage import Episode
from tacit.planning.regression import OracleSettings
from tacit.planning.schedule import GammaSchedule
from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite, Vectors

if TYPE_CHECKING:
    from tacit.offline.fit import diagnose_logs as diagnose
    from tacit.offline.fit import fit
    from tacit.offline.loading import load_model

__all__ = [
    "Agent",
    "CollectionSettings",
    "DecoderSettings",
    "Episode",
    "FastSettings",
    "Finite",
    "GammaSchedule",
    "HomingSettings",
    "Layout",
    "OracleSettings",
    "PosteriorSettings",
    "Settings",
    "Vectors",
    "diagnose",
    "fit",
    "load_model",
]

LATE = {
    "diagnose": ("tacit.offline.fit", "diagnose_logs"),
    "fit": ("tacit.offline.fit", "fit"),
    "load_model": ("tacit.offline.loading", "load_model"),
}
"""What is imported when it is asked for: reading logs needs more than learning online."""


def __getattr__(name: str) -> Any:
    if name in LATE:
        from importlib import import_module

        module, found = LATE[name]
        return getattr(import_module(module), found)
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")
