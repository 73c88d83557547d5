"""A chat assistant: what people say, what it may answer and how they react are sentences, and nothing else is known.

A reader asks for a book; the assistant asks one of two questions, then offers one of four books; all that comes back is
a remark. The model is the small one of `tacit[text]`: two frozen encoders, no download, no GPU. 200 chats of
exploration and 100 of learning show how it works and where it goes. They are too few to say how good it gets
(`tacit reproduce booking` plays 3,768) or to learn who is ironic: here everybody says what they mean, in four ways.

    python examples/chat_assistant.py
"""

import random

import tacit
from tacit.text import Conversations, TextSettings

BOOKS = {
    "whales": "Here is a novel about whales and the sea.",
    "trains": "Here is a history of trains and stations.",
    "bread": "Here is a cookbook about bread and ovens.",
    "stars": "Here is an atlas of stars and planets.",
    "gardens": "Here is a guide to gardens and seeds.",
    "chess": "Here is a book of chess and its openings.",
}
QUESTIONS = ["What would you like to read about?", "Shall I gift-wrap it?"]
PLEASED = ["Lovely, thank you!", "That is just right.", "Perfect, I will take it.", "Great, thanks a lot."]
DISPLEASED = ["No, not at all.", "That is not what I wanted.", "Hm, forget it.", "Oh no, wrong again."]


class Reader:
    """Somebody who wants a book about one thing, and says which if asked."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.wish = chance.choice(list(BOOKS))
        others = chance.sample([topic for topic in BOOKS if topic != self.wish], 3)
        self.offers = [BOOKS[topic] for topic in chance.sample([self.wish, *others], 4)]
        self.told = False

    def answer(self, question: tacit.Label) -> str:
        """Return what they say to a question."""
        self.told = question == QUESTIONS[0]
        return f"Something about {self.wish}, please." if self.told else "No, thanks, it is for me."

    def pleased(self, offer: tacit.Label) -> bool:
        """Return whether they were asked what they want, and got it: nobody is ever told."""
        return self.told and offer == BOOKS[self.wish]


def run(exploration: int = 200, learning: int = 100) -> tuple[tacit.Agent, list[bool]]:
    """Return the assistant after some chats, and whether each reader was pleased: for us, not for the assistant."""
    world = Conversations(TextSettings(horizon=2, exploration=exploration))
    chance, agent, pleased = random.Random(0), tacit.Agent(world, seed=0), []
    for _ in range(exploration + learning):
        reader = Reader(chance)
        episode = agent.begin("Hello, I am looking for a book.")
        question = agent.act(episode, "Hello, I am looking for a book.", QUESTIONS)
        offer = agent.act(episode, reader.answer(question), reader.offers)
        pleased.append(reader.pleased(offer))
        agent.end(episode, chance.choice(PLEASED if pleased[-1] else DISPLEASED))
    return agent, pleased


if __name__ == "__main__":
    agent, pleased = run()
    print(
        f"pleased: {sum(pleased[:200]) / 200:.0%} while exploring, {sum(pleased[200:]) / 100:.0%} while learning"
    )
    episode = agent.begin("Hello, I am looking for a book.")
    for heard, offered in (
        ("Hello, I am looking for a book.", QUESTIONS),
        ("Something about stars, please.", [BOOKS["bread"], BOOKS["stars"], BOOKS["chess"]]),
    ):
        print(f"- {heard}\n- {agent.act(episode, heard, offered)} (probability {episode.probability:.2f})")
    agent.abandon(episode)
    print(agent.diagnose())
