"""Tacit learns what to do over several turns from how people react, with no reward ever observed.

>>> import tacit
>>> layout = tacit.Layout.regular([1, 2], n_actions=3, n_contexts=2, n_feedback=2)
>>> agent = tacit.Agent(layout, seed=1)
>>> agent.begin(context=0)
Episode(id=0, stage='fast learning', steps=0, open)
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from tacit.agent import Agent
from tacit.decoding.decoder import DecoderSettings
from tacit.decoding.judgement import JudgementSettings
from tacit.decoding.posterior import PosteriorSettings
from tacit.learning.episode import Episode
from tacit.learning.settings import CollectionSettings, FastSettings, HomingSettings, Settings
from tacit.planning.regression import OracleSettings
from tacit.planning.schedule import GammaSchedule
from tacit.problem.layout import Layout
from tacit.problem.spaces import Finite, Vectors
from tacit.trust.anchors import Anchor
from tacit.trust.findings import Diagnosis, Finding

if TYPE_CHECKING:
    from tacit.offline.fit import diagnose_logs as diagnose
    from tacit.offline.fit import fit
    from tacit.offline.loading import load_model
    from tacit.simulate import play

__version__ = version("tacit")

__all__ = [
    "Agent",
    "Anchor",
    "CollectionSettings",
    "DecoderSettings",
    "Diagnosis",
    "Episode",
    "FastSettings",
    "Finding",
    "Finite",
    "GammaSchedule",
    "HomingSettings",
    "JudgementSettings",
    "Layout",
    "OracleSettings",
    "PosteriorSettings",
    "Settings",
    "Vectors",
    "__version__",
    "diagnose",
    "fit",
    "load_model",
    "play",
]

LATE = {
    "diagnose": ("tacit.offline.fit", "diagnose_logs"),
    "fit": ("tacit.offline.fit", "fit"),
    "load_model": ("tacit.offline.loading", "load_model"),
    "play": ("tacit.simulate", "play"),
}
"""What is imported when it is asked for: environments and logs need more than learning does."""


def __getattr__(name: str) -> Any:
    if name in LATE:
        module, found = LATE[name]
        return getattr(import_module(module), found)
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")
