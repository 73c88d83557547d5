"""Small files that unpack to more than the machine has, or nest deeper than Python goes: refused, with little memory.

A checkpoint of this size holds a few megabytes at most, so 512 MB are more than enough to find out that it is wrong.
"""

import io
import json
import struct
import zipfile
import zlib

from attack_subjects import agent_file, load_subject, resaved, subject_file
from campaign import changed, listed, memory_limit

from tacit.base.checkpoint import FORMAT, HEADER, VERSION

ENOUGH = 512 << 20
BLOCK = 1 << 20


def rewritten(content, members):
    """Return a checkpoint with some of its members replaced, or with new ones; None takes one out."""
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in {**dict.fromkeys(old.namelist()), **members}:
            body = members.get(name, None if name in members else old.read(name))
            if body is not None:
                new.writestr(name, body)
    return packed.getvalue()


def bomb(content, name, megabytes):
    """Return a checkpoint in which a member unpacks to that many megabytes of zeros."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(bytes(BLOCK)) + packer.flush(zlib.Z_FULL_FLUSH)
    last = packer.flush()
    deflated = first * megabytes + last
    marker = b"\x01" * 64
    swapped = rewritten(content, {name: None})
    packed = io.BytesIO(swapped)
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(name), marker)
    return stuff(packed.getvalue(), marker, deflated, megabytes * BLOCK)


def stuff(content, marker, deflated, size):
    """Return a zip in which the member that holds the marker holds other, deflated bytes."""
    place = content.rindex(marker)
    central = content.index(b"PK\x01\x02", place)
    while content[central + 42 : central + 46] != struct.pack("<L", header_before(content, place)):
        central = content.index(b"PK\x01\x02", central + 4)
    described = struct.pack("<LL", len(deflated), size)
    local = bytearray(content[header_before(content, place) : place])
    local[8:10], local[18:26] = struct.pack("<H", 8), described
    directory = bytearray(content[central:])
    directory[10:12], directory[20:28] = struct.pack("<H", 8), described
    begin = header_before(content, place)
    start = content.index(b"PK\x01\x02", place)
    body = content[:begin] + bytes(local) + deflated
    entries = content[start:central] + bytes(directory)
    end = entries.rindex(b"PK\x05\x06")
    moved = bytearray(entries)
    moved[end + 16 : end + 20] = struct.pack("<L", len(body))
    return body + bytes(moved)


def header_before(content, place):
    return content.rindex(b"PK\x03\x04", 0, place)


def npy(shape, kind="<f8", body=b"", version=b"\x01\x00", literal=None):
    """Return an array's file whose header says what it likes."""
    header = literal or repr({"descr": kind, "fortran_order": False, "shape": shape})
    return b"\x93NUMPY" + version + struct.pack("<H", len(header) % 65536) + header.encode() + body


def header_with(tree):
    return json.dumps({"format": FORMAT, "version": VERSION, "kind": "agent", "tree": tree}).encode()


DEEP = 100_000
ARRAYS = {
    "a terabyte declared": npy((1 << 37,)),
    "4 GB declared": npy((1 << 29,)),
    "2^62 rows declared": npy((1 << 62,)),
    "shape overflows": npy((1 << 33, 1 << 33)),
    "negative shape": npy((-1,)),
    "no shape": npy(None),
    "shape of a billion axes": npy((1,) * 5000),
    "objects": npy((2,), "|O", b"cos\nsystem\n(S'true'\ntR."),
    "fields": npy((2,), [("a", "<f8"), ("b", "<i4")], bytes(24)),
    "long strings": npy((2,), "<U100000000"),
    "unknown version": npy((2,), body=bytes(16), version=b"\x09\x00"),
    "header is nested": npy(None, literal="[" * 9000 + "]" * 9000),
    "header is code": npy(None, literal="__import__('os').getcwd()"),
    "header is empty": npy(None, literal=" "),
    "empty": b"",
    "not an array": b"hello",
    "zeros": bytes(1000),
}
HEADERS = {
    "nested lists": b'{"format": "tacit checkpoint", "version": 2, "kind": "agent", "tree": '
    + b"[" * DEEP
    + b"]" * DEEP
    + b"}",
    "nested dicts": header_with({"dict": {}})[:-1]
    + b', "more": '
    + b'{"a":' * DEEP
    + b"1"
    + b"}" * DEEP
    + b"}",
    "digits": b'{"format": "tacit checkpoint", "version": ' + b"9" * 10_000 + b"}",
    "no tree": json.dumps({"format": FORMAT, "version": VERSION, "kind": "agent"}).encode(),
    "tree of nothing": header_with(None),
    "tree of a number": header_with(3),
    "tree of a list": header_with([]),
    "array that is not there": header_with({"array": 99}),
    "array by a name": header_with({"array": "../../etc/passwd"}),
    "array of itself": header_with({"array": {"array": 0}}),
    "array and dict": header_with({"array": 0, "dict": {}}),
    "dict of a list": header_with({"dict": [1]}),
    "neither": header_with({"other": 1}),
    "UTF-16": header_with({}).decode().encode("utf-16"),
    "NUL": b"\x00" * 50,
    "version as text": json.dumps({"format": FORMAT, "version": "2"}).encode(),
    "kind of a list": json.dumps({"format": FORMAT, "version": VERSION, "kind": ["agent"]}).encode(),
}


def cases():
    for name in ("fast", "table model"):
        file = subject_file(name)
        for words, body in ARRAYS.items():
            yield f"{name}, array: {words}", (name, rewritten(file, {"0.npy": body}))
        for words, body in HEADERS.items():
            yield f"{name}, header: {words}", (name, rewritten(file, {HEADER: body}))
        for member in (HEADER, "0.npy"):
            yield f"{name}, {member} unpacks to 1 GB", (name, bomb(file, member, 1024))
        for member in (HEADER, "0.npy"):
            yield f"{name}, no {member}", (name, rewritten(file, {member: None}))
    yield "not a zip", ("fast", b"hello")
    yield "empty", ("fast", b"")
    yield "empty zip", ("fast", b"PK\x05\x06" + bytes(18))


def test_bombs_are_refused(attack, tmp_path):
    def judge(given):
        name, content = given
        (tmp_path / "bomb").write_bytes(content)
        with memory_limit(ENOUGH):
            loaded = load_subject(name, tmp_path / "bomb")
        if resaved(loaded, tmp_path / "again") != subject_file(name):
            raise changed("it loads, and holds something else")

    attack("checkpoints, bombs", listed(cases()), judge)


def test_control_the_bomb_is_a_zip_that_unpacks(tmp_path):
    """With few megabytes, it is what it says it is, but for the check sum."""
    (tmp_path / "bomb").write_bytes(bomb(agent_file("fast"), "0.npy", 3))
    with zipfile.ZipFile(tmp_path / "bomb") as archive:
        info = archive.getinfo("0.npy")
        assert info.file_size == 3 * BLOCK > 100 * info.compress_size
        assert len(archive.open(info).read(2 * BLOCK)) == 2 * BLOCK
        assert archive.read("1.npy")
