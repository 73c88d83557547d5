"""How kind a remark sounds, before anything is known of what it means: that it means so is likely, and not certain.

Where few are pleased, what varies most among remarks is how people are displeased, and hundreds of reactions pass
before what is said after the right choice stands out. Sentences that please or displease anybody tell the encoder where
to look first: a ridge regression on their readings. It is a place to begin a fit, and a way to look at feedback;
reactions left out of the fit decide.
"""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import FloatArray

RIDGE = 1.0
"""Of the regression, in units of the readings' mean square: the best by leaving sentences out, one by one."""
KIND = (
    "Thank you very much.",
    "That was a great answer.",
    "I am glad.",
    "Good job.",
    "You helped me.",
    "This is what I was looking for.",
    "I am satisfied.",
    "Everything is fine now.",
    "I agree with you.",
    "Yes, please.",
    "I will recommend you.",
    "A pleasure.",
    "Yes.",
    "Yep, works.",
    "Ok great.",
    "Cool, thx!",
    "Nice one.",
    "Excellent choice.",
    "It works again, what a relief.",
    "The problem is gone.",
    "That solved it at once.",
    "Now it runs without a hitch.",
    "I tried it and it did the trick.",
    "Finally it makes sense to me.",
    "Now I understand how it is done.",
    "That explanation was clear.",
    "I learned something today.",
    "You understood me at once.",
    "You know me so well.",
    "It suits me down to the ground.",
    "I enjoyed it from the first minute to the last.",
    "I loved every page.",
    "We laughed all evening, more of this.",
    "I stayed up late because I could not stop.",
    "My friends want it now, too.",
    "I have already ordered a second one.",
    "I'll take it.",
    "Let's do that.",
    "Book it for us.",
    "I am looking forward to it.",
    "Exactly the thing I had hoped for.",
    "Just the right length and tone.",
    "It fits like a glove.",
    "Better than I had expected.",
    "You saved me a lot of time.",
    "I would choose the same again.",
    "Five stars from me.",
    "Keep it up.",
    "I'm impressed.",
    "Wonderful!",
    "So helpful, bless you.",
    "It arrived and everybody is happy.",
    "Right first time.",
    "That answers my question.",
    "Correct.",
    "Sounds good to me.",
    "My evening is made.",
    "I can finish my work now, thanks.",
    "It feels made for me.",
    "What a lovely surprise.",
    "All sorted.",
    "I'm smiling.",
    "Can't complain, it went well.",
    "That is all I needed, goodbye and thank you.",
)
UNKIND = (
    "What nonsense.",
    "That is a bad answer.",
    "I am angry.",
    "You did a poor job.",
    "You did not help me.",
    "This is not what I was looking for.",
    "I am not satisfied.",
    "Nothing works.",
    "I disagree with you.",
    "No.",
    "I will complain about you.",
    "Forget it.",
    "Nope, doesn't work.",
    "Ugh, no.",
    "Not again.",
    "Meh.",
    "A poor choice.",
    "It is still broken, and I have lost an hour.",
    "The problem is still there.",
    "That changed nothing at all.",
    "Now it is worse than before.",
    "I tried it and it made no difference.",
    "I still do not see how it is done.",
    "Your explanation confused me.",
    "I did not learn anything from this.",
    "You misunderstood me.",
    "You don't know me at all.",
    "That does not suit me in the least.",
    "I was bored after the first minute.",
    "I gave up after ten pages.",
    "Nobody laughed, never again.",
    "I fell asleep over it.",
    "My friends wondered what I was thinking.",
    "I have sent it back.",
    "I won't take it.",
    "Let's not do that.",
    "Cancel it.",
    "I have no use for this.",
    "I had hoped for something else.",
    "Far too long, and the wrong tone.",
    "It doesn't fit.",
    "Worse than I had feared.",
    "You wasted my time.",
    "I would never choose that again.",
    "One star from me.",
    "Please stop.",
    "I'm disappointed.",
    "Terrible!",
    "How unhelpful.",
    "It arrived and everybody is upset.",
    "Wrong again.",
    "That does not answer my question.",
    "Incorrect.",
    "That sounds bad to me.",
    "My evening is ruined.",
    "I still can't get on with my work.",
    "This is meant for somebody else, surely.",
    "What a letdown.",
    "Is that all you can come up with?",
    "That has nothing to do with what I asked.",
    "I'm frustrated.",
    "Why would anybody do it like that?",
    "I shall look for help somewhere else.",
    "Who thought that this was a good idea?",
)


def sound_of(readings: FloatArray, kind: FloatArray, unkind: FloatArray) -> FloatArray:
    """Return how kind readings (n, e) sound, (n,): 1/2 as the kind ones (m, e) do on average, -1/2 as the unkind.

    >>> sound_of(np.array([[3.0, 9.0], [2.0, 0.0]]), np.array([[3.0, 0.0]]), np.array([[1.0, 0.0]]))
    array([0.5, 0. ])
    """
    both = np.concatenate([kind, unkind])
    middle = both.mean(axis=0)
    away, told = both - middle, np.repeat([1.0, -1.0], [len(kind), len(unkind)])
    scale = float((away**2).sum(axis=1).mean())
    if not scale:
        return np.zeros(len(readings))
    along = away.T @ np.linalg.solve(away @ away.T / scale + RIDGE * np.eye(len(both)), told)
    high, low = (float((each.mean(axis=0) - middle) @ along) for each in (kind, unkind))
    if high <= low:
        return np.zeros(len(readings))
    return np.asarray(((readings - middle) @ along - (high + low) / 2) / (high - low))
