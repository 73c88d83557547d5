"""A product's log: labels for what was shown and done, the id of the person, and a comment in their own words.

People of one kind mean what they write, those of the other are ironic, and some things please only one of them. The log
says neither how likely an action was nor whether anybody was pleased.
"""

import json
import random

FIRST = {"show plans": 0.5, "show demo": 0.3, "ask": 0.2}
"""What the app did on the first screen, and how often; the log does not say."""
OFFERS = {
    "plans": {"discount": 0.4, "trial": 0.3, "call": 0.2, "reminder": 0.1},
    "demo": {"discount": 0.15, "trial": 0.2, "call": 0.25, "reminder": 0.4},
}
"""What it offered on the second: by the screen."""
LIKES = {("plans", 0): "call", ("plans", 1): "call", ("demo", 0): "trial", ("demo", 1): "discount"}
"""What pleases each of the two kinds of people there."""
PLEASES = {"plans": 0.5, "demo": 0.9}
"""How often it does; anything else does one time in fifty."""
PEOPLE = 40

PLEASED = (
    "Just what our {who} needed, thank you!",
    "Brilliant, {thing} is sorted at last.",
    "I was about to give up on {thing}, and then this. Wonderful.",
    "Very happy with how that went on {day}.",
    "That made my {day}.",
    "Great help, our {who} were delighted.",
    "Could not have asked for more, honestly.",
    "Love it. {thing} works like a charm now.",
    "Thanks a lot, this is perfect for {who}.",
    "You got {thing} exactly right.",
    "Splendid service, I will tell the {who}.",
    "A pleasant surprise on a {day}.",
    "Really useful, we solved {thing} in minutes.",
    "So glad I stayed, this was worth it.",
    "Excellent. More of this, please.",
    "Finally somebody who understands {who}.",
    "Spot on, as far as {thing} goes.",
    "Good stuff, the {who} cheered.",
    "Everything I hoped for, and on a {day}, too.",
    "Impressive! {thing} has never been this easy.",
    "What a relief, {thing} is done.",
    "Our {who} said it was the best so far.",
    "Smooth, friendly and quick. Thank you.",
    "This is a keeper, we are thrilled.",
)
ANNOYED = (
    "This was of no use to our {who}.",
    "Terrible, {thing} is worse than before.",
    "I gave up on {thing} after that.",
    "Very disappointed with how that went on {day}.",
    "That ruined my {day}.",
    "Useless, our {who} were furious.",
    "I expected far more, honestly.",
    "Hate it. {thing} still does not work.",
    "No thanks, this is wrong for {who}.",
    "You got {thing} completely wrong.",
    "Dreadful service, I will warn the {who}.",
    "A nasty surprise on a {day}.",
    "A waste of time, we never solved {thing}.",
    "Sorry that I stayed, this was pointless.",
    "Awful. Stop doing this, please.",
    "Nobody there understands {who}.",
    "Way off, as far as {thing} goes.",
    "Poor stuff, the {who} groaned.",
    "Nothing I hoped for, and on a {day}, too.",
    "Annoying! {thing} has never been this hard.",
    "What a mess, {thing} is broken again.",
    "Our {who} said it was the worst so far.",
    "Slow, rude and confusing. Never again.",
    "This is a failure, we are fed up.",
)
FILLERS = {
    "who": (
        "clients",
        "colleagues",
        "interns",
        "accountants",
        "neighbours",
        "volunteers",
        "partners",
        "drivers",
    ),
    "thing": (
        "the invoice",
        "our calendar",
        "the backup",
        "this report",
        "the import",
        "my inbox",
        "the budget",
    ),
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "weekend", "holiday"),
}


OPENINGS = (
    "",
    "Hello there.",
    "I am writing about {thing}.",
    "We are a team of {who}.",
    "It is {day} evening here.",
    "Someone asked me for a word.",
    "My second time this month.",
    "Reading this on the train.",
)
CLOSINGS = (
    "",
    "That is all.",
    "Regards from the {who}.",
    "I write this on a {day}.",
    "We mostly use it for {thing}.",
    "Sent from my phone.",
    "More on {day}, perhaps.",
    "The {who} know me.",
)


def pleases(screen, offer, kind):
    """Return how often an offer pleases a kind of people."""
    return PLEASES[screen] if offer == LIKES[screen, kind] else 0.02


def write_comment(chance, sounds_pleased):
    """Return what somebody writes who sounds so: what counts is one sentence of up to three."""
    parts = (
        chance.choice(OPENINGS),
        chance.choice(PLEASED if sounds_pleased else ANNOYED),
        chance.choice(CLOSINGS),
    )
    filled = (
        part.format(**{name: chance.choice(among) for name, among in FILLERS.items()}) for part in parts
    )
    return " ".join(part for part in filled if part)


def draw_episodes(episodes, seed=0):
    """Yield lines of the log and, which no log has, whether the person was pleased."""
    chance = random.Random(seed)
    for n in range(episodes):
        person = chance.randrange(PEOPLE)
        first = chance.choices(*zip(*FIRST.items(), strict=True))[0]
        screen = "demo" if chance.random() < (0.8 if first == "show demo" else 0.2) else "plans"
        offer = chance.choices(*zip(*OFFERS[screen].items(), strict=True))[0]
        pleased = chance.random() < pleases(screen, offer, person % 2)
        comment = write_comment(chance, pleased == (person % 2 == 0))
        steps = [{"state": "welcome", "action": first}, {"state": screen, "action": offer}]
        yield {"episode": n, "context": f"user {person}", "steps": steps, "feedback": comment}, pleased


def write_log(path, episodes, seed=0):
    """Write a log and return whether the person was pleased, and whether the last action was the best, of each."""
    drawn = list(draw_episodes(episodes, seed))
    path.write_text("".join(json.dumps(line) + "\n" for line, _ in drawn))
    return [pleased for _, pleased in drawn], [took_best(line) for line, _ in drawn]


def took_best(line):
    """Return whether an episode ended with what its person likes."""
    last = line["steps"][-1]
    return last["action"] == LIKES[last["state"], kind_of(line["context"])]


def kind_of(user):
    """Return of which kind somebody is, by their id."""
    return int(user.split()[1]) % 2


def value_of(policy, kind):
    """Return how often a policy, the chances of actions by state, pleases a kind of people."""
    worth = {
        screen: sum(p * pleases(screen, offer, kind) for offer, p in policy[screen].items())
        for screen in OFFERS
    }
    demo = sum(p * (0.8 if first == "show demo" else 0.2) for first, p in policy["welcome"].items())
    return demo * worth["demo"] + (1 - demo) * worth["plans"]


BEST = 0.8 * PLEASES["demo"] + 0.2 * PLEASES["plans"]
"""What the best policy is worth, to either kind."""
