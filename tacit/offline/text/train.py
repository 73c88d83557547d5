"""A text agent from logs: in policy learning from its first episode, with the model that the logs were fitted with.

The policy of the last step is the match weights of the posterior, that of earlier steps predicts from what was said how
good a state it led to (`tacit.text.small.model`). REINFORCE needs its own episodes: it goes on from here online.
"""

from __future__ import annotations

from tacit.agent import Agent
from tacit.logs.episodes import LogError, Problem, Problems
from tacit.logs.files import dump_json
from tacit.logs.record import Fault
from tacit.offline.reward_model import Logs, Progress, open_logs
from tacit.offline.tables.gathering import REPORT_EVERY
from tacit.offline.text.gathering import read_text
from tacit.offline.text.reward_model import TextRewardModel
from tacit.text.conversations import Conversations
from tacit.text.settings import TextSettings
from tacit.text.small.model import SmallModel
from tacit.text.stages import TextLearning


def train_text(
    logs: Logs,
    model: TextRewardModel,
    seed: int = 0,
    problems: Problems | None = None,
    progress: Progress | None = None,
) -> Agent:
    """Return an agent with a copy of the model; the logs must be conversations of the model's horizon."""
    check_conversations(logs, model, problems, progress)
    features = model.model.features
    copied = SmallModel.from_state(model.model.to_state(), features.encoder, features.cache)
    settings = TextSettings(model.horizon, model.certificate.tuples, decoder=model.decoder)
    return Agent(Conversations(settings, copied), seed=seed, stage=TextLearning(settings, copied))


def check_conversations(
    logs: Logs, model: TextRewardModel, problems: Problems | None, progress: Progress | None
) -> None:
    """Raise unless some episode of the logs is one that the model can read; the others go to `problems`."""
    n, sound, own = 0, 0, problems if problems is not None else Problems()
    for n, episode in enumerate(open_logs(logs, problems)(), 1):
        read = read_text(episode.to_json(), model.horizon)
        if isinstance(read, Fault):
            own.add(Problem.of(read, episode), dump_json(episode.to_json()))
        else:
            sound += 1
        if progress is not None and n % REPORT_EVERY == 0:
            progress(REPORT_EVERY)
    if problems is None:
        own.warn()
    if not sound:
        raise LogError(
            f"an agent is trained on conversations of {model.horizon} steps, got none in {n:,} episodes; see what was "
            "set aside, or fit a model to these logs"
        )
