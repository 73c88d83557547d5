"""A text agent from logs: in policy learning from its first episode, with the model that the logs were fitted with.

The last choice goes by what the posterior says that candidates earn, earlier ones by how good a place they lead to
(`tacit.text.small.model`). It goes on from there online; the reactions of the logs are among those it learns from.
"""

from __future__ import annotations

from tacit.agent import Agent
from tacit.logs.problems import Problems
from tacit.logs.reading import LogSource, Progress
from tacit.offline.text.gathering import ReadText, read_texts
from tacit.offline.text.meanings import TextMeanings
from tacit.text.conversations import Conversations
from tacit.text.settings import TextSettings
from tacit.text.small.model import SmallModel
from tacit.text.stages import MOST_KEPT, TextExploration, TextLearning, is_uniform
from tacit.trust.certificate import Certificate


def train_text(
    meanings: TextMeanings,
    certificate: Certificate,
    source: LogSource,
    seed: int,
    problems: Problems | None,
    progress: Progress | None,
) -> Agent:
    """Return an agent with a copy of the model and the reactions of the logs, which it goes on from.

    Where they were not shown to tell anything, it explores on.
    """
    read = read_texts(source, meanings.horizon, problems, progress, meanings.silence)
    heard = [each for each in read if isinstance(each, ReadText) and each.probabilities[-1] != 1]
    reactions = [each.reaction for each in heard][-MOST_KEPT:]
    features = meanings.model.features
    copied = SmallModel.from_state(meanings.model.to_state(), features.encoder, features.cache)
    settings = TextSettings(meanings.horizon, decoder=meanings.decoder, silence=meanings.silence)
    world, n = Conversations(settings, copied), len(reactions)
    if meanings.evidence.found:
        return Agent(world, seed=seed, stage=TextLearning(settings, copied, reactions, n, learned=n))
    return Agent(
        world, seed=seed, stage=TextExploration(settings, copied, list(filter(is_uniform, reactions)))
    )
