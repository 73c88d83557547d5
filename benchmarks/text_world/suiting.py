"""What suits a profile: the request is the same for everybody, what is known of the person decides."""

from __future__ import annotations

import numpy as np

from text_world.halves import draw_some, half_of
from text_world.visits import Pairs

SUITS = """Spends every weekend on rock faces.|A harness and a bag of chalk.
Bakes sourdough at five in the morning.|A proofing basket and rye flour.
Plays the cello in an amateur orchestra.|A block of rosin and a music stand.
Keeps bees behind the house.|A smoker and a veil.
Has three small children and no time.|A meal kit that is ready in ten minutes.
Is a retired sea captain.|A brass sextant for the wall.
Collects stamps from the colonies.|A pair of tweezers and an album.
Rides a motorbike through the Alps.|Leather gloves with knuckle guards.
Never eats meat or fish.|A cookbook full of vegetables.
Trains for a marathon.|A pair of light running shoes.
Cannot live without black coffee.|A hand grinder and Ethiopian beans.
Swears by green leaves from Japan.|A cast-iron pot and sencha.
Paints landscapes in oil.|A set of hog-bristle brushes.
Knits jumpers for the whole family.|Six skeins of merino wool.
Lives with two old tomcats.|A scratching post.
Walks a young labrador at dawn.|A leash and a rubber ball.
Reads one crime novel a week.|A thriller about a missing judge.
Loves verse and learns it by heart.|A volume of sonnets.
Is learning to speak Spanish.|A vocabulary trainer from Madrid.
Spends nights with a telescope.|A revolving star chart.
Grows tomatoes on the balcony.|A bag of compost and seeds.
Swims two kilometres a day.|A pair of goggles and a cap.
Is an accountant with a love of order.|A label printer for files.
Dances tango on Thursdays.|Shoes with suede soles.
Wants to save every cent.|A voucher for the discount store.
Likes to be pampered and pays for it.|A day at a luxury spa.
Sits at a screen all day with a stiff back.|An ergonomic chair.
Has trouble to fall asleep.|Earplugs and a lavender pillow.
Repairs old wrist watches.|A loupe and tiny screwdrivers.
Builds model railways in the attic.|A steam engine in scale H0.
Rows on the river in an eight.|A cushion for the sliding seat.
Spends the winter on skis.|A tin of wax for cold snow.
Fishes for trout in silence.|A box of hand-tied flies.
Plays chess against strangers in the park.|A clock with two dials.
Writes letters by hand.|A fountain pen and cream paper.
Takes pictures of birds.|A long lens and a tripod.
Plays video games till late.|A controller with extra buttons.
Meditates before sunrise.|A round cushion and a singing bowl.
Camps with the scouts every summer.|A sleeping bag and a mess tin.
Throws pots in a shed.|Ten kilos of stoneware clay.
Has just become a father.|A pack of nappies and a bib.
Is about to move abroad.|A set of sturdy suitcases.
Cares for orchids on the windowsill.|A mister and bark chips.
Cycles to work in any weather.|Mudguards and a rain cape.
Has a sweet tooth.|A box of pralines.
Loves food that burns the tongue.|A row of chilli sauces.
Sings soprano in the church choir.|A score of the Requiem.
Makes furniture from oak.|A Japanese plane.
Is fond of magic tricks.|A deck of marked cards.
Reads about emperors and battles.|A history of Rome in four parts.
Lifts weights six times a week.|A tub of protein powder.
Brews ale in the garage.|A sack of malt and hops.""".splitlines()
"""Each what is known of a person, and what suits them."""

ASKED = """What could I get myself?
Any idea what I might like?
Surprise me with something.
What do you suggest for me?
I have a little money to spend, on what?
My birthday is near; what should I wish for?
Find me something nice.
What would make me happy today?
Recommend something that is really me.
I want to treat myself, what do you have?
Is there anything here for somebody like me?
What should I put on my list?
Pick one for me, please.
Tell me what to take.
I can't decide; what would you choose for me?
Show me something good.""".splitlines()


def draw_suiting(chance: np.random.Generator, judging: bool) -> Pairs:
    """Return profiles and what suits them."""
    rows = [line.split("|") for line in draw_some(chance, half_of(SUITS, judging), 20)]
    return Pairs(
        told=tuple((who,) for who, _ in rows),
        answers=tuple(what for _, what in rows),
        openings=half_of(ASKED, judging),
        by_profile=True,
    )
