"""Rows out of whatever a server answers: JSON in many shapes, a line a row, or Python's own notation. Nothing is rounded
on the way: a number stays the text that the model reads."""

import ast
import datetime
import json


class Number(str):
    """A number as it was written."""


class Pairs(list):
    """An object, with every member that was written, also twice."""


class Unreadable(Exception):
    """No rows could be found in an answer."""


def texts(result):
    """The texts that the model reads."""
    return [block["text"] for block in result.get("content", []) if block.get("type") == "text"]


def rows(result):
    """The rows of a result, each a list of pairs of a name and a value. Fails if it is an error, or has none."""
    blocks = texts(result)
    if result.get("isError") or not blocks:
        raise Unreadable(" ".join(blocks)[:300] or "an empty answer")
    found = [parse(block) for block in blocks]
    if len(found) == 1 and (inside := find(found[0])) is not None:
        return inside
    if all(isinstance(row, Pairs) and "error" not in dict(row) for row in found):
        return found  # A block a row.
    raise Unreadable(" ".join(blocks)[:300])


def parse(text):
    """One text: JSON, or Python's notation, perhaps after lines of words."""
    for start in [0] + [place + 1 for place, letter in enumerate(text[:2000]) if letter == "\n"]:
        if text[start:start + 1] in ("{", "["):
            for reader in (read_json, read_python):
                try:
                    return reader(text[start:])
                except (ValueError, SyntaxError, RecursionError):
                    pass
    raise Unreadable(text[:300])


def read_json(text):
    """JSON with numbers as text and objects as pairs."""
    return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=Number, object_pairs_hook=Pairs)


def find(value):
    """The rows in an answer: the list itself, or the member `rows` wherever it lies, with its `columns` where it has lists."""
    if isinstance(value, Pairs):
        members = dict(value)
        if isinstance(members.get("rows"), list):
            names = [dict(name)["name"] if isinstance(name, Pairs) else name for name in members.get("columns", [])]
            return [row if isinstance(row, Pairs) else list(zip(names, row)) for row in members["rows"]]
        inside = [find(member) for member in members.values() if isinstance(member, (list, Pairs))]
        return next((rows for rows in inside if rows is not None), None)
    if isinstance(value, list):
        if all(isinstance(row, Pairs) and "rows" not in dict(row) for row in value):
            return value
        inside = [find(member) for member in value]
        return next((rows for rows in inside if rows is not None), None)
    return None


def read_python(text):
    """Python's notation of plain values, dates, decimals and a few more; calls stand for values of their types."""
    return from_node(ast.parse(text.strip(), mode="eval").body, text.strip())


def from_node(node, text):
    """A value of a syntax tree."""
    match node:
        case ast.Constant(value=None | bool() | str()):
            return node.value
        case ast.Constant(value=bytes()):
            return "\\x" + node.value.hex()
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
            return Number(ast.get_source_segment(text, node))
        case ast.Name() | ast.UnaryOp(operand=ast.Name()):
            return Number(ast.unparse(node))
        case ast.List() | ast.Tuple():
            return [from_node(item, text) for item in node.elts]
        case ast.Dict():
            return Pairs((from_node(key, text), from_node(item, text)) for key, item in zip(node.keys, node.values))
        case ast.Call():
            return from_call(node, text)
    raise ValueError(ast.unparse(node))


def from_call(node, text):
    """What a call such as `Decimal('1.10')` stands for."""
    name = ast.unparse(node.func).rsplit(".", 1)[-1]
    match name:
        case "Decimal":
            return Number(node.args[0].value)
        case "UUID" | "IPv4Interface" | "IPv4Address":
            return node.args[0].value
        case "Range":
            low, high, bounds = (from_node(item, text) for item in node.args)
            return f"{bounds[0]}{low},{high}{bounds[1]}"
        case "date" | "time" | "datetime":
            zone = any("utc" in ast.unparse(word.value).lower() for word in node.keywords if word.arg == "tzinfo")
            moment = getattr(datetime, name)(*(ast.literal_eval(item) for item in node.args))
            return (moment.replace(tzinfo=datetime.UTC) if zone else moment).isoformat()
    return ast.unparse(node)
