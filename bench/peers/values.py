"""Values that a database holds and an answer loses easily, with the text that PostgreSQL itself gives for each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One value: `want` is PostgreSQL's own text of `sql`, `kind` says in which notations it counts as the same."""

    name: str
    sql: str
    want: str | None
    kind: str


LONG = "0123456789" * 100_000
HARD = "😀 é \u202e \"quoted\" back\\slash\ttab\nline"

CASES = [
    Case("boolean", "true", "t", "boolean"),
    Case("int4 at its end", "(-2147483648)::int4", "-2147483648", "integer"),
    Case("int8 past 2^53", "9007199254740993::int8", "9007199254740993", "integer"),
    Case("int8 at its end", "(-9223372036854775808)::int8", "-9223372036854775808", "integer"),
    Case("numeric with a scale", "1.10::numeric", "1.10", "numeric"),
    Case("numeric of 40 digits", "12345678901234567890.12345678901234567890::numeric",
         "12345678901234567890.12345678901234567890", "numeric"),
    Case("numeric NaN", "'NaN'::numeric", "NaN", "numeric"),
    Case("numeric Infinity", "'Infinity'::numeric", "Infinity", "numeric"),
    Case("float8", "0.1::float8 + 0.2::float8", "0.30000000000000004", "float"),
    Case("float8 NaN", "'NaN'::float8", "NaN", "float"),
    Case("float4 -Infinity", "'-Infinity'::float4", "-Infinity", "float"),
    Case("money", "1234.50::money", "$1,234.50", "text"),
    Case("NULL", "NULL::text", None, "null"),
    Case("the text NULL", "'NULL'::text", "NULL", "text"),
    Case("empty text", "''::text", "", "text"),
    Case("Unicode, quotes, control characters",
         r'''U&'\+01F600 \00E9 \202E "quoted" back\\slash\0009tab\000Aline''' "'", HARD, "text"),
    Case("text of 1 MB", "repeat('0123456789', 100000)", LONG, "long"),
    Case("char(5), padded", "'ab'::char(5)", "ab   ", "text"),
    Case("date", "date '2026-01-31'", "2026-01-31", "text"),
    Case("date infinity", "date 'infinity'", "infinity", "infinity"),
    Case("date BC", "date '0044-03-15 BC'", "0044-03-15 BC", "text"),
    Case("time 24:00", "time '24:00:00'", "24:00:00", "time"),
    Case("timestamp with microseconds", "timestamp '2026-11-30 10:20:30.123456'", "2026-11-30 10:20:30.123456", "local"),
    Case("timestamptz with microseconds", "timestamptz '2026-11-30 10:20:30.123456+00'", "2026-11-30 10:20:30.123456+00",
         "instant"),
    Case("timestamptz -infinity", "timestamptz '-infinity'", "-infinity", "infinity"),
    Case("interval", "interval '1 mon 2 days 03:04:05.678901'", "1 mon 2 days 03:04:05.678901", "interval"),
    Case("json with long digits", "'{\"price\": 1.10, \"id\": 12345678901234567890}'::json",
         '{"price": 1.10, "id": 12345678901234567890}', "json"),
    Case("jsonb with long digits", "'{\"id\": 12345678901234567890, \"price\": 1.10}'::jsonb",
         '{"id": 12345678901234567890, "price": 1.10}', "json"),
    Case("int8[] with NULL", "ARRAY[9007199254740993, NULL]::int8[]", "{9007199254740993,NULL}", "list"),
    Case("text[] with the text NULL", "ARRAY['NULL', NULL, 'a,b', '']::text[]", '{"NULL",NULL,"a,b",""}', "list"),
    Case("numeric[] with a scale", "ARRAY[1.10, 'NaN']::numeric[]", "{1.10,NaN}", "list"),
    Case("int4[][]", "ARRAY[[1, 2], [3, 4]]", "{{1,2},{3,4}}", "list"),
    Case("bytea", "'\\x00ff10'::bytea", "\\x00ff10", "bytes"),
    Case("uuid", "'6e1ee24d-4f4e-4f36-b0b5-0d1b8ad94f3a'::uuid", "6e1ee24d-4f4e-4f36-b0b5-0d1b8ad94f3a", "uuid"),
    Case("inet with a mask", "inet '10.0.0.1/8'", "10.0.0.1/8", "text"),
    Case("bit(5)", "B'00101'::bit(5)", "00101", "bits"),
    Case("numrange", "'[1.10,2.200)'::numrange", "[1.10,2.200)", "range"),
    Case("composite", "ROW(7, 'High Street', NULL)::address", '(7,"High Street",)', "composite"),
    Case("point", "point '(1.5,-2)'", "(1.5,-2)", "point"),
    Case("two columns of one name", "1 AS v, 2", None, "names"),
]


def statement(case):
    """What is asked for a case."""
    return f"SELECT {case.sql} AS v"
