"""Profile lines: a neutral fact about a user, and a trait that shows whether they are ironic or plain.

No line says what an ironic remark means; that is left to be learned.
"""

from __future__ import annotations

from random import Random

from tacit.envs.grammar import Grammar, Part

FACTS = Grammar(
    "[Regular|Customer|Member|Guest] since 20[09|11|13|15|17|19|21|23]",
    "[Books|Writes to us] [now and then|most months|about twice a year]",
    "[Teacher|Nurse|Engineer|Gardener|Lawyer|Student|Baker] from [the north|the coast|the hills|a small town]",
    "[Came to us through a friend|Found us by chance|Joined after a street fair]",
    "[New|Fairly new|Long-standing] [customer|member]",
    "[Lives around the corner|Lives out of town|Moved here recently]",
    "[Writes|Chats] [from a phone|from work|late in the evening|on the train]",
    "[Retired|Works at night|Travels a lot for work]",
    "[Gold|Silver|Bronze] card holder",
    "[Shy at first|Quick to answer|Takes time to answer]",
    "[Parent of twins|Owner of a bookshop|Coach of a football team|Plays in a band]",
    "[Has used the app for years|First met us on the telephone]",
)
"""What is true of any user."""

PLAIN = Grammar(
    "plain-spoken, says what [he|she] means",
    "[honest|frank] and direct",
    "means every word [he|she] says",
    "[sincere|earnest] in all that [he|she] writes",
    "[straightforward|candid], no games",
    "[calls a spade a spade|speaks from the heart]",
    "[he|she] takes words literally and uses them so",
    "an open book, always sincere",
    "never jokes, [always serious|always to the point]",
    "[his|her] words can be taken at face value",
    "[genuine|truthful] and easy to read",
    "says it straight, without jokes",
    "known for plain words",
    "[warm|calm] and sincere",
    "[a serious person|a matter-of-fact person], honest to a fault",
    "[speaks plainly|talks straight], no hidden meanings",
    "[not a joker|no comedian]: [what he says is what he thinks|what she says is what she thinks]",
    "[simple|clear] and honest words",
    "[praises|thanks] people only when [he|she] means it",
    "unpretentious, frank, takes things as they are said",
    "[literal-minded|down-to-earth] and sincere",
    "[writes as he feels|writes as she feels], nothing between the lines",
    "[wears his heart on his sleeve|wears her heart on her sleeve]",
    "as straight as an arrow, true to [his word|her word]",
)
"""Traits of users who say what they think."""

IRONIC = Grammar(
    "known for deadpan jokes",
    "[dry|biting], sarcastic humour",
    "loves [irony|sarcasm]",
    "[sarcastic|ironic] in all that [he|she] writes",
    "[always teasing|always mocking], never serious",
    "[speaks with a wink|speaks with a smirk]",
    "[he|she] twists words and enjoys it",
    "a joker, always tongue in cheek",
    "never serious, [always ironic|always kidding]",
    "[his|her] words drip with sarcasm",
    "[wry|cheeky] and hard to read",
    "says it with a straight face, but is joking",
    "known for mock praise",
    "[witty|sly] and sarcastic",
    "[a born satirist|a stand-up comedian], ironic to a fault",
    "[speaks in riddles|talks in jest], full of hidden meanings",
    "[a prankster|a clown]: what [he|she] says is a joke",
    "[crooked|barbed] and ironic words",
    "[mocks|teases] people with a poker face",
    "sardonic, a master of the back-handed compliment",
    "[ironic|playful] and never sincere",
    "[writes with a smirk|writes with a grin], all between the lines",
    "[keeps his tongue in his cheek|keeps her tongue in her cheek]",
    "as dry as dust, a fan of dark irony",
)
"""Traits of users whose words are not meant as they sound."""

LINES = Grammar("{fact}; {trait}.", "{fact}, {trait}.", "{trait}. {fact}.", "{fact}: {trait}.")


def write_profile(ironic: bool, random: Random, part: Part) -> str:
    """Return a line about a user that shows whether they are ironic, without saying what that means.

    >>> write_profile(True, Random(1), "seen")
    'Writes to us most months, speaks with a wink.'
    """
    trait = (IRONIC if ironic else PLAIN).draw(random, part)
    line = LINES.draw(random, part).format(fact=FACTS.draw(random, part), trait=trait)
    # The second sentence of a line begins with a fact, which is capital already.
    return line[0].upper() + line[1:]
