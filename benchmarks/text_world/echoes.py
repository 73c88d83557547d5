"""Echo: the right candidate repeats the words of the request."""

from __future__ import annotations

import numpy as np

from text_world.halves import draw_one, half_of
from text_world.openings import OPENINGS
from text_world.visits import Pairs

DISHES = """lentil soup
pumpkin risotto
grilled trout
mushroom pie
beef stew
potato salad
spinach lasagne
chicken curry
onion tart
fried noodles
bean chilli
cheese omelette
roast lamb
tomato pizza
leek quiche
crab cakes
pea stew
duck breast
rice pudding
plum dumplings""".splitlines()
WITH = """lemon
walnuts
mint
garlic
ginger
parsley
olives
capers
honey
almonds
sesame
chestnuts
pears
dates
saffron
horseradish""".splitlines()
WISHES = """I would like the {0} with {1}.
Do you have {0}? With {1}, please.
Please bring me {0}, and {1} on it.
The {0}, but with {1}.
A plate of {0} with {1} for me.
{1} and {0}, that is what I fancy.
My order is {0} with {1}.
Can I have {1} on the {0}?
{0} for the lady, with {1}.
Today I feel like {0} with {1}.""".splitlines()
OFFERS = ("One {} with {}, here you are.", "{} with {}.", "Your {} with {}, enjoy.", "Served: {} and {}.")


def draw_echoes(chance: np.random.Generator, judging: bool) -> Pairs:
    """Return orders and dishes, 30 to 50 of them."""
    every = [(dish, side) for dish in half_of(DISHES, judging) for side in half_of(WITH, judging)]
    count = int(chance.integers(30, 51))
    pairs = [every[int(n)] for n in chance.permutation(len(every))[:count]]
    offer, wishes = draw_one(chance, half_of(OFFERS, judging)), half_of(WISHES, judging)
    return Pairs(
        told=tuple(tuple(wish.format(*pair) for wish in wishes) for pair in pairs),
        answers=tuple(offer.format(*pair) for pair in pairs),
        openings=half_of(OPENINGS, judging),
    )
