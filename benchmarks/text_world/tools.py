"""Tools for a task: which one does the job is known to whoever has done it, and the task does not name it."""

from __future__ import annotations

import numpy as np

from text_world.halves import draw_some, half_of
from text_world.openings import OPENINGS
from text_world.visits import Pairs

TOOLS = """hammer|I have to drive nails into a beam.|The picture hook must go into the wall.
screwdriver|The hinge of the cupboard came loose.|I am putting flat-pack furniture together.
hand saw|This plank is too long by a hand.|I want to cut a branch in two.
spirit level|My shelf slopes to the left, I fear.|How do I get this straight and even?
tape measure|I must know how wide the door is.|Will the sofa fit into the niche?
paint roller|The ceiling needs a fresh coat of white.|My living room walls should turn yellow.
watering can|The seedlings look dry.|My balcony flowers are thirsty.
lawn mower|The grass is knee-high.|The garden looks like a meadow after the holidays.
whisk|I need stiff egg whites.|The cream will not thicken by itself.
rolling pin|The dough must be thin and even.|I am making pastry for a flat tart.
ladle|How do I get the soup into bowls?|I am serving stew to twelve guests.
colander|The pasta swims in hot water.|I washed lettuce and it drips.
corkscrew|The wine is still closed.|We have a bottle of red and no way in.
tin opener|The beans are sealed in metal.|I want to get at the canned peaches.
needle and thread|A button fell off my shirt.|The hem of my dress came undone.
steam iron|My blouse is all creased.|The tablecloth has folds from the drawer.
vacuum cleaner|Crumbs are all over the carpet.|The cat sheds hair everywhere on the rug.
mop and bucket|Milk was spilt across the tiles.|The kitchen floor is sticky.
plunger|The sink does not drain.|The toilet is blocked.
wire stripper|I must bare the ends of a cable.|The insulation has to come off the lead.
soldering gun|Two contacts on a circuit board broke apart.|A wire came off the tiny chip.
multimeter|Is there any current in this socket?|I want to know the volts of a battery.
bicycle pump|My front tyre is flat.|The wheel lost air overnight.
jack|I need to lift the car for a wheel change.|How do I get the axle off the ground?
snow shovel|The drive is white and deep.|It fell thirty centimetres last night.
umbrella|It pours and I have to walk.|The forecast says showers all day.
torch|The cellar has no light.|We walk home through the dark wood.
compass|Which way is north out here?|We hike without phones and must keep our bearing.
binoculars|I want to watch birds far away.|The ship on the horizon is too small to see.
telescope|I would like to look at the rings of Saturn.|The craters of the moon interest me.
thermometer|Does the child have a fever?|How warm is the bath for the baby?
kitchen scales|The recipe says 250 grams.|How much does this flour weigh?
magnifying glass|The print is too tiny for my eyes.|I want to look at the stamp's details.
stapler|These ten sheets belong together.|My pages fall apart.
hole punch|The letters must go into a ring binder.|I file receipts in a folder with rings.
calculator|I have to add up forty receipts.|What is 17 percent of 2,384?
fire extinguisher|The pan is in flames!|What should hang in a workshop in case it burns?
first aid kit|I cut my finger badly.|A child fell and grazed the knee.
life jacket|We go sailing and I cannot swim.|My son gets into a canoe for the first time.
climbing rope|We go up a steep rock face.|I must secure my partner on the cliff.
tent|We spend the night outdoors.|Three days in the hills without a hut.
camping stove|I want hot coffee in the wilderness.|How do we cook noodles by the lake?
hair dryer|My head is wet and I must leave.|How do I get my curls dry fast?
nail file|The edge of my thumb is ragged.|My fingertips snag on wool.
axe|The logs are too thick for the fireplace.|I want to split firewood.
wheelbarrow|All that earth has to go behind the house.|I must move bricks across the yard.
chisel|I am carving a groove into oak.|The sculptor chips at marble.
pliers|A nail is stuck and must be pulled.|I need to bend stiff metal wire.
scissors|I am cutting out paper stars.|The gift wrap is too wide.
glue gun|The toy's arm came off.|I stick beads to a frame.
ruler|I need a perfectly straight pencil line.|The margin must be two centimetres.
sieve|There are lumps in the icing sugar.|The flour should be fine and airy.""".splitlines()
"""Each a tool, and two tasks that it is for."""

OFFERS = (
    "Take the {}.",
    "The {} will do.",
    "I would hand you the {}.",
    "You want a {}.",
    "Use the {} for that.",
)


def draw_tools(chance: np.random.Generator, judging: bool) -> Pairs:
    """Return tasks and the tools for them."""
    rows = [line.split("|") for line in draw_some(chance, half_of(TOOLS, judging), 20)]
    offers = half_of(OFFERS, judging)
    wording = offers[int(chance.integers(len(offers)))]
    return Pairs(
        told=tuple((first, second) for _, first, second in rows),
        answers=tuple(wording.format(tool) for tool, _, _ in rows),
        openings=half_of(OPENINGS, judging),
    )
