"""Style: four answers to one question, one of them as the person would like it, said indirectly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from text_world.halves import draw_one, draw_some, half_of

TOPICS = """When does the library open?|the library opens at nine
How do I cook rice?|rice takes two cups of water to one of grain
Where can I park near the museum?|there is a garage behind the museum
What does the annual ticket cost?|the annual ticket costs ninety euros
How do I descale a kettle?|vinegar and an hour of patience remove the scale
When is the next bus to the harbour?|the bus to the harbour leaves at ten past
How do I return a parcel?|the label goes on the box and the post office takes it
Which plug do I need in Ireland?|Ireland has the British plug with three flat pins
How long does the repair take?|the repair takes five working days
Can I bring my dog?|dogs are welcome on a lead
What is the dress code on Friday?|no tie is needed on Friday
How do I cancel my contract?|a written notice ends the contract after a month
Is breakfast part of the price?|breakfast is part of the price
How often should I water a cactus?|a cactus wants water once in three weeks
Where do I find the lost property?|lost property is kept at the station
What is a good time to prune roses?|roses are pruned in early spring
How do I get a refund?|the refund comes to the card you paid with
Which floor is the dentist on?|the dentist is on the fourth floor
How do I renew my passport?|the town hall renews passports on Tuesdays
May I take photographs inside?|photographs are allowed without a flash""".splitlines()
"""Each a question and its answer."""

STYLES = {
    "short": ("{}.", "Short: {}.", "In brief, {}.", "{}. Done."),
    "long": (
        "Let me go through this step by step: {}. There is a reason for it, which goes back some years, and there are"
        " a few exceptions worth knowing, so I describe all of them below, one after the other, with examples.",
        "A full account: {}. To begin with, this was not always so; the rules changed twice, and each change has its"
        " own story. After that I explain what follows from it in ordinary cases, in rare ones, and what others did.",
        "In all detail, {}. First some background, then the particulars, then a list of what may go wrong and how it"
        " can be avoided; at the end you find sources, further reading, and the history of the matter from the start.",
        "Settle in: {}. I shall lay out how this came about, why it is done so, what the alternatives are, what each"
        " costs and saves, who decides on it, and how it is likely to develop over the coming years, point by point.",
    ),
    "formal": (
        "Dear Sir or Madam, we beg to inform you that {}. We remain respectfully yours.",
        "Please be advised that {}. Should you require further assistance, kindly contact our office.",
        "We have the honour to confirm that {}. Yours faithfully.",
        "With reference to your enquiry, it is hereby stated that {}. Sincerely.",
    ),
    "casual": (
        "hey you! so yeah, {}, no biggie :)",
        "lol sure thing mate, {}, easy peasy!",
        "yo, {}, just swing by whenever ;)",
        "haha good one, {}, catch ya later!",
    ),
}
"""How an answer is put, by style."""

HINTS = {
    "short": """I am about to step into the lift.
The train leaves in a minute.
My battery is at one percent.
I only have a second.
I read this at a red light.
No time, really.
The children are pulling at my coat.
Somebody is waiting behind me.""",
    "long": """I have the whole evening and like to know things thoroughly.
Tell me everything there is to it.
I am writing an essay about it.
I love to read background.
Leave nothing out, I am curious.
I want to understand it from the ground up.
It is raining and I have a pot of tea.
I collect knowledge of this kind.""",
    "formal": """I ask on behalf of the ambassador.
The board of directors will read your reply.
This is for an official file.
Her Excellency wishes to know.
Your answer will be quoted in court.
I enquire in my capacity as notary.
The bishop has requested this information.
I shall forward it to the minister.""",
    "casual": """what's up dude
just hanging with my buddies here
gimme the lowdown pal
we're chilling on the sofa
no need to be stiff with me lol
hit me up bro
tell me like a friend would
me n the gang wanna know""",
}
"""How people let on which style they would like."""


@dataclass(frozen=True)
class Manner:
    """Questions, their answers in each style, and hints."""

    questions: tuple[str, ...]
    answers: tuple[dict[str, str], ...]
    hints: dict[str, tuple[str, ...]]

    def draw(self, chance: np.random.Generator) -> tuple[str, str, str, tuple[str, ...]]:
        """Return the request, no profile, the answer in the style that is wanted, and those in the others."""
        n, wanted = int(chance.integers(len(self.questions))), draw_one(chance, list(STYLES))
        said = [self.questions[n], draw_one(chance, self.hints[wanted])]
        request = " ".join(said if chance.random() < 0.5 else said[::-1])
        answers = self.answers[n]
        return request, "", answers[wanted], tuple(a for style, a in answers.items() if style != wanted)


def draw_manner(chance: np.random.Generator, judging: bool) -> Manner:
    """Return questions with answers in four styles, of which the catalogue holds 24 to 40."""
    rows = [line.split("|") for line in draw_some(chance, half_of(TOPICS, judging), 6)]
    answers = tuple(
        {style: draw_one(chance, half_of(ways, judging)).format(said) for style, ways in STYLES.items()}
        for _, said in rows
    )
    hints = {style: half_of(lines.splitlines(), judging) for style, lines in HINTS.items()}
    return Manner(tuple(asked for asked, _ in rows), answers, hints)
