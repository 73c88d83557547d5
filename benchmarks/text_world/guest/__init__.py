"""Nine more worlds by somebody who had not seen the learner: larger catalogues, up to four turns, early ends.

What people say, ask for and are offered stands in one data file, unchanged. Worlds and people follow from the same
draws as when they were written. There are no halves: each seed draws its own part of the catalogue and of the
phrasings, so that seeds share words, and those that judge are only other seeds.
"""
