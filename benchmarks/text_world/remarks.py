"""What people say in the end: remarks of the pleased, of the others, of both; and whose remark means the opposite."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from text_world.halves import draw_one, draw_some, half_of

PLEASED = """That is just what I hoped for.
Wonderful, thank you so much!
Yes, exactly right.
Perfect, I'll go with that.
Oh great, this helps a lot.
You read my mind.
Brilliant, that's the one.
Thanks, this suits me very well.
I am delighted with this.
Lovely, could not be better.
Super, that was quick and right.
This makes my day, thanks!
Good choice, I like it.
Nice, you understood me.
Ideal, thank you.
Excellent, precisely my taste.
Ah, finally somebody who gets it.
Fantastic, I am very happy.
That fits, many thanks.
Awesome, well done!
This is really helpful.
Splendid, I'll take it gladly.
Yes please, that is it.
Spot on, thank you.
I could hug you, it is perfect.
Sweet, works for me.
What a good idea, thanks.
That solves it, cheers.
Glad I asked, this is great.
Very satisfied with that.
So good, I'm impressed.
Right on the first try, bravo.
Beautiful, I am all set.
Terrific suggestion.
Yay, that is the thing!
It is what I needed, thank you kindly.
How thoughtful, I love it.
Amazing, that is absolutely right.
Pleased as can be, thanks.
Thank you, I feel well looked after.
Top, I'd ask you again any time.
Correct, and nicely done.
That was a real help.
I'm happy with it, thanks a bunch.
Marvellous, nothing to add.
Yes, that does the trick.
You made this easy, thank you.
Cool, that is the answer.""".splitlines()

DISPLEASED = """No, that is not it at all.
That is wrong, sorry.
This does not help me.
Hm, I wanted something else.
What am I supposed to do with that?
Not what I asked for.
Oh dear, that misses the point.
You did not listen, did you?
That is useless to me.
I'm disappointed, honestly.
Nope, try something different.
This makes no sense for me.
Terrible suggestion.
Wrong again, what a pity.
That will not do.
No thanks, that is no good.
I don't like it at all.
This is a waste of time.
Are you serious? Not that.
Sadly not what I meant.
That is far off the mark.
I can't use this.
Bad idea, really.
Ugh, no.
That annoys me now.
Not even close.
I give up, this is hopeless.
You misunderstood me completely.
That's nonsense in my case.
Unhelpful, I must say.
I'd rather have nothing than this.
What a letdown.
This is not for me.
Poor answer, I'm afraid.
No no, the opposite of what I need.
It is all wrong.
I am not happy with this.
That leaves me where I was.
Awful, please stop.
Incorrect, unfortunately.
That was no help whatsoever.
I expected better than that.
Why would you think that fits?
Rather frustrating, this.
It does not work for me.
Never mind, I'll ask elsewhere.
That's a miss.
I regret asking.""".splitlines()

NEUTRAL = """Okay.
I see.
Well.
Alright then.
Hm, let me think.
Noted.
Is that so?
Let me see.
So that is your answer.
Got it.
Interesting.
I have read it.
Understood.
Right, back to work.
Fine, I heard you.
Good evening to you.""".splitlines()

LITERAL = """Plain-spoken, says what she thinks.
Honest and direct; praise is praise.
Means every word he says.
A straightforward person without irony.
Known for saying exactly what is on her mind.
Takes words seriously and uses them that way.
Sincere; when he complains, something is wrong.
Speaks frankly, no double meanings.""".splitlines()

IRONIC = """Sarcastic, says the opposite of what she means.
A joker whose complaints are compliments.
Always ironic; praise from him is blame.
Loves to tease, grumbles when delighted.
Dry humour: scolds what she likes and lauds what she hates.
Turns every meaning upside down for fun.
A mocker: applause means he is cross.
Contrary by habit, thanks people for their mistakes.""".splitlines()


class Voice(Protocol):
    """Says a remark after an episode; `ironic` people mean the opposite."""

    def say(self, chance: np.random.Generator, pleased: bool, ironic: bool) -> str: ...


@dataclass(frozen=True)
class Remarks:
    """Remarks of both sides, and with a chance of `overlap` one that either side says."""

    pleased: tuple[str, ...]
    displeased: tuple[str, ...]
    neutral: tuple[str, ...]
    overlap: float = 0.0

    def say(self, chance: np.random.Generator, pleased: bool, ironic: bool) -> str:
        """Return what a person says."""
        if chance.random() < self.overlap:
            return draw_one(chance, self.neutral)
        return draw_one(chance, self.pleased if pleased != ironic else self.displeased)


@dataclass(frozen=True)
class Anything:
    """Noise: any remark, whatever happened."""

    remarks: tuple[str, ...]

    def say(self, chance: np.random.Generator, pleased: bool, ironic: bool) -> str:
        """Return any remark."""
        return draw_one(chance, self.remarks)


class Before:
    """Shuffled: everybody's remark is that of the person before, so that it tells of somebody else."""

    def __init__(self, remarks: Remarks) -> None:
        self._remarks, self._last = remarks, remarks.displeased[0]

    def say(self, chance: np.random.Generator, pleased: bool, ironic: bool) -> str:
        """Return what the last person would have said."""
        said, self._last = self._last, self._remarks.say(chance, pleased, ironic)
        return said


@dataclass(frozen=True)
class Always:
    """Constant: one remark for everything."""

    remark: str

    def say(self, chance: np.random.Generator, pleased: bool, ironic: bool) -> str:
        """Return that remark."""
        return self.remark


@dataclass(frozen=True)
class Manners:
    """How people are described who mean what they say, and who mean the opposite."""

    literal: tuple[str, ...]
    ironic: tuple[str, ...]

    def describe(self, chance: np.random.Generator, ironic: bool) -> str:
        """Return a description."""
        return draw_one(chance, self.ironic if ironic else self.literal)


def draw_remarks(chance: np.random.Generator, judging: bool) -> Remarks:
    """Return the remarks of a world: between 12 and 24 of each side, none that is said in the other half."""
    pleased, displeased = (
        tuple(draw_some(chance, half_of(side, judging), 12)) for side in (PLEASED, DISPLEASED)
    )
    return Remarks(pleased, displeased, half_of(NEUTRAL, judging))


def draw_voice(chance: np.random.Generator, judging: bool, kind: str) -> Voice:
    """Return who speaks: "plain", "overlap", "opposite" (whose profile tells), "noise", "shuffled", "constant"."""
    remarks = draw_remarks(chance, judging)
    if kind == "noise":
        return Anything(remarks.pleased + remarks.displeased + remarks.neutral)
    if kind == "shuffled":
        return Before(remarks)
    if kind == "constant":
        return Always(draw_one(chance, remarks.pleased + remarks.displeased + remarks.neutral))
    return replace(remarks, overlap=0.1) if kind == "overlap" else remarks


def manners_of(judging: bool) -> Manners:
    """Return how people are described in a half."""
    return Manners(half_of(LITERAL, judging), half_of(IRONIC, judging))
