"""Trees of checkpoints with one thing in them that does not belong there."""

import copy

import numpy as np

NUMBERS = (
    *(float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 5e-324, 1.5, -0.5),
    *(0, -1, -7, 2, 97, 10**6, 2**31, 2**63, 10**30, -(10**30)),
)
OTHER_TYPES = (None, True, "", "3", "fast learning", [], [1, 2], {}, {"a": 1}, "\ud800", "x" * 100_000)
COUNTED = frozenset(("n", "weight", "square", "counts", "visits", "episodes", "learned", "next_id", "tuples"))
"""Names under which trees hold counts, which are never negative."""


def mutate(tree, chance):
    """Return a copy of a tree with one change, and the change in words."""
    tree = {"": copy.deepcopy(tree)}
    holder, key, path = tree, "", ""
    while (children := inside(holder[key])) and (not path or chance.random() > 0.12):
        holder, key = holder[key], children[chance.integers(len(children))]
        path = f"{path}/{key}"
    words, holder[key] = change(holder[key], chance)
    return f"{path} {words}", tree[""]


def inside(value):
    """Return the keys or places that a part of a tree has."""
    if isinstance(value, dict):
        return list(value)
    return list(range(len(value))) if isinstance(value, list) else []


def change(value, chance):
    """Return a change of one part of a tree, in words and done."""
    if chance.random() < 0.15:
        return swap(value, chance)
    if isinstance(value, dict) and value:
        return change_dict(value, chance)
    if isinstance(value, list) and value:
        return change_list(value, chance)
    if isinstance(value, np.ndarray):
        return change_array(value, chance)
    if isinstance(value, int | float):
        return swap(value, chance, NUMBERS)
    return swap(value, chance)


def swap(value, chance, others=OTHER_TYPES):
    other = others[chance.integers(len(others))]
    return f"{short(value)} -> {short(other)}", copy.deepcopy(other)


def change_dict(value, chance):
    key = list(value)[chance.integers(len(value))]
    match chance.integers(3):
        case 0:
            return f"without {key!r}", {k: v for k, v in value.items() if k != key}
        case 1:
            return "with a stranger", value | {"stranger": 1}
        case _:
            return f"{key!r} renamed", {f"{k}?" if k == key else k: v for k, v in value.items()}


def change_list(value, chance):
    match chance.integers(4):
        case 0:
            return "one shorter", value[:-1]
        case 1:
            return "last one twice", [*value, copy.deepcopy(value[-1])]
        case 2:
            return "emptied", []
        case _:
            return "reversed", value[::-1]


SHAPES = {
    "flat": lambda a: a.ravel(),
    "transposed": lambda a: a.T,
    "one axis more": lambda a: a[None],
    "one row less": lambda a: a[:-1],
    "first row twice": lambda a: np.concatenate([a[:1], a]),
    "one column less": lambda a: a[..., :-1],
    "empty": lambda a: a[:0],
    "a number": lambda a: np.array(3.0),
    "a million rows": lambda a: np.zeros((10**6, *a.shape[1:]), a.dtype),
}
TYPES = ("float32", "float16", "int8", "int64", "uint64", "bool", "complex128", "U3", "S3", "datetime64[s]")
ENTRIES = (np.nan, np.inf, -np.inf, -1, -1e9, 1e308, 2**62, 1000, 0.5)


def change_array(value, chance):
    kind = chance.integers(3)
    if kind == 0 and value.ndim:
        name = list(SHAPES)[chance.integers(len(SHAPES))]
        return f"{value.shape} {name}", np.ascontiguousarray(SHAPES[name](value))
    if kind == 1:
        name = TYPES[chance.integers(len(TYPES))]
        return f"{value.dtype} -> {name}", cast(value, name)
    return set_entry(value, chance)


def cast(value, name):
    with np.errstate(all="ignore"):
        return np.zeros(value.shape, name) if name.startswith("datetime") else value.astype(name)


def set_entry(value, chance):
    """Return an array with an entry that does not belong, in floats if need be for it to be there."""
    entry = ENTRIES[chance.integers(len(ENTRIES))]
    changed = value.astype(float) if isinstance(entry, float) and value.dtype.kind != "f" else value.copy()
    if not changed.size:
        return f"empty -> [{entry}]", np.array([entry])
    places = slice(None) if chance.random() < 0.2 else chance.integers(changed.size)
    with np.errstate(all="ignore"):
        changed.reshape(-1)[places] = np.float64(entry) if changed.dtype.kind == "f" else int(entry)
    return f"{value.dtype} {value.shape} with {entry}", changed


def short(value):
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def find_unsound(value, path="", name=""):
    """Yield where a tree holds a number that is none, or a negative count."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from find_unsound(item, f"{path}/{key}", key)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from find_unsound(item, f"{path}/{place}", name)
    elif isinstance(value, np.ndarray | float | int):
        numbers = np.asarray(value)
        if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
            yield f"{path} is not finite"
        elif numbers.dtype.kind in "fi" and name in COUNTED and (numbers < 0).any():
            yield f"{path} is negative"
