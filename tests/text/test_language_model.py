"""The causal language model: what it reads, that it begins with the small model, that it learns, saves and goes on.

SmolLM2 is the real thing; where only the bookkeeping is at stake, a random model of the same kind is quicker. The small
model beside it reads by an encoder that needs no model.
"""

import copy
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import logit
from text_samples import HashingEncoder
from transformers import LlamaConfig, LlamaForCausalLM

from tacit.base.changes import commit
from tacit.base.checkpoint import load_tree, save_tree
from tacit.decoding.decoder import DecoderSettings
from tacit.text.bundled import quiet
from tacit.text.causal import fitting, texts
from tacit.text.causal.fitting import LanguageModelSettings
from tacit.text.causal.heads import begin_with, believe_heads, kind_of, make_features, make_head_design
from tacit.text.causal.model import CausalLM
from tacit.text.causal.packing import AT_ONCE, Packed, Packer, token_batches
from tacit.text.causal.presets import SMOLLM2, BaseModel, Preset, find_preset
from tacit.text.causal.prompts import PROMPTS, choice_prompt
from tacit.text.causal.reader import StateReader, frozen_part, load_base
from tacit.text.causal.texts import read_reactions
from tacit.text.conversation import Choice, Conversation, Exchange, Reaction, TextContext
from tacit.text.small.cache import EncodingCache
from tacit.text.small.ensemble import Ensemble
from tacit.text.small.likelihood import believed_of, explain_feedback
from tacit.text.small.model import SmallModel

TALK = Conversation(
    TextContext("Book me a table.", "writes in riddles"),
    (Exchange("For how many?", "For six."), Exchange("At what time?", "At noon, please.")),
)
DOORS = ("the red door", "the blue door", "the green door")
RED = Conversation(TextContext("Open a door."))
PLEASED, CROSS = ("lovely thanks", "thanks great"), ("wrong again", "bad wrong")
DECODER = DecoderSettings(theta=0.9, M=1.0, c=0.0)
QUICK = LanguageModelSettings(batch=8, epochs=2, layers=1)


@pytest.fixture(scope="module")
def tokenizer():
    return load_base(BaseModel(SMOLLM2))[1]


@pytest.fixture(scope="module")
def random_preset(tmp_path_factory, tokenizer) -> Preset:
    """A random model with SmolLM2's tokenizer, in a directory."""
    directory = tmp_path_factory.mktemp("model")
    config = LlamaConfig(
        vocab_size=49152,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        initializer_range=0.1,
    )
    with torch.random.fork_rng(), quiet():
        torch.manual_seed(0)
        LlamaForCausalLM(config).save_pretrained(directory)
        tokenizer.save_pretrained(directory)
    return replace(find_preset(str(directory)), posterior_rate=1e-2, policy_rate=1e-2)


def language_model(preset, settings=QUICK, seed=0, cache=None) -> CausalLM:
    return CausalLM(1, preset, settings, seed, HashingEncoder(), cache or EncodingCache())


def reactions(n: int, seed: int = 1, shuffled: bool = False, profile: str = "") -> list[Reaction]:
    """Return reactions to doors opened at random: pleased if and only if it is the red one."""
    generator = np.random.default_rng(seed)
    made = []
    talk = RED._replace(context=replace(RED.context, profile=profile))
    for _ in range(n):
        doors = tuple(str(door) for door in generator.permutation(DOORS))
        action = int(generator.integers(3))
        remark = (PLEASED if doors[action] == DOORS[0] else CROSS)[int(generator.integers(2))]
        made.append(Reaction(Choice(talk, doors, action, 1 / 3), remark))
    order = generator.permutation(n) if shuffled else range(n)
    return [each._replace(feedback=made[i].feedback) for each, i in zip(made, order, strict=True)]


@pytest.fixture(scope="module")
def learned(random_preset) -> CausalLM:
    """A model that was fitted to 60 reactions."""
    return language_model(random_preset).fit(reactions(60))


def play(model: CausalLM, n: int, first: int = 0) -> None:
    """Let a model learn from n episodes with one choice each: the blue door is rewarded."""
    for episode in range(first, first + n):
        action = episode % 2
        commit(model.reinforce([Choice(RED, DOORS, action, 1 / 3)], float(action)))


def test_prompt_contains_everything_in_order() -> None:
    text = choice_prompt(TALK).text("I have booked it.")
    parts = [
        "writes in riddles",
        "Book me a table.",
        "For how many?",
        "For six.",
        "At what time?",
        "At noon, please.",
    ]
    places = [text.index(part) for part in [*parts, "I have booked it.", "For this person"]]
    assert places == sorted(places)


def test_states_are_those_of_the_whole_model(tokenizer) -> None:
    """Cut in two and packed: the same as each candidate alone, as plain text, through the layers in one go."""
    reader = StateReader(BaseModel(SMOLLM2), 8, 4, 0)
    packer = Packer(tokenizer, 256)
    prompt = choice_prompt(TALK)
    with torch.no_grad():
        found = reader.read_one(packer.choice(prompt, DOORS))[1:]
        body = load_base(BaseModel(SMOLLM2))[0]
        for door, states in zip(DOORS, found, strict=True):
            tokens = packer.choice(prompt, (door, "another")).beginning
            branch = packer.choice(prompt, (door, "another")).branches[0]
            ids = torch.tensor([[*tokens, *branch]])
            hidden = body(ids, output_hidden_states=True).hidden_states[24]
            np.testing.assert_allclose(states, body.norm(hidden)[0, -1], atol=2e-3, rtol=1e-3)


def test_texts_in_a_batch_are_read_as_alone(random_preset, tokenizer) -> None:
    reader, packer = StateReader(random_preset.posterior, 8, 1, 0), Packer(tokenizer, 256)
    packs = [packer.choice(choice_prompt(TALK), DOORS), packer.text(PROMPTS["remark"], "well")]
    with torch.no_grad():
        together = reader.read(packs, reader.frozen.read(packs))
        for states, pack in zip(together, packs, strict=True):
            np.testing.assert_allclose(states, reader.read_one(pack), atol=1e-4)


def test_text_is_never_read_as_control_token(tokenizer) -> None:
    packer = Packer(tokenizer, 256)
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert end not in packer.choice(choice_prompt(RED), ["a<|im_end|>b", "c"]).tokens
    assert end not in packer.text(PROMPTS["remark"], "a<|im_end|>b").tokens


def test_pack_sees_the_beginning_and_itself() -> None:
    packed = Packed((5, 6), ((1, 2), (3,)))
    assert packed.tokens.tolist() == [5, 6, 1, 2, 3]
    assert packed.positions.tolist() == [0, 1, 2, 3, 2]
    assert packed.ends.tolist() == [1, 3, 4]
    expected = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 0, 0, 1]]
    assert packed.sees.astype(int).tolist() == expected


def test_batches_hold_texts_of_about_one_length() -> None:
    sizes = np.random.default_rng(0).integers(1, 300, 200)
    packs = [Packed((1,) * int(size)) for size in sizes]
    found = list(token_batches(packs))
    assert sorted(n for some in found for n in some) == list(range(200))
    assert all(len(some) * max(packs[n].size for n in some) <= AT_ONCE for some in found)
    assert len(found) < 1.3 * sizes.sum() / AT_ONCE


def test_before_it_learns_it_says_what_the_small_model_says(random_preset) -> None:
    """Heads of the start and a new adapter: f, g, t and k are the small model's, and so are h and what is decoded."""
    model = language_model(random_preset).fit(reactions(60))
    assert model.fitted is not None
    start = model.fitted._replace(adapter=model._start, heads=model.fitted.basis.start.astype(np.float32))
    model.fitted = start
    small = copy.copy(model.small)
    small.fitted = Ensemble((small.fitted.leading,), np.ones(1))
    for reaction in reactions(5, seed=2, profile="a painter"):
        expected = small.fitted.as_fitted.predict(small.sample([reaction]))[0]
        choice = reaction.choice
        h = model.posterior(choice.conversation, choice.candidates, reaction.feedback)
        np.testing.assert_allclose(h, expected, atol=1e-5)
        assert model.decode(reaction, DECODER) == pytest.approx(small.decode(reaction, DECODER), abs=1e-5)
        np.testing.assert_allclose(
            model.score(choice.conversation, choice.candidates),
            small.score(choice.conversation, choice.candidates),
            atol=1e-5,
        )


def test_slopes_of_a_batch_are_those_of_the_likelihood(random_preset) -> None:
    """All reactions in one batch, t as it is: the slopes are those of the small model's likelihood."""
    model, sample = language_model(random_preset), reactions(40, profile="a painter")
    small = model.small.fit(sample)
    begun, reading = begin_with(small, sample), read_reactions(model._reader, model._packer, sample)
    fit = fitting.Fit(model._reader, reading, begun, 8, small.settings.fitting, QUICK, 1e-3, 0)
    rng = np.random.default_rng(0)
    weights = fit.centre + 0.1 * rng.standard_normal(len(fit.centre))
    fit.hold, design = np.zeros_like(fit.hold), fit.design.part(fit.rows)
    believed = believed_of(fit.design, weights)
    heads = torch.tensor(weights, dtype=torch.float32, requires_grad=True)
    fit._descend(fit.rows, heads, believed.ratio.copy())
    _, slopes = explain_feedback(design, weights)
    np.testing.assert_allclose(-heads.grad * len(fit.rows), slopes, atol=2e-3, rtol=2e-3)


def test_heads_say_the_same_in_torch(random_preset) -> None:
    model, sample = language_model(random_preset), reactions(30)
    small = model.small.fit(sample)
    begun, reading = begin_with(small, sample), read_reactions(model._reader, model._packer, sample)
    fit = fitting.Fit(model._reader, reading, begun, 6, small.settings.fitting, QUICK, 1e-3, 0)
    weights = fit.centre + 0.1
    features = make_features(fit.basis, begun, reading.all_states())
    found = believe_heads(torch.tensor(weights, dtype=torch.float32), features, begun, fit.basis.sizes)
    expected = believed_of(make_head_design(features, begun), weights)
    for one, other in zip(found.numpy(), expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)
    f = expected.good * expected.fits[np.arange(30), begun.taken]
    np.testing.assert_allclose(kind_of(found, begun.taken), expected.kind(f), atol=1e-4)


def test_smollm2_learns_what_the_small_model_cannot_read() -> None:
    """Remarks in words that the small model's encoder never met again: SmolLM2 knows which are kind.

    120 reactions, nearly every remark said once; the loss on those left out falls below that of heads of nothing.
    """
    kind = (
        "superb",
        "delightful",
        "wonderful",
        "marvellous",
        "excellent",
        "splendid",
        "fantastic",
        "brilliant",
    )
    unkind = ("awful", "terrible", "horrid", "dreadful", "useless", "annoying", "disappointing", "rubbish")
    things = ("work", "choice", "idea", "answer", "service", "move", "taste", "help")
    generator = np.random.default_rng(3)
    told = [
        each._replace(
            feedback=f"{generator.choice(kind if taken(each) == DOORS[0] else unkind)} {generator.choice(things)}"
        )
        for each in reactions(120)
    ]
    model = CausalLM(
        1, "smol", LanguageModelSettings(epochs=1, layers=1), encoder=HashingEncoder(), cache=EncodingCache()
    )
    losses = model.fit(told).losses
    assert losses.heads < losses.small - 0.02
    assert losses.heads < losses.uniform - 0.1
    assert losses.epochs[0] < losses.uniform - 0.1


def taken(reaction: Reaction) -> str:
    return reaction.choice.candidates[reaction.choice.action]


def test_adapters_learn_and_shuffled_feedback_teaches_nothing(random_preset) -> None:
    """The loss on reactions left out falls, or stays where nothing is left to win; the control says it is noise."""
    model = language_model(random_preset, replace(QUICK, epochs=4)).fit(reactions(90))
    losses = model.losses
    assert min(losses.epochs) - 1e-4 <= losses.heads <= losses.small < losses.uniform
    assert model.remarks == ()
    assert model.score(RED, DOORS).argmax() == 0
    noise = language_model(random_preset, replace(QUICK, epochs=1)).fit(reactions(90, shuffled=True))
    assert "no better than chance" in noise.remarks[0]


def test_adapters_lower_the_loss_that_heads_leave(random_preset) -> None:
    """Adapters alone, heads held where they began, anywhere: the likelihood of what they are fitted to rises."""
    model, sample = language_model(random_preset), reactions(60)
    small = model.small.fit(sample)
    begun, reading = begin_with(small, sample), read_reactions(model._reader, model._packer, sample)
    fit = fitting.Fit(model._reader, reading, begun, 12, small.settings.fitting, QUICK, 1e-2, 0)
    first = fit.first()
    first = first._replace(
        heads=first.heads + 0.1 * np.random.default_rng(0).standard_normal(len(first.heads), np.float32)
    )
    after = fit.epoch(fit.epoch(first))
    model._reader.hold(after.adapter)
    states = reading.all_states()
    believed = make_head_design(make_features(fit.basis, begun, states), begun).part(fit.rows)
    before, _ = explain_feedback(fit.design.part(fit.rows), first.heads.astype(np.float64))
    now, _ = explain_feedback(believed, first.heads.astype(np.float64))
    assert now > before


def test_reactions_left_out_count_by_their_logged_probability(random_preset) -> None:
    """As if the policy that logged them had been uniform: the rarer a choice was, the more it counts."""
    sample = reactions(20)
    rare = [each._replace(choice=each.choice._replace(probability=0.01)) for each in sample[:1]]
    small = SmallModel(1, encoder=HashingEncoder(), cache=EncodingCache()).fit(sample)
    weights = begin_with(small, [*rare, *sample[1:]]).weights
    np.testing.assert_allclose(weights, [100 / 3, *np.ones(19)])


def test_fit_is_deterministic_and_starts_anew(random_preset) -> None:
    once, twice = language_model(random_preset), language_model(random_preset)
    once = once.fit(reactions(20))
    twice = twice.fit(reactions(26, seed=2)).fit(reactions(20))
    assert once.losses == twice.losses
    assert_same_state(once.to_state(), twice.to_state())
    assert language_model(random_preset, seed=1).fit(reactions(20)).losses != once.losses


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("killed_at", [4, 8])
def test_a_killed_fit_goes_on_and_comes_to_the_same_bits(
    random_preset, tmp_path, monkeypatch, killed_at
) -> None:
    """Killed in the first epoch or in the third, at a step; another process begins the same fit again."""
    settings, sample = replace(QUICK, epochs=4, patience=9), reactions(20)
    path = tmp_path / "kept" / "encodings.sqlite"

    def kill(done, total, what):
        if "epoch" in what and done == killed_at:
            raise Killed

    with pytest.raises(Killed):
        language_model(random_preset, settings, cache=EncodingCache(path)).fit(sample, kill)
    assert len(list((path.parent / "fits").iterdir())) == 1
    epochs = []
    real = fitting.Fit.epoch
    monkeypatch.setattr(
        fitting.Fit,
        "epoch",
        lambda self, reached, *rest: epochs.append(reached.epoch) or real(self, reached, *rest),
    )
    again = language_model(random_preset, settings, cache=EncodingCache(path)).fit(sample)
    assert epochs == list(range((killed_at - 1) // 2, 4))  # of two steps each
    whole = language_model(random_preset, settings, cache=EncodingCache()).fit(sample)
    assert_same_state(again.to_state(), whole.to_state())
    assert list((path.parent / "fits").iterdir()) == []


def test_what_was_kept_of_a_fit_and_is_damaged_is_begun_anew(random_preset, tmp_path) -> None:
    sample, path = reactions(20), tmp_path / "encodings.sqlite"
    model = language_model(random_preset, cache=EncodingCache(path))
    unfinished = model._unfinished(sample)
    unfinished.path.write_bytes(b"half a file")
    whole = language_model(random_preset).fit(sample)
    assert_same_state(model.fit(sample).to_state(), whole.to_state())


def test_states_that_there_is_no_room_for_are_computed_when_met(random_preset, monkeypatch) -> None:
    kept = language_model(random_preset).fit(reactions(20))
    monkeypatch.setattr(texts, "ROOM", 0)
    computed = language_model(random_preset).fit(reactions(20))
    np.testing.assert_allclose(computed.losses.epochs, kept.losses.epochs, atol=1e-3)


def test_with_known_rewards_the_policy_begins_with_what_is_made_of_them(random_preset) -> None:
    sample = reactions(60)
    model = language_model(random_preset).fit(
        sample, rewards=[float(taken(each) == DOORS[1]) for each in sample]
    )
    assert model.remarks == ()
    assert model.losses is None
    assert model.score(RED, DOORS).argmax() == 1
    play(model, 8)


def test_fit_stops_early_keeps_the_best_epoch_and_reports(random_preset) -> None:
    seen = []
    model = language_model(random_preset, replace(QUICK, epochs=50, patience=2))
    model = model.fit(reactions(20), lambda done, total, what: seen.append((done, total, what)))
    assert len(model.losses.epochs) < 50
    steps = [each for each in seen if "epoch" in each[2]]
    assert [done for done, *_ in steps] == list(range(1, len(steps) + 1))
    assert seen[-1][:2] == (100, 100)
    assert {"reading conversations", "reading remarks"} <= {what for *_, what in seen}


def test_reinforce_raises_what_is_rewarded(learned, tmp_path) -> None:
    """And a copy saved in the middle of a batch goes on bit for bit."""
    model = saved(learned, tmp_path)
    before = logit(model.score(RED, DOORS))
    play(model, 20)
    copied = saved(model, tmp_path)
    for each in (model, copied):
        play(each, 44, first=20)
    after = logit(model.score(RED, DOORS))
    assert after[1] - after[0] > before[1] - before[0] + 0.5
    assert_same_state(model.to_state(), copied.to_state())
    assert (logit(copied.score(RED, DOORS)) == after).all()


@pytest.mark.parametrize("episodes", [0, 1, 8, 11])
def test_saved_copy_goes_on_bit_for_bit(learned, episodes: int, tmp_path) -> None:
    model = saved(learned, tmp_path)
    play(model, episodes)
    copied = saved(model, tmp_path)
    assert_same_state(model.to_state(), copied.to_state())
    for each in (model, copied):
        play(each, 5, first=episodes)
    assert_same_state(model.to_state(), copied.to_state())
    assert (model.posterior(RED, DOORS, PLEASED[0]) == copied.posterior(RED, DOORS, PLEASED[0])).all()
    assert model.decode(reactions(1)[0], DECODER) == copied.decode(reactions(1)[0], DECODER)
    one, other = (each.fit(reactions(21)).to_state() for each in (model, copied))
    assert_same_state(one, other)


def test_what_is_interrupted_leaves_the_model_as_it_was(random_preset) -> None:
    """A fit in its midst, an episode that is not committed, and a step of AdamW; then they are made as if at once."""
    settings = replace(QUICK, batch=2)
    model, twin = (language_model(random_preset, settings) for _ in range(2))

    def stop(done: int, total: int, what: str) -> None:
        if "epoch" in what and done == 3:
            raise KeyboardInterrupt

    before = model.to_state()
    with pytest.raises(KeyboardInterrupt):
        model.fit(reactions(20), stop)
    assert_same_state(model.to_state(), before)
    model, twin = model.fit(reactions(20)), twin.fit(reactions(20))
    for action in (0, 1):
        before = model.to_state()
        changes = model.reinforce([Choice(RED, DOORS, action, 1 / 3)], 0.5)
        assert_same_state(model.to_state(), before)
        model.score(RED, DOORS)  # with the weights from before the step
        for _ in range(2):
            commit(changes)
        commit(twin.reinforce([Choice(RED, DOORS, action, 1 / 3)], 0.5))
        assert_same_state(model.to_state(), twin.to_state())
        assert (model.score(RED, DOORS) == twin.score(RED, DOORS)).all()


def test_steps_are_made_once_a_batch_is_full(learned, tmp_path) -> None:
    model = saved(learned, tmp_path)
    start = model.to_state()["policy"]["head"]
    play(model, 7)
    assert (model.to_state()["policy"]["head"] == start).all()
    play(model, 1, first=7)
    assert (model.to_state()["policy"]["head"] != start).any()


def test_baseline_is_the_mean_reward_and_then_fades(random_preset) -> None:
    model = language_model(random_preset, replace(QUICK, window=3)).fit(reactions(8))
    for reward in (1.0, 0.0, 0.5, 1.0):
        commit(model.reinforce([], reward))
    assert model.to_state()["policy"]["baseline"] == pytest.approx(0.5 + (1.0 - 0.5) / 3)


def test_gradient_is_that_of_log_softmax(learned, tmp_path) -> None:
    """-(r - b) ∇ log π(a) / batch in the head: z of the action less its mean under π, as the head begins at 0."""
    model = saved(learned, tmp_path)
    pi = model.score(RED, DOORS) / (1 - model.score(RED, DOORS))
    pi /= pi.sum()
    commit(model.reinforce([Choice(RED, DOORS, 1, 1 / 3)], 0.75))
    policy, basis = model._policy, model._policy_basis
    with torch.no_grad():
        states = policy.reader.read_one(policy.packer.choice(choice_prompt(RED), DOORS))[1:].double().numpy()
    z = basis.components(states - states.mean(axis=0))
    gradient = model.to_state()["policy"]["gradient"][-basis.size :]
    np.testing.assert_allclose(gradient, -0.75 / 8 * (z[1] - pi @ z), rtol=1e-3, atol=1e-6)


def test_models_share_a_base_and_nothing_else(learned, tmp_path) -> None:
    one, other = saved(learned, tmp_path), saved(learned, tmp_path)
    before = other.score(RED, DOORS)
    play(one, 16)
    assert (other.score(RED, DOORS) == before).all()
    assert not np.allclose(logit(one.score(RED, DOORS)), logit(before), atol=1e-3)
    assert one._reader.frozen is other._policy.reader.frozen


def test_a_text_is_read_once_by_the_frozen_layers(learned, monkeypatch) -> None:
    """A choice is scored, decoded and learned from: posterior and policy on one base read it once."""
    frozen = frozen_part(learned.preset.posterior, learned.settings.layers)
    frozen.one.cache_clear()
    reaction = reactions(1, seed=5)[0]
    learned.score(reaction.choice.conversation, reaction.choice.candidates)
    learned.decode(reaction, DECODER)
    learned.reinforce([reaction.choice], 1.0)
    found = frozen.one.cache_info()
    assert found.misses == 4  # the choice, no remark, the remark, no profile
    assert found.hits > 4


def test_a_policy_on_another_base_has_a_basis_of_its_own(random_preset) -> None:
    other = replace(random_preset, policy=replace(random_preset.policy, checkpointing=True))
    one, two = (language_model(preset).fit(reactions(20)) for preset in (random_preset, other))
    np.testing.assert_allclose(abs(one.score(RED, DOORS)), two.score(RED, DOORS), atol=1e-5)
    assert two._policy_basis is not two.fitted.basis.candidate
    play(two, 2)


def test_checkpointing_and_bfloat16_learn_alike(random_preset) -> None:
    """As in `paper`: checkpointing comes to the same losses, bfloat16 to rounded ones; adapters stay float32."""
    losses = []
    for changes in ({}, {"checkpointing": True}, {"dtype": "bfloat16"}):
        base = replace(random_preset.policy, **changes)
        model = language_model(replace(random_preset, posterior=base, policy=base)).fit(reactions(30))
        play(model, 1, first=1)
        assert model.to_state()["policy"]["gradient"].dtype == model.fitted.adapter.dtype == np.float32
        losses.append(model.losses)
    exact, checkpointed, rounded = (np.array([each.small, each.heads, *each.epochs]) for each in losses)
    np.testing.assert_allclose(checkpointed, exact, atol=1e-4)
    np.testing.assert_allclose(rounded, exact, atol=0.03)


def test_too_long_a_conversation_loses_its_oldest_part_with_one_warning(learned, tokenizer) -> None:
    turns = tuple(Exchange(f"Question {i}?", f"Answer {i}.") for i in range(60))
    long, short = (Conversation(TextContext("Hello.", "a painter"), kept) for kept in (turns, turns[:1]))
    packer = Packer(tokenizer, 256)
    with pytest.warns(UserWarning, match=r"tokens too long for the 256 .* oldest part is left out"):
        packer.choice(choice_prompt(long), DOORS)
    packed = packer.choice(choice_prompt(long), DOORS)  # a second warning would be an error
    text = tokenizer.decode(packed.tokens)
    for kept in ("a painter", "Answer 59.", *DOORS):
        assert kept in text
    assert "Hello." not in text
    assert packed.positions.max() == 255
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        packer.choice(choice_prompt(short), DOORS)
    remark = packer.text(PROMPTS["remark"], "Well, " * 1000)
    assert remark.size == 256
    assert tokenizer.decode(remark.tokens).endswith("The person is")


def test_what_cannot_be_cut_is_refused(tokenizer) -> None:
    with pytest.raises(ValueError, match=r"must fit into 30 tokens, got \d+; shorten"):
        Packer(tokenizer, 30).choice(choice_prompt(RED), ["Well, " * 100, "no"])


def test_another_base_model_is_refused(learned) -> None:
    state, given = learned.to_state(), (HashingEncoder(), EncodingCache())
    with pytest.raises(
        ValueError, match=r"trained on a .* with checksum 1, got one with \d+; load the version"
    ):
        CausalLM.from_state({**state, "bases": [1, 2]}, *given)
    policy = {**state["policy"], "adapter": np.zeros(3, np.float32)}
    with pytest.raises(ValueError, match=r"adapter must be float32 of shape \(\d+\), got .*\(3,\)"):
        CausalLM.from_state({**state, "policy": policy}, *given)


def test_wrong_input_is_refused(random_preset) -> None:
    model = language_model(random_preset)
    with pytest.raises(ValueError, match="at least 2 candidates"):
        model.score(RED, ["only one"])
    with pytest.raises(ValueError, match="at least 2 reactions"):
        model.fit(reactions(1))
    with pytest.raises(ValueError, match="reward must be a number"):
        model.reinforce([], float("nan"))
    with pytest.raises(ValueError, match="not fitted; explore first"):
        model.reinforce([], 1.0)
    with pytest.raises(ValueError, match="not fitted; explore first"):
        model.posterior(RED, DOORS, "well")
    with pytest.raises(ValueError, match="batch must be a whole number"):
        LanguageModelSettings(batch=0)
    with pytest.raises(ValueError, match="policy_rate must be a number"):
        replace(random_preset, policy_rate=-1.0)


def saved(model: CausalLM, directory) -> CausalLM:
    """Return the model after a way through a file."""
    save_tree(directory / "model", "text model", model.to_state())
    tree = load_tree(directory / "model", "text model")
    return CausalLM.from_state(tree, HashingEncoder(), EncodingCache())


def assert_same_state(one, other) -> None:
    assert one.keys() == other.keys()
    for key, value in one.items():
        if isinstance(value, dict):
            assert_same_state(value, other[key])
        elif isinstance(value, list):
            assert len(value) == len(other[key])
            for each, twin in zip(value, other[key], strict=True):
                assert_same_state({key: each}, {key: twin})
        elif isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, other[key], err_msg=key)
        else:
            assert value == other[key], key
