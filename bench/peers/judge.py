"""Whether a value came through. Every notation from which the value can be told without knowing the driver counts as kept:
the answer is read as text, as the model reads it."""

import base64
import re
from datetime import datetime
from decimal import Decimal, InvalidOperation

from answers import Number, Pairs, Unreadable, parse, read_json, rows, texts

KEPT, CUT, CHANGED, LOST, FAILED = "kept", "cut", "changed", "lost", "failed"


def judge(case, result):
    """What became of a case's value in the result of its statement."""
    try:
        found = rows(result)
    except Unreadable:
        return FAILED
    if case.kind == "names":
        return KEPT if len(found) == 1 and [value for _, value in found[0]] == ["1", "2"] else LOST
    values = [value for name, value in found[0] if name == "v"] if len(found) == 1 else []
    if len(values) != 1:
        return LOST
    value = values[0]
    if case.kind == "null":
        return KEPT if value is None else CHANGED
    if value is None or (value in ("", [], "{}") and case.want):
        return LOST
    if case.kind == "long":
        return long_text(case.want, value, " ".join(texts(result)))
    if value == case.want and isinstance(value, str):
        return KEPT
    try:
        return KEPT if SAME[case.kind](case.want, value) else CHANGED
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, InvalidOperation, Unreadable):
        return CHANGED


def long_text(want, value, text):
    """A long text: whole, or shorter with its whole length or the cut told somewhere in the answer."""
    if value == want:
        return KEPT
    told = str(len(want)) in text or f"{len(want):,}" in text or "truncated\":true" in text.replace(" ", "")
    return CUT if told and len(value) < len(want) and value[:1000] == want[:1000] else CHANGED


def numeric(want, value):
    """All digits, also those after the point that are 0."""
    return str(value).lower() in (want.lower(), want.lower().replace("infinity", "inf"))


def real(want, value):
    """The same float."""
    ours, theirs = float(want), float(value)
    return ours == theirs or (ours != ours and theirs != theirs)


def moment(text):
    """A time of a day, with or without a zone."""
    return datetime.fromisoformat(text.strip())


def instant(want, value):
    """The same instant, to the microsecond; without a zone nobody knows which."""
    return moment(value).tzinfo is not None and moment(value) == moment(want)


def local(want, value):
    """The same reading of a clock, and no zone that was not there."""
    return moment(value).tzinfo is None and moment(value) == moment(want)


def clock(want, value):
    """The same time of day, as text or in microseconds; 24:00:00 is not 00:00:00."""
    hours, minutes, seconds = (int(part) for part in want.split(":"))
    return isinstance(value, Pairs) and int(dict(value)["Microseconds"]) == ((hours * 60 + minutes) * 60 + seconds) * 1_000_000


def interval(want, value):
    """Months, days and microseconds, each by itself."""
    return span(want) == span(value)


def span(value):
    """PostgreSQL's text (as far as the case needs it), ISO 8601, or an object of parts."""
    if isinstance(value, Pairs):
        part = {name.lower(): Decimal(number) for name, number in value if isinstance(number, Number)}
        seconds = part.get("hours", 0) * 3600 + part.get("minutes", 0) * 60 + part.get("seconds", 0)
        rest = part.get("milliseconds", 0) * 1000 + part.get("microseconds", 0)
        return part.get("years", 0) * 12 + part.get("months", 0), part.get("days", 0), seconds * 1_000_000 + rest
    found = (re.fullmatch(r"(\d+) mon (\d+) days (\d+):(\d+):([\d.]+)", value)
             or re.fullmatch(r"P(\d+)M(\d+)DT(\d+)H(\d+)M([\d.]+)S", value))
    months, days, hours, minutes, seconds = (Decimal(group) for group in found.groups())
    return months, days, (hours * 3600 + minutes * 60 + seconds) * 1_000_000


def same_json(want, value):
    """The same members with the same digits, nested or as text."""
    value = parse(value) if isinstance(value, str) else value
    return value is not None and ordered(read_json(want)) == ordered(value)


def ordered(value):
    """JSON without the order of members."""
    if isinstance(value, Pairs):
        return sorted((name, ordered(member)) for name, member in value)
    return [ordered(member) for member in value] if isinstance(value, list) else (type(value).__name__, value)


def array(want, value):
    """The same elements in the same lists."""
    elements = read_json(re.sub(r"(?<=[{,])NaN", '"NaN"', want).replace("{", "[").replace("}", "]").replace("NULL", "null")
                         .replace('"null"', '"NULL"'))
    return same_elements(elements, parse(value) if isinstance(value, str) else value)


def same_elements(want, value):
    if isinstance(want, list):
        return isinstance(value, list) and len(want) == len(value) and all(map(same_elements, want, value))
    return want is value if want is None or value is None else str(want).lower() == str(value).lower()


def octets(want, value):
    """Hex, base64, or a list of bytes."""
    if isinstance(value, Pairs):
        members = dict(value)
        value = members["data"] if "data" in members else members["base64"]
    if isinstance(value, list):
        return bytes(int(octet) for octet in value) == bytes.fromhex(want[2:])
    if re.fullmatch(r"(\\x|0x)?([0-9a-f]{2})+", value):
        return bytes.fromhex(re.sub(r"^(\\x|0x)", "", value)) == bytes.fromhex(want[2:])
    return base64.b64decode(value, validate=True) == bytes.fromhex(want[2:])


def uuid(want, value):
    """Text, or 16 bytes."""
    digits = want.replace("-", "")
    if isinstance(value, list):
        return bytes(int(octet) for octet in value) == bytes.fromhex(digits)
    return value.lower().replace("-", "") == digits


def bits(want, value):
    """An object of bytes and a length."""
    members = dict(value)
    octets_ = base64.b64decode(members["Bytes"])
    return "".join(f"{octet:08b}" for octet in octets_)[:int(members["Len"])] == want


def ranges(want, value):
    """The same bounds, as text or as an object of them."""
    if isinstance(value, Pairs):
        members = dict(value)
        kinds = {"105": "[]", "101": "()"}
        low, high = kinds[members["LowerType"]][0], kinds[members["UpperType"]][1]
        value = f"{low}{members['Lower']},{members['Upper']}{high}"
    return value.replace(" ", "") == want


def composite(want, value):
    """The fields, in order."""
    fields = [member for _, member in value] if isinstance(value, Pairs) else value
    return [str(field or "") for field in fields] == [field.strip('"') for field in want[1:-1].split(",")]


def point(want, value):
    """An object of the two."""
    members = {name.lower(): member for name, member in value}
    members = {name.lower(): member for name, member in members["p"]} if "p" in members else members
    return [float(members["x"]), float(members["y"])] == [float(number) for number in want[1:-1].split(",")]


SAME = {
    "text": lambda want, value: isinstance(value, str) and not isinstance(value, Number) and value == want,
    "boolean": lambda want, value: value is True or value == "true",
    "integer": lambda want, value: int(value) == int(want),
    "numeric": numeric,
    "float": real,
    "infinity": lambda want, value: value.lower().replace("infinity", "inf") == want.replace("infinity", "inf"),
    "time": clock,
    "instant": instant,
    "local": local,
    "interval": interval,
    "json": same_json,
    "list": array,
    "bytes": octets,
    "uuid": uuid,
    "bits": bits,
    "range": ranges,
    "composite": composite,
    "point": point,
}
