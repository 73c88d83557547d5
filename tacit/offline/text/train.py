"""A text agent from logs: in policy learning from its first episode, with the model that the logs were fitted with.

The policy of the last step is the match weights of the posterior, that of earlier steps predicts from what was said how
good a state it led to (`tacit.text.small.model`). REINFORCE needs its own episodes: it goes on from here online.
"""

from __future__ import annotations

from tacit.agent import Agent
from tacit.logs.problems import Problems
from tacit.logs.reading import LogSource, Progress
from tacit.offline.text.gathering import read_texts
from tacit.offline.text.meanings import TextMeanings
from tacit.text.conversations import Conversations
from tacit.text.settings import TextSettings
from tacit.text.small.model import SmallModel
from tacit.text.stages import TextLearning
from tacit.trust.certificate import Certificate


def train_text(
    meanings: TextMeanings,
    certificate: Certificate,
    source: LogSource,
    seed: int,
    problems: Problems | None,
    progress: Progress | None,
) -> Agent:
    """Return an agent with a copy of the model; the logs must be conversations of the model's horizon."""
    for _ in read_texts(source, meanings.horizon, problems, progress, meanings.silence):
        pass  # raises where there is none
    features = meanings.model.features
    copied = SmallModel.from_state(meanings.model.to_state(), features.encoder, features.cache)
    settings = TextSettings(
        meanings.horizon, certificate.tuples, decoder=meanings.decoder, silence=meanings.silence
    )
    return Agent(Conversations(settings, copied), seed=seed, stage=TextLearning(settings, copied))
