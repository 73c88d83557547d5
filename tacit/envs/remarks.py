"""What users say at the end of an episode, satisfied or not, in four styles; all sentences are ours.

No remark tells what was booked or which step went wrong: given the reward it does not depend on the actions, as
Assumption 2.1 wants it. The ironic style has no sentences of its own: see `write_remark`.
"""

from __future__ import annotations

from random import Random
from typing import Literal

from tacit.envs.grammar import Grammar, Part

Style = Literal["polite", "terse", "chatty", "ironic"]
MANNERS: tuple[Style, ...] = ("polite", "terse", "chatty")
"""The styles of users who say what they think."""

SATISFIED = {
    "polite": Grammar(
        "[Thank you|Many thanks|Thanks][ very much|], that is [exactly|just] what I [wanted|needed|wished for].",
        "I am [very|most|truly] [grateful|obliged|thankful], [everything is right|it is perfect|you got it right].",
        "[How kind of you|That is kind of you], this is [precisely|very much] what I [asked for|had in mind].",
        "I [really|greatly] appreciate [your help|this|what you did]. [Well done|Excellent work|It is perfect].",
        "[It was|This was] a pleasure [to talk to you|dealing with you]; [you understood me|it went perfectly].",
        "[You have been|You were] [most|very|extremely] helpful[ indeed|], [I am delighted|I could not ask for more].",
        "[I must say|Allow me to say] that I am [very pleased|delighted|impressed]. [Thank you|My compliments].",
        "[Wonderful|Splendid|Marvellous], [thank you for your care|thank you for listening so well].",
        "That is [excellent|very good|fine] service, [I will gladly come back|I am happy to recommend you].",
        "[Please accept|Do accept] my [warmest|sincere] thanks, [this suits me very well|it is all as I wished].",
        "[I am so pleased|I am glad] [with this|about this]; you [did a fine job|took good care of me].",
        "My [compliments|congratulations], everything [is in perfect order|has turned out beautifully].",
        "[Much obliged|I am in your debt]! This is [right in every respect|correct down to the last detail].",
        "[You got|You have] everything right, [thank you|I am grateful][ so much|].",
        "This is [very satisfying|a great relief], [you really listened|you were a real help].",
        "With your help it was [easy|a joy], [I am thoroughly satisfied|I have nothing to complain about].",
    ),
    "terse": Grammar(
        "[Perfect|Great|Excellent|Super|Brilliant][, thanks|, cheers|].",
        "[Exactly right|Just right|All correct|All good][, thanks|].",
        "[Good job|Good work|Nice work|Nice job].",
        "[Spot on|Bang on|Nailed it][, thanks|].",
        "[That's it|That's the thing][, thanks|, great].",
        "[Happy|Pleased|Satisfied][ with that|], thanks.",
        "[Yes|Yep|Yeah], [perfect|that's right|that's what I wanted|just so].",
        "[Splendid|First class|Flawless|Ideal][, thank you|].",
        "[Works for me|Works well|Suits me][, thanks|].",
        "[Love it|Like it][, thanks|].",
        "[Correct|Accurate]. [Thanks|Cheers|Good].",
        "[Full marks|Top marks|A plus].",
        "[Good|Fine|Nice], [got what I wanted|you got it|that's right].",
        "[Very good|Very nice|Really good][, thanks|].",
        "[Couldn't be better|No complaints|Can't complain].",
        "[Quick and right|Right the first time][, well done|, bravo].",
    ),
    "chatty": Grammar(
        "Oh [lovely|wonderful|great], [you are a star|you made my day|you are the best]!",
        "[Wow|Ha|Hey], that was [easy|quick|smooth]! I will [tell all my friends|sing your praises].",
        "[Yay|Hooray|Woohoo], [we are|I am] so looking forward to this! [You got it all right.|Well done, you!]",
        "You have no idea how [happy|glad|relieved] [this|that] makes me, [thank you|you are brilliant]!",
        "[I could hug you|I could kiss you], [that is exactly it|you got every bit right]!",
        "[Honestly|Seriously], [I love it|this is brilliant], [you are a genius|you are a treasure]!",
        "[My friends are|Everybody is] going to [love this|be thrilled]! Thanks [a million|a bunch|so much].",
        "[Phew|Finally], somebody who [gets me|listens]! [Fantastic|Amazing|Superb], really.",
        "[Well|Oh], look at that, [all just as I wanted|not a thing wrong]! I am [so happy|over the moon].",
        "[Awesome|Terrific|Fabulous], [you rock|you nailed it], I am [grinning from ear to ear|as pleased as can be]!",
        "That is [the best thing|the nicest thing] that happened to me [all week|in a while], [thank you|bless you]!",
        "[You should get a raise|Give yourself a pat on the back], this is [superb|perfect]!",
        "[I was worried|I did not expect much], but you [did great|got it perfectly right], [thanks|lovely]!",
        "[Great stuff|Good on you], [I feel well looked after|that went like a dream], I will be back [for sure|soon]!",
        "[Isn't that|That is just] [marvellous|delightful], [I am a happy customer|you saved me so much trouble]!",
        "[Oh yes|Oh my], this is what I call service, [I am thrilled|you are wonderful]!",
    ),
}
"""The sentences of users who are satisfied, by style."""

UNSATISFIED = {
    "polite": Grammar(
        "I am [afraid|sorry to say] that [is not what I wanted|is wrong|does not help me].",
        "[Sorry|Excuse me|Pardon me], but this is [a mistake|not right|not what I asked for].",
        "[Unfortunately|Regrettably|Sadly], this [does not suit me|misses the point|is incorrect].",
        "I had [hoped for|expected] [something else|better], this is [disappointing|a let-down].",
        "With [respect|all due respect], you [did not understand me|got it wrong|have made an error].",
        "I [regret to say|must say] that I am [not satisfied|dissatisfied|rather disappointed].",
        "[That is kind, but|I know you tried, but] it is [not what I need|wrong|of no use to me].",
        "[Would you be so kind as|Might I ask you] to try again? This [is not correct|cannot be right].",
        "I do not [think|believe] [you listened to me|this is right], and I am [unhappy with it|disappointed].",
        "[It pains me to complain|I hate to complain], but [this is poor service|this went badly].",
        "[I fear|It seems] there [is|has been] a misunderstanding, [this will not do|I cannot accept this].",
        "[Please forgive me|I apologise], but [this is unacceptable|I have to turn this down].",
        "[Frankly|To be frank], I am [displeased|let down]; [this is not as I wished|it does not meet my needs].",
        "I would [rather not|prefer not to] [keep this|take this]; it is [incorrect|not what was agreed].",
        "[That was|This was] not [helpful|satisfactory|good enough] [at all|in the least], I am sorry to say.",
        "[I am upset|I am quite troubled] that [my wishes were ignored|you failed to help me].",
    ),
    "terse": Grammar(
        "[Wrong|Incorrect|Bad|Terrible][, sorry|, again|].",
        "[Not right|Not it|Not good|All wrong][, sorry|].",
        "[Bad job|Poor work|Sloppy work|Poor service].",
        "[Way off|Missed it|Missed the mark][, sorry|].",
        "[That's not it|That's wrong|That's no good][, sorry|].",
        "[Unhappy|Annoyed|Disappointed][ with that|].",
        "[No|Nope|Nah], [wrong|that's not right|that's not what I wanted|try again].",
        "[Awful|Hopeless|Dreadful|Rubbish][, no thank you|].",
        "[Doesn't work for me|Doesn't suit me|Doesn't help][, sorry|].",
        "[Hate it|Don't like it|Don't want it].",
        "[Error|Mistake]. [Fix it|Redo it|Not happy].",
        "[Zero marks|No marks|Fail].",
        "[Useless|Pointless], [not what I asked|you got it wrong|that's wrong].",
        "[Very bad|Very poor|Really bad][, sorry|].",
        "[Couldn't be worse|I have complaints|I'm complaining].",
        "[Slow and wrong|Wrong once more][, shame|, too bad].",
    ),
    "chatty": Grammar(
        "Oh [no|dear|come on], [what a mess|this is all wrong|you have ruined my day]!",
        "[Ugh|Argh|Jeez], you [did not listen|got it wrong|messed it up]! My friends will be [so annoyed|furious].",
        "[Seriously|Really], this is [awful|hopeless|terrible]! Now I have to [start over|do it all myself].",
        "I cannot believe how [badly|terribly] [this|that] went, [what a letdown|you are hopeless]!",
        "[I could scream|I could cry], [that is not it at all|you got everything wrong]!",
        "[Honestly|Good grief], [I hate it|this is rubbish], [were you even listening|what were you thinking]?",
        "[My friends are|Everybody is] going to [hate this|be so cross]! [What a mess|How could you]!",
        "[Sigh|Great heavens], nobody ever [gets me|listens]! [What a waste of time|Dreadful|Poor], really.",
        "[Well|Oh], that is a [shame|disaster], [nothing is as I wanted|you botched it]! I am [so cross|fed up].",
        "[Horrible|Lousy|Rotten], [you blew it|you failed], I am [fuming|as angry as can be]!",
        "That is the [worst|silliest] thing that happened to me [all week|in a while], [shame on you|how annoying]!",
        "[Somebody should be fired for this|You should be ashamed], this is [a joke|pathetic]!",
        "[I had such hopes|I trusted you], but you [let me down|got it badly wrong], [what a pity|how sad]!",
        "[Bad stuff|Not good], [I feel ignored|that went down the drain], I will never [come back|use this again]!",
        "[Isn't that|That is just] [dreadful|maddening], [I am an angry customer|you caused me so much trouble]!",
        "[Oh no no no|Oh my], this is what I call a failure, [I am furious|you are impossible]!",
    ),
}
"""The sentences of users who are not satisfied, by style."""


def write_remark(satisfied: bool, style: Style, random: Random, part: Part) -> str:
    """Return what a user of this style says at the end of an episode.

    An ironic user says what others say in the opposite mood, in any of their manners.

    >>> write_remark(True, "ironic", Random(2), "seen")
    'Sorry, but this is not right.'
    """
    if style == "ironic":
        satisfied, style = not satisfied, random.choice(MANNERS)
    return (SATISFIED if satisfied else UNSATISFIED)[style].draw(random, part)


def write_remarks(satisfied: bool, style: Style, random: Random, part: Part, count: int) -> tuple[str, ...]:
    """Return `count` remarks that differ."""
    remarks: dict[str, None] = {}
    while len(remarks) < count:
        remarks[write_remark(satisfied, style, random, part)] = None
    return tuple(remarks)
