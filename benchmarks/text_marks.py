"""Remarks as people type them: typos, emoji, sarcasm with a profile, and conversations in other languages.

At a counter somebody asks for one of 24 things, four are on offer, and what they say of the one they get is all that
is heard. For each kind of remark: after so many uniform reactions, whether feedback was found to tell anything, how
many remarks that were never met are read right, of those after what was wanted and of the others (by the ratio that
feedback alone gives: who repeats the request's words is right, so that rewards can be guessed without), how often the
best candidate is right on fresh requests, and whether it was found that readings do not separate. `--encoder` names
another encoder than the bundled one.

    python benchmarks/text_marks.py [--kinds german typos] [--reactions 300] [--seed 9000000] [--encoder NAME]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.text.conversation import Choice, Conversation, Reaction, TextContext
from tacit.text.settings import BUNDLED
from tacit.text.small.model import SmallModel, SmallSettings
from tacit.text.small.separation import find_separation

JUDGING = 9_000_000
OFFERED = 4
FRESH = 200
LEARNED, UNMET = slice(0, None, 2), slice(1, None, 2)
"""Remarks that are learned from, and those that are read afterwards."""
TYPED_WRONG = 4
"""Ways in which each remark is mistyped."""


class Counter(NamedTuple):
    """What is asked for, how, what is offered, and what people say: all in one language."""

    things: str
    requests: tuple[str, ...]
    offer: str
    kind: tuple[str, ...]
    unkind: tuple[str, ...]


ENGLISH = Counter(
    "bread, milk, apples, cheese, coffee, honey, rice, butter, onions, salt, pepper, flour, sugar, grapes, ham, beans, "
    "lemons, carrots, yoghurt, tea, noodles, eggs, mustard, tomatoes",
    ("I would like {}, please.", "Do you have {}?", "Could I get {}?"),
    "Here you are, {} for you.",
    (
        "Thank you, that is lovely.",
        "Just what I wanted.",
        "Perfect, thanks a lot.",
        "Great, you are a star.",
        "Very kind of you.",
        "Wonderful, I am happy.",
        "Yes, exactly that.",
        "Good, I will come again.",
    ),
    (
        "No, that is wrong.",
        "I did not ask for this.",
        "What is that supposed to be?",
        "You were not listening.",
        "That is useless to me.",
        "How annoying.",
        "I am disappointed.",
        "Not what I said.",
        "Terrible service.",
        "Take that back.",
    ),
)
GERMAN = Counter(
    "Brot, Milch, Äpfel, Käse, Kaffee, Honig, Reis, Butter, Zwiebeln, Salz, Pfeffer, Mehl, Zucker, Trauben, Schinken, "
    "Bohnen, Zitronen, Karotten, Joghurt, Tee, Nudeln, Eier, Senf, Tomaten",
    ("Ich hätte gern {}, bitte.", "Haben Sie {}?", "Könnte ich {} bekommen?"),
    "Bitte sehr, {} für Sie.",
    (
        "Danke, das ist wunderbar.",
        "Genau was ich wollte.",
        "Perfekt, vielen Dank.",
        "Super, Sie sind ein Schatz.",
        "Sehr nett von Ihnen.",
        "Herrlich, ich bin zufrieden.",
        "Ja, genau das.",
        "Gut, ich komme gern wieder.",
    ),
    (
        "Nein, das ist falsch.",
        "Danach habe ich nicht gefragt.",
        "Was soll das denn sein?",
        "Sie haben nicht zugehört.",
        "Das nützt mir nichts.",
        "Wie ärgerlich.",
        "Ich bin enttäuscht.",
        "Das habe ich nicht gesagt.",
        "Schreckliche Bedienung.",
        "Nehmen Sie das zurück.",
    ),
)
FRENCH = Counter(
    "du pain, du lait, des pommes, du fromage, du café, du miel, du riz, du beurre, des oignons, du sel, du poivre, "
    "de la farine, du sucre, du raisin, du jambon, des haricots, des citrons, des carottes, du yaourt, du thé, "
    "des pâtes, des œufs, de la moutarde, des tomates",
    ("Je voudrais {}, s'il vous plaît.", "Avez-vous {} ?", "Puis-je avoir {} ?"),
    "Voilà {} pour vous.",
    (
        "Merci, c'est parfait.",
        "Exactement ce que je voulais.",
        "Formidable, merci beaucoup.",
        "Super, vous êtes un ange.",
        "C'est très gentil.",
        "Merveilleux, je suis content.",
        "Oui, c'est bien ça.",
        "Très bien, je reviendrai.",
    ),
    (
        "Non, c'est faux.",
        "Je n'ai pas demandé ça.",
        "Qu'est-ce que c'est que ça ?",
        "Vous n'avez pas écouté.",
        "Ça ne me sert à rien.",
        "Que c'est agaçant.",
        "Je suis déçu.",
        "Ce n'est pas ce que j'ai dit.",
        "Un service affreux.",
        "Reprenez ça.",
    ),
)
SPANISH = Counter(
    "pan, leche, manzanas, queso, café, miel, arroz, mantequilla, cebollas, sal, pimienta, harina, azúcar, uvas, "
    "jamón, judías, limones, zanahorias, yogur, té, fideos, huevos, mostaza, tomates",
    ("Quisiera {}, por favor.", "¿Tiene {}?", "¿Me puede dar {}?"),
    "Aquí tiene, {} para usted.",
    (
        "Gracias, es estupendo.",
        "Justo lo que quería.",
        "Perfecto, muchas gracias.",
        "Genial, es usted un sol.",
        "Muy amable.",
        "Maravilloso, estoy contento.",
        "Sí, eso mismo.",
        "Bien, volveré.",
    ),
    (
        "No, está mal.",
        "Yo no pedí esto.",
        "¿Qué se supone que es eso?",
        "No me ha escuchado.",
        "Eso no me sirve.",
        "Qué fastidio.",
        "Estoy decepcionado.",
        "No es lo que dije.",
        "Un servicio horrible.",
        "Lléveselo.",
    ),
)
EMOJI = ENGLISH._replace(
    kind=("👍", "😀", "❤️", "🙏", "😍", "👏", "ok 🙂", "🎉", "😊", "🥳", "👌", "🤩", "💖", "✅", "😁", "🙌"),
    unkind=("👎", "😡", "💔", "🙄", "😞", "🤬", "ok 🙁", "😤", "😒", "😠", "🤮", "😢", "😩", "❌", "🤦", "☹️"),
)
PROFILES = {
    False: (
        "An earnest person who says what they mean.",
        "Speaks plainly.",
        "Honest and literal.",
        "A sincere soul.",
    ),
    True: (
        "A sarcastic person.",
        "Loves irony.",
        "Means the opposite of the words.",
        "Always dry and sarcastic.",
    ),
}
KINDS = ("english", "typos", "emoji", "sarcasm", "german", "french", "spanish", "noise")
COUNTERS = {"emoji": EMOJI, "german": GERMAN, "french": FRENCH, "spanish": SPANISH}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="*", default=KINDS, choices=KINDS)
    parser.add_argument("--reactions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=JUDGING)
    parser.add_argument("--encoder", default=BUNDLED)
    options = parser.parse_args()
    print(
        f"{options.reactions} uniform reactions, {FRESH} fresh ones, seed {options.seed}, encoder {options.encoder}"
    )
    for kind in options.kinds:
        print(f"{kind}: {measure(kind, options.reactions, options.seed, options.encoder)}", flush=True)


def measure(kind: str, n: int, seed: int, encoder: str) -> str:
    """Return what was found of a kind of remark, in words."""
    chance = np.random.default_rng((seed, KINDS.index(kind)))
    model = SmallModel(1, SmallSettings(encoder=encoder))
    reactions = [serve(kind, chance, LEARNED)[0] for _ in range(n)]
    if kind == "noise":
        said = chance.permutation([reaction.feedback for reaction in reactions])
        reactions = [each._replace(feedback=str(other)) for each, other in zip(reactions, said, strict=True)]
    model = model.fit(reactions)
    fresh = [serve(kind, chance, UNMET) for _ in range(FRESH)]
    pleased = np.array([reaction.choice.action == wanted for reaction, wanted in fresh])
    assert model.fitted is not None
    read = model.fitted.leading.as_fitted.ratios(model.sample([reaction for reaction, _ in fresh])) > 0
    right = [
        int(np.argmax(model.score(reaction.choice.conversation, reaction.choice.candidates))) == wanted
        for reaction, wanted in fresh
    ]
    assert model.evidence is not None
    remarks = [reaction.feedback for reaction in reactions]
    unread = list(find_separation(model.sample(reactions), remarks, model.evidence, model.settings.fitting))
    return (
        f"{'found' if model.evidence.found else 'not found'} (gain {model.evidence.gain:.3f}, error "
        f"{model.evidence.error:.3f}), read right {read[pleased].mean():.2f} where rewarded and "
        f"{1 - read[~pleased].mean():.2f} where not, candidates right {np.mean(right):.2f}"
        f"{', ' + unread[0].code if unread else ''}"
    )


def serve(kind: str, chance: np.random.Generator, remarks: slice) -> tuple[Reaction, int]:
    """Return a reaction to something offered at random, by some of the remarks, and which would have been right."""
    counter = COUNTERS.get(kind, ENGLISH)
    things = chance.permutation(counter.things.split(", "))[:OFFERED].tolist()
    wanted, action = (int(number) for number in chance.integers(OFFERED, size=2))
    sarcastic = kind == "sarcasm" and bool(chance.integers(2))
    profile = pick(PROFILES[sarcastic], chance) if kind == "sarcasm" else ""
    request = pick(counter.requests, chance).format(things[wanted])
    said = counter.kind if (action == wanted) != sarcastic else counter.unkind
    remark = pick(said[remarks], chance)
    if kind == "typos":
        remark = mistype(remark, int(chance.integers(TYPED_WRONG)))
    offered = tuple(counter.offer.format(thing) for thing in things)
    return Reaction(
        Choice(Conversation(TextContext(request, profile)), offered, action, 1 / OFFERED), remark
    ), wanted


def pick(texts: Sequence[str], chance: np.random.Generator) -> str:
    """Return one of the texts."""
    return texts[int(chance.integers(len(texts)))]


def mistype(text: str, way: int) -> str:
    """Return a text with letters left out, doubled or swapped, one in eight, in one of several ways.

    >>> mistype("Thank you, that is lovely.", 1) != mistype("Thank you, that is lovely.", 2)
    True
    """
    chance, letters = np.random.default_rng((way, len(text))), list(text.lower())
    for place in chance.choice(len(letters) - 1, size=max(2, len(letters) // 8), replace=False):
        fault = int(chance.integers(3))
        if fault == 0:
            letters[place] = ""
        elif fault == 1:
            letters[place] *= 2
        else:
            letters[place], letters[place + 1] = letters[place + 1], letters[place]
    return "".join(letters)


if __name__ == "__main__":
    main()
