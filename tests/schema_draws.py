"""Values drawn from a JSON schema, as far as our OpenAPI description uses it, and values that break it."""

import json

WORDS = (
    "new",
    "back",
    "start",
    "cart",
    "ask",
    "thanks",
    "hm",
    "",
    " ",
    "0",
    "é",
    "\U0001f600",
    "x" * 300,
    "\x00",
    "..",
)
STRANGE = (
    None,
    True,
    0,
    -1,
    2**70,
    1.5,
    1e308,
    "",
    "x",
    [],
    [[]],
    {},
    {"a": 1},
    "\ud800",
    ["new"],
    {"kind": "finite"},
)


def pick(chance, values):
    return values[int(chance.integers(len(values)))]


def draw_anything(chance, depth=2):
    """Return any value of JSON, now and then a deep one."""
    kind = int(chance.integers(6 if depth else 4))
    if kind < 3:
        return pick(chance, WORDS[:7]) if kind else int(chance.integers(-2, 5))
    if kind == 3:
        return pick(chance, STRANGE[:13])
    if kind == 4:
        return [draw_anything(chance, depth - 1) for _ in range(int(chance.integers(4)))]
    return {pick(chance, WORDS[:6]): draw_anything(chance, depth - 1) for _ in range(int(chance.integers(3)))}


def draw(schema, parts, chance):
    """Return a value that a schema allows; `parts` are those that it refers to by name."""
    if "$ref" in schema:
        return draw(parts[schema["$ref"].rpartition("/")[2]], parts, chance)
    if "anyOf" in schema:
        return draw(pick(chance, schema["anyOf"]), parts, chance)
    if "enum" in schema:
        return pick(chance, schema["enum"])
    return DRAWS.get(schema.get("type"), lambda schema, parts, chance: draw_anything(chance))(
        schema, parts, chance
    )


def _object(schema, parts, chance):
    known = schema.get("properties", {})
    wanted = [name for name in known if name in schema.get("required", ()) or chance.random() < 0.4]
    return {name: draw(known[name], parts, chance) for name in wanted}


def _array(schema, parts, chance):
    size = int(chance.integers(schema.get("minItems", 0), schema.get("minItems", 0) + 3))
    return [draw(schema.get("items", {}), parts, chance) for _ in range(size)]


def _number(schema, parts, chance):
    low = schema.get("minimum", schema.get("exclusiveMinimum", -3))
    high = min(schema.get("maximum", schema.get("exclusiveMaximum", 9)), low + 9)
    if schema["type"] == "integer":
        return int(chance.integers(low, high + 1))
    return float(low + (high - low) * (0.01 + 0.98 * chance.random()))


DRAWS = {
    "object": _object,
    "array": _array,
    "integer": _number,
    "number": _number,
    "string": lambda schema, parts, chance: f"w{int(chance.integers(4))}",
    "boolean": lambda schema, parts, chance: bool(chance.integers(2)),
    "null": lambda schema, parts, chance: None,
}


def spoil(content, chance):
    """Return a body with something wrong: a value, a name, a byte, a part that is missing, or all of it."""
    how = int(chance.integers(5))
    value = json.loads(content) if content else {}
    if how == 0 and isinstance(value, dict) and value:
        value[pick(chance, list(value))] = pick(chance, STRANGE)
        return json.dumps(value).encode()
    if how == 1 and isinstance(value, dict):
        return json.dumps(value | {"more": 1}).encode()
    if how == 2 and isinstance(value, dict) and value:
        value.pop(pick(chance, list(value)))
        return json.dumps(value).encode()
    if how == 3 and content:
        at = int(chance.integers(len(content)))
        return content[:at] + bytes([int(chance.integers(256))]) + content[at + 1 :]
    return pick(
        chance, (b"", b"{", b"[]", b"null", b"\xff\xfe", b"1e999", b'{"a":' * 500, b"[" * 5_000, b'"\\ud800"')
    )
