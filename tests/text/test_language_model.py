"""The causal language model: what it asks, what it answers, that it learns, and that saving changes nothing.

SmolLM2 is the real thing; where only the bookkeeping is at stake, a random model of the same kind is quicker.
"""

import copy
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tacit.base.changes import commit
from tacit.base.checkpoint import load_tree, save_tree
from tacit.text.bundled import quiet
from tacit.text.causal.adapter import Adapter, load_base
from tacit.text.causal.model import CausalLM, LanguageModelSettings, hold_out
from tacit.text.causal.packing import Packer, pack_branches
from tacit.text.causal.presets import PRESETS, SMOLLM2, BaseModel, Preset, find_preset
from tacit.text.causal.prompts import Prompt, policy_prompt, posterior_prompt
from tacit.text.conversation import Choice, Conversation, Exchange, Reaction, TextContext

TALK = Conversation(
    TextContext("Book me a table.", "writes in riddles"),
    (Exchange("For how many?", "For six."), Exchange("At what time?", "At noon, please.")),
)
DOORS = ("the red door", "the blue door", "the green door")
RED = Conversation(TextContext("Open the red door."))
PLEASED, CROSS = "Lovely, thanks!", "No, not that."


@pytest.fixture(scope="module")
def tokenizer():
    return load_base(BaseModel(SMOLLM2))[1]


@pytest.fixture(scope="module")
def random_preset(tmp_path_factory, tokenizer) -> Preset:
    """A random model with SmolLM2's tokenizer, in a directory: what is learned is by the adapter alone."""
    directory = tmp_path_factory.mktemp("model")
    config = LlamaConfig(
        vocab_size=49152,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
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


@pytest.fixture(scope="module")
def smol() -> CausalLM:
    """The real model, never trained: tests that learn make their own."""
    return CausalLM("smol")


def reactions(n: int, seed: int = 1, shuffled: bool = False) -> list[Reaction]:
    """Return reactions to doors opened at random: pleased if and only if it is the red one."""
    generator = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        doors = tuple(str(door) for door in generator.permutation(DOORS[:2]))
        action = int(generator.integers(2))
        feedback = PLEASED if doors[action] == DOORS[0] else CROSS
        made.append(Reaction(Choice(RED, doors, action, 0.5), feedback))
    order = generator.permutation(n) if shuffled else range(n)
    return [each._replace(feedback=made[i].feedback) for each, i in zip(made, order, strict=True)]


def taken(reaction: Reaction) -> str:
    return reaction.choice.candidates[reaction.choice.action]


def play(model: CausalLM, n: int, first: int = 0) -> None:
    """Let a model learn from n episodes with one choice each: the red door is rewarded."""
    for episode in range(first, first + n):
        action = episode % 2
        commit(model.reinforce([Choice(RED, DOORS, action, 1 / 3)], 1.0 - action))


@pytest.mark.parametrize("prompt", [posterior_prompt(TALK, "Well, well."), policy_prompt(TALK)])
def test_prompt_contains_everything_in_order(prompt: Prompt) -> None:
    text = prompt.text("I have booked it.")
    parts = [
        "writes in riddles",
        "Book me a table.",
        "For how many?",
        "For six.",
        "At what time?",
        "At noon, please.",
    ]
    parts += ["Well, well."] if "Well" in text else []
    places = [text.index(part) for part in [*parts, "I have booked it.", "Yes or No"]]
    assert places == sorted(places)


def test_posterior_is_asked_about_feedback_and_policy_is_not() -> None:
    assert "Well, well." in posterior_prompt(TALK, "Well, well.").text("Done.")
    assert "react" not in policy_prompt(TALK).text("Done.")


def test_scores_are_the_share_of_yes(smol: CausalLM) -> None:
    """Each candidate alone, as plain text without packing: P(Yes) / (P(Yes) + P(No)) at the last position."""
    model, tokenizer = load_base(BaseModel(SMOLLM2))
    expected = []
    for door in DOORS:
        message = [{"role": "user", "content": policy_prompt(RED).text(door)}]
        text = tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True)
        with torch.no_grad():
            logits = model(**tokenizer(text, add_special_tokens=False, return_tensors="pt")).logits[0, -1]
        yes, no = logits.double().softmax(0)[tokenizer.convert_tokens_to_ids(["Yes", "No"])]
        expected.append(float(yes / (yes + no)))
    np.testing.assert_allclose(smol.score(RED, DOORS), expected, atol=1e-5)


def test_order_of_candidates_does_not_matter(smol: CausalLM) -> None:
    h = smol.posterior(TALK, DOORS, PLEASED)
    turned = smol.posterior(TALK, DOORS[1:] + DOORS[:1], PLEASED)
    np.testing.assert_allclose(np.roll(h, -1), turned, atol=1e-5)
    assert abs(h.sum() - 1) < 1e-12
    assert h.min() > 0
    assert np.ptp(h) > 1e-3  # or the test would prove nothing


def test_predicting_changes_nothing(random_preset: Preset) -> None:
    model = CausalLM(random_preset)
    before = model.to_state()
    model.score(RED, DOORS)
    model.posterior(RED, DOORS, CROSS)
    assert_same_state(before, model.to_state())


def test_text_is_never_read_as_control_token(smol: CausalLM, tokenizer) -> None:
    tokens = smol._policy.packer.pack(policy_prompt(RED), ["a<|im_end|>b", "c"]).tokens
    plain = smol._policy.packer.pack(policy_prompt(RED), ["ab", "c"]).tokens
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert (tokens == end).sum() == (plain == end).sum()


def test_fine_tuning_smollm2_lowers_the_loss() -> None:
    """10 reactions that name the door opened, one epoch: the loss falls from chance (0.5) to next to nothing."""
    named = [each._replace(feedback=f"So you opened {taken(each)}.") for each in reactions(10)]
    model = CausalLM("smol", LanguageModelSettings(batch=2, epochs=1))
    model = model.fit(named)
    assert model.losses[0] > 0.4
    assert model.losses[1] < 0.1
    assert model.posterior(RED, DOORS, "So you opened the green door.")[2] > 0.6  # a door never offered


def test_posterior_learns_and_shuffled_feedback_teaches_nothing(random_preset: Preset) -> None:
    """40 reactions: h moves from 1/2 to the door that fits the feedback; the control stays at chance."""
    h = {}
    for shuffled in (False, True):
        model = CausalLM(random_preset, LanguageModelSettings(batch=4, epochs=6))
        model = model.fit(reactions(40, shuffled=shuffled))
        h[shuffled] = [model.posterior(RED, DOORS[:2], feedback)[0] for feedback in (PLEASED, CROSS)]
    assert h[False][0] > 0.9
    assert h[False][1] < 0.1
    assert all(0.2 < value < 0.8 for value in h[True])


def test_fit_is_deterministic_and_starts_anew(random_preset: Preset) -> None:
    settings = LanguageModelSettings(batch=4, epochs=2)
    once, twice = CausalLM(random_preset, settings), CausalLM(random_preset, settings)
    once = once.fit(reactions(10))
    twice = twice.fit(reactions(16, seed=2))
    twice = twice.fit(reactions(10))
    assert once.losses == twice.losses
    assert_same_state(once.to_state(), twice.to_state())
    other = CausalLM(random_preset, settings, seed=1)
    other = other.fit(reactions(10))
    assert other.losses != once.losses


def test_known_rewards_leave_the_posterior_as_it_is(random_preset: Preset) -> None:
    model = CausalLM(random_preset)
    before = model.to_state()
    model = model.fit(reactions(10), rewards=[1.0] * 10)
    assert_same_state(before, model.to_state())
    assert model.remarks == ()


def test_a_fit_that_learned_nothing_is_remarked_on(random_preset: Preset) -> None:
    slow = CausalLM(
        replace(random_preset, posterior_rate=1e-9), LanguageModelSettings(epochs=1, held_out=0.5)
    )
    slow = slow.fit([each._replace(feedback=CROSS) for each in reactions(40)])
    learned = CausalLM(random_preset, LanguageModelSettings(batch=4, epochs=3))
    learned = learned.fit(reactions(40))
    assert len(slow.remarks) == 1
    assert "no better than chance" in slow.remarks[0]
    assert learned.remarks == ()


def test_fit_stops_early_keeps_the_best_epoch_and_reports(random_preset: Preset) -> None:
    seen = []
    model = CausalLM(random_preset, LanguageModelSettings(batch=4, epochs=50, patience=2))
    model = model.fit(reactions(20), lambda done, total, what: seen.append((done, total, what)))
    assert len(model.losses) < 51
    valid = hold_out(reactions(20), 0.2, np.random.default_rng((0, 20)))[1]
    assert model._validate(valid).mean() == pytest.approx(min(model.losses), abs=1e-4)
    assert [done for done, *_ in seen[:-1]] == list(range(1, len(seen)))
    assert seen[-1][:2] == (200, 200)


def test_reinforce_raises_what_is_rewarded_in_smollm2(tmp_path) -> None:
    """And a copy saved in the middle of a batch goes on bit for bit."""
    preset = replace(PRESETS["smol"], policy_rate=1e-3)
    model = CausalLM(preset, LanguageModelSettings(batch=2))
    before = model.score(RED, DOORS)
    play(model, 3)
    copied = saved(model, tmp_path)
    for each in (model, copied):
        play(each, 1, first=3)
    after = model.score(RED, DOORS)
    assert after[0] - after[1] > before[0] - before[1] + 0.1
    assert_same_state(model.to_state(), copied.to_state())
    assert (copied.score(RED, DOORS) == after).all()


@pytest.mark.parametrize("episodes", [0, 1, 4, 6])
def test_saved_copy_goes_on_bit_for_bit(random_preset: Preset, episodes: int, tmp_path) -> None:
    model = CausalLM(random_preset, LanguageModelSettings(batch=4, epochs=1))
    model = model.fit(reactions(8))
    play(model, episodes)
    copied = saved(model, tmp_path)
    assert_same_state(model.to_state(), copied.to_state())
    for each in (model, copied):
        play(each, 5, first=episodes)
    assert_same_state(model.fit(reactions(9)).to_state(), copied.fit(reactions(9)).to_state())


def test_what_is_interrupted_leaves_the_model_as_it_was(random_preset: Preset) -> None:
    """A fit in its midst, an episode that is not committed, and a step of AdamW; then they are made as if at once."""
    model, twin = (CausalLM(random_preset, LanguageModelSettings(batch=2, epochs=2)) for _ in range(2))

    def stop(done: int, total: int, what: str) -> None:
        if done == 3:
            raise KeyboardInterrupt

    before = model.to_state()
    with pytest.raises(KeyboardInterrupt):
        model.fit(reactions(10), stop)
    assert_same_state(model.to_state(), before)
    model, twin = model.fit(reactions(10)), twin.fit(reactions(10))
    for action in (0, 1):
        before = model.to_state()
        changes = model.reinforce([Choice(RED, DOORS, action, 1 / 3)], 0.5)
        assert_same_state(model.to_state(), before)
        model.score(RED, DOORS)  # with the weights from before the step
        for _ in range(2):
            commit(changes)
        play_once(twin, action)
        assert_same_state(model.to_state(), twin.to_state())
        assert (model.score(RED, DOORS) == twin.score(RED, DOORS)).all()


def play_once(model: CausalLM, action: int) -> None:
    commit(model.reinforce([Choice(RED, DOORS, action, 1 / 3)], 0.5))


def test_steps_are_made_once_a_batch_is_full(random_preset: Preset) -> None:
    model = CausalLM(random_preset, LanguageModelSettings(batch=3))
    start = model.to_state()["policy"]
    play(model, 2)
    assert (model.to_state()["policy"] == start).all()
    play(model, 1, first=2)
    assert (model.to_state()["policy"] != start).any()


def test_baseline_is_the_mean_reward_and_then_fades(random_preset: Preset) -> None:
    model = CausalLM(random_preset, LanguageModelSettings(window=3))
    for reward in (1.0, 0.0, 0.5, 1.0):
        commit(model.reinforce([], reward))
    assert model.to_state()["baseline"] == pytest.approx(0.5 + (1.0 - 0.5) / 3)


def test_gradient_is_that_of_log_softmax(random_preset: Preset) -> None:
    """-(r - b) ∇ log π(a) / batch, computed from the log-odds by hand."""
    model = CausalLM(random_preset, LanguageModelSettings(batch=2))
    commit(model.reinforce([Choice(RED, DOORS, 1, 1 / 3)], 0.75))
    adapter = Adapter(random_preset.policy, 8, 1024, 0)
    odds = adapter.log_odds(policy_prompt(RED), DOORS)
    (-0.75 / 2 * (odds[1] - odds.exp().sum().log())).backward()
    expected = np.concatenate([weight.grad.numpy().ravel() for weight in adapter.parameters])
    np.testing.assert_allclose(model.to_state()["optimiser"]["gradient"], expected, rtol=1e-4, atol=1e-6)


def test_models_share_a_base_and_nothing_else(random_preset: Preset) -> None:
    one, other = CausalLM(random_preset, LanguageModelSettings(batch=1)), CausalLM(random_preset)
    before = other.score(RED, DOORS)
    play(one, 4)
    assert (other.score(RED, DOORS) == before).all()
    assert not np.allclose(one.score(RED, DOORS), before, atol=1e-3)


def test_checkpointing_and_bfloat16_train_alike(random_preset: Preset) -> None:
    """As in `paper`: checkpointing gives the same gradient, bfloat16 a rounded one; adapters stay float32."""
    gradients = []
    for changes in ({}, {"checkpointing": True}, {"dtype": "bfloat16"}):
        base = replace(random_preset.policy, **changes)
        model = CausalLM(replace(random_preset, posterior=base, policy=base))
        commit(model.reinforce([Choice(RED, DOORS, 0, 1 / 3)], 1.0))
        gradients.append(model.to_state()["optimiser"]["gradient"])
        assert gradients[-1].dtype == np.float32
    exact, checkpointed, rounded = gradients
    np.testing.assert_allclose(checkpointed, exact, atol=1e-7)
    assert np.corrcoef(rounded, exact)[0, 1] > 0.99


def test_too_long_a_conversation_loses_its_oldest_part_with_one_warning(
    random_preset: Preset, tokenizer
) -> None:
    turns = tuple(Exchange(f"Question {i}?", f"Answer {i}.") for i in range(60))
    long, short = (Conversation(TextContext("Hello.", "a painter"), kept) for kept in (turns, turns[:1]))
    model = CausalLM(random_preset)
    with pytest.warns(UserWarning, match=r"tokens too long for the 256 .* oldest part is left out"):
        h = model.posterior(long, DOORS, PLEASED)
    assert h.shape == (3,)
    packed = model._posterior.packer.pack(
        posterior_prompt(long, PLEASED), DOORS
    )  # a second warning would be an error
    text = tokenizer.decode(packed.tokens)
    for kept in ("a painter", "Answer 59.", PLEASED, *DOORS):
        assert kept in text
    assert "Hello." not in text
    assert packed.positions.max() == 255
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.score(short, DOORS)


def test_what_cannot_be_cut_is_refused(random_preset: Preset) -> None:
    model = CausalLM(random_preset, LanguageModelSettings(max_tokens=100))
    with pytest.raises(ValueError, match=r"must fit into 100 tokens, got \d+; shorten"):
        model.posterior(RED, DOORS, "Well, " * 100)


def test_pack_branches_sees_the_beginning_and_itself() -> None:
    packed = pack_branches([5, 6], [[1, 2], [3]])
    assert packed.tokens.tolist() == [5, 6, 1, 2, 3]
    assert packed.positions.tolist() == [0, 1, 2, 3, 2]
    assert packed.last.tolist() == [3, 4]
    expected = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 0, 0, 1]]
    assert packed.sees.astype(int).tolist() == expected


def test_tokenizer_without_template_gets_answer(tokenizer) -> None:
    bare = copy.deepcopy(tokenizer)
    bare.chat_template = None
    packer = Packer(bare, 256)
    text = tokenizer.decode(packer.pack(policy_prompt(RED), DOORS).tokens)
    assert text.endswith("Reply Yes or No.\nAnswer:")
    assert tokenizer.decode([packer.yes, packer.no]) == " Yes No"


def test_another_base_model_is_refused(random_preset: Preset) -> None:
    state = CausalLM(random_preset).to_state()
    with pytest.raises(
        ValueError, match=r"trained on a .* with checksum 1, got one with \d+; load the version"
    ):
        CausalLM.from_state({**state, "bases": [1, 2]})
    with pytest.raises(ValueError, match=r"has \d+ weights, got \(3,\)"):
        CausalLM.from_state({**state, "policy": np.zeros(3, np.float32)})


def test_wrong_input_is_refused(random_preset: Preset) -> None:
    model = CausalLM(random_preset)
    with pytest.raises(ValueError, match="at least 2 candidates"):
        model.score(RED, ["only one"])
    with pytest.raises(ValueError, match="at least 2 reactions"):
        model.fit(reactions(1))
    with pytest.raises(ValueError, match="reward must be a number"):
        model.reinforce([], float("nan"))
    with pytest.raises(ValueError, match="batch must be a whole number"):
        LanguageModelSettings(batch=0)
    with pytest.raises(ValueError, match="policy_rate must be a number"):
        replace(random_preset, policy_rate=-1.0)


def saved(model: CausalLM, directory) -> CausalLM:
    """Return the model after a way through a file."""
    save_tree(directory / "model", "text model", model.to_state())
    return CausalLM.from_state(load_tree(directory / "model", "text model"))


def assert_same_state(one, other) -> None:
    assert one.keys() == other.keys()
    for key, value in one.items():
        if isinstance(value, dict):
            assert_same_state(value, other[key])
        elif isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, other[key], err_msg=key)
        else:
            assert value == other[key], key
