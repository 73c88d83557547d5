"""What disks, networks and editors do to the bytes of a file."""


def cut(content, chance):
    return content[: chance.integers(len(content))]


def flip_bit(content, chance):
    return flip(content, chance, 1)


def flip_several(content, chance):
    return flip(content, chance, int(chance.integers(2, 9)))


def flip(content, chance, times):
    damaged = bytearray(content)
    for place in chance.integers(len(content), size=times):
        damaged[place] ^= 1 << int(chance.integers(8))
    return bytes(damaged)


def set_bytes(content, chance):
    damaged = bytearray(content)
    for place in chance.integers(len(content), size=int(chance.integers(1, 5))):
        damaged[place] = chance.integers(256)
    return bytes(damaged)


def blank(content, chance):
    """A block that the disk returned empty."""
    begin, end = stretch(content, chance)
    return content[:begin] + bytes(end - begin) + content[end:]


def lose(content, chance):
    begin, end = stretch(content, chance)
    return content[:begin] + content[end:]


def repeat(content, chance):
    begin, end = stretch(content, chance)
    return content[:end] + content[begin:]


def add_garbage(content, chance):
    return content + chance.bytes(int(chance.integers(1, 300)))


def insert_garbage(content, chance):
    begin, _ = stretch(content, chance)
    return content[:begin] + chance.bytes(int(chance.integers(1, 100))) + content[begin:]


def stretch(content, chance, most=200):
    begin = int(chance.integers(len(content)))
    return begin, begin + int(chance.integers(1, most))


DAMAGES = {
    "cut": cut,
    "bit flipped": flip_bit,
    "bits flipped": flip_several,
    "bytes set": set_bytes,
    "blanked": blank,
    "lost in the middle": lose,
    "repeated in the middle": repeat,
    "garbage after": add_garbage,
    "garbage in the middle": insert_garbage,
}
