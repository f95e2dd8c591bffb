"""The judge on answers as servers gave them, and on ones that are wrong by little: it must see both."""

import json
import unittest

from answers import Pairs, Unreadable, rows
from judge import CHANGED, CUT, FAILED, KEPT, LOST, judge
from values import CASES

BY_NAME = {case.name: case for case in CASES}

# A case, the member `v` of an answer in JSON, what became of the value.
ANSWERS = [
    ("boolean", "true", KEPT), ("boolean", "false", CHANGED),
    ("int8 past 2^53", "9007199254740993", KEPT), ("int8 past 2^53", '"9007199254740993"', KEPT),
    ("int8 past 2^53", "9007199254740992", CHANGED),
    ("numeric with a scale", "1.10", KEPT), ("numeric with a scale", "1.1", CHANGED),
    ("numeric of 40 digits", "12345678901234567890.1234567890123456789", CHANGED),
    ("numeric NaN", '"NaN"', KEPT), ("numeric NaN", "null", LOST), ("numeric Infinity", "0", CHANGED),
    ("float8", "0.30000000000000004", KEPT), ("float8", "0.3", CHANGED),
    ("float8 NaN", "NaN", KEPT), ("float8 NaN", "null", LOST), ("float4 -Infinity", '"-inf"', KEPT),
    ("NULL", "null", KEPT), ("NULL", '"NULL"', CHANGED), ("the text NULL", '"NULL"', KEPT), ("the text NULL", "null", LOST),
    ("empty text", '""', KEPT), ("empty text", "null", LOST),
    ("char(5), padded", '"ab   "', KEPT), ("char(5), padded", '"ab"', CHANGED),
    ("date", '"2026-01-31"', KEPT), ("date", '"2026-01-31T00:00:00.000Z"', CHANGED),
    ("date infinity", '"infinity"', KEPT), ("date infinity", "1", CHANGED), ("date infinity", "null", LOST),
    ("time 24:00", '{"Microseconds":86400000000,"Valid":true}', KEPT), ("time 24:00", '"00:00:00"', CHANGED),
    ("timestamp with microseconds", '"2026-11-30T10:20:30.123456"', KEPT),
    ("timestamp with microseconds", '"2026-11-30T10:20:30.123456Z"', CHANGED),
    ("timestamptz with microseconds", '"2026-11-30T11:20:30.123456+01:00"', KEPT),
    ("timestamptz with microseconds", '"2026-11-30T10:20:30.123Z"', CHANGED),
    ("timestamptz with microseconds", '"2026-11-30 10:20:30.123456"', CHANGED),
    ("interval", '{"months":1,"days":2,"hours":3,"minutes":4,"seconds":5,"milliseconds":678.901}', KEPT),
    ("interval", '{"Microseconds":11045678901,"Days":2,"Months":1,"Valid":true}', KEPT),
    ("interval", '"P1M2DT3H4M5.678901S"', KEPT), ("interval", '"32 days, 3:04:05.678901"', CHANGED),
    ("jsonb with long digits", '{"price":1.10,"id":12345678901234567890}', KEPT),
    ("jsonb with long digits", '{"price":1.1,"id":12345678901234567890}', CHANGED),
    ("jsonb with long digits", '{"price":1.10,"id":12345678901234567000}', CHANGED),
    ("int8[] with NULL", "[9007199254740993,null]", KEPT), ("int8[] with NULL", '"{9007199254740993,NULL}"', KEPT),
    ("int8[] with NULL", "[9007199254740992,null]", CHANGED),
    ("text[] with the text NULL", '["NULL",null,"a,b",""]', KEPT),
    ("text[] with the text NULL", '[null,null,"a,b",""]', CHANGED),
    ("numeric[] with a scale", "\"[Decimal('1.10'), Decimal('NaN')]\"", KEPT),
    ("numeric[] with a scale", "[1.1,null]", CHANGED),
    ("int4[][]", "[[1,2],[3,4]]", KEPT), ("int4[][]", "[1,2,3,4]", CHANGED),
    ("bytea", '{"type":"Buffer","data":[0,255,16]}', KEPT), ("bytea", '"AP8Q"', KEPT), ("bytea", '"AP8="', CHANGED),
    ("uuid", '"6E1EE24D-4F4E-4F36-B0B5-0D1B8AD94F3A"', KEPT), ("uuid", '"6e1ee24d"', CHANGED),
    ("inet with a mask", '"10.0.0.1/8"', KEPT), ("inet with a mask", '"10.0.0.1"', CHANGED),
    ("bit(5)", '{"Bytes":"KA==","Len":5,"Valid":true}', KEPT), ("bit(5)", '"101"', CHANGED),
    ("numrange", '{"Lower":1.10,"Upper":2.200,"LowerType":105,"UpperType":101,"Valid":true}', KEPT),
    ("numrange", '"[1.10, 2.200)"', KEPT), ("numrange", '"[1.1,2.2)"', CHANGED),
    ("composite", '["7","High Street",null]', KEPT), ("composite", '"(7,High Street)"', CHANGED),
    ("point", '{"x":1.5,"y":-2}', KEPT), ("point", '{"x":1.5,"y":2}', CHANGED),
]


def result(*blocks, error=False):
    """A result of a tool."""
    return {"content": [{"type": "text", "text": block} for block in blocks], "isError": error}


class Judging(unittest.TestCase):
    """Values."""

    def test_each_answer_is_judged_as_it_is(self):
        for name, value, outcome in ANSWERS:
            with self.subTest(name, value=value):
                self.assertEqual(judge(BY_NAME[name], result(f'[{{"v": {value}}}]')), outcome)

    def test_postgresqls_own_text_is_kept_and_another_is_not(self):
        for case in CASES:
            if case.want is None:
                continue
            with self.subTest(case.name):
                self.assertEqual(judge(case, result(json.dumps({"rows": [{"v": case.want}]}))), KEPT)
                self.assertNotEqual(judge(case, result(json.dumps({"rows": [{"v": "another"}]}))), KEPT)

    def test_a_long_text_may_be_cut_if_that_is_said(self):
        case = BY_NAME["text of 1 MB"]
        start = case.want[:4000]
        self.assertEqual(judge(case, result(f'[{{"v": "{start}… (1000000 characters)"}}]')), CUT)
        self.assertEqual(judge(case, result(f'[{{"v": "{start}"}}]')), CHANGED)
        self.assertEqual(judge(case, result('{"rows": [], "truncated": true}')), LOST)

    def test_both_columns_of_one_name_must_be_there(self):
        case = BY_NAME["two columns of one name"]
        self.assertEqual(judge(case, result('{"v": 1, "v": 2}')), KEPT)
        self.assertEqual(judge(case, result('{"columns": ["v", "v"], "rows": [[1, 2]]}')), KEPT)
        self.assertEqual(judge(case, result('[{"v": 2}]')), LOST)

    def test_an_error_is_a_failure_however_it_is_told(self):
        for answer in (result("no such table", error=True), result('{"error": "no such table"}'), result("Error: no"), result()):
            self.assertEqual(judge(CASES[0], answer), FAILED)


class Reading(unittest.TestCase):
    """Rows out of answers."""

    def test_rows_are_found_in_every_shape(self):
        wanted = [[("a", "1"), ("b", None)], [("a", "2"), ("b", None)]]
        for blocks in (
                ['[{"a": 1, "b": null}, {"a": 2, "b": null}]'],
                ['{"columns": [{"name": "a"}, {"name": "b"}], "rows": [[1, null], [2, null]]}'],
                ['{"success": true, "data": {"statements": [{"rows": [{"a": 1, "b": null}, {"a": 2, "b": null}]}]}}'],
                ['Retrieved 2 rows.\n\nResults:\n[\n{"a": 1, "b": null}, {"a": 2, "b": null}]'],
                ['{"a": 1, "b": null}', '{"a": 2, "b": null}'],
                ["[{'a': 1, 'b': None}, {'a': 2, 'b': None}]"]):
            with self.subTest(blocks=blocks):
                self.assertEqual([list(row) for row in rows(result(*blocks))], wanted)

    def test_pythons_calls_stand_for_their_values(self):
        text = ("[{'n': Decimal('1.10'), 'd': datetime.date(2026, 1, 31), 't': datetime.datetime(2026, 1, 31, 1, 2, 3, 4, "
                "tzinfo=datetime.timezone.utc), 'r': Range(1, 5, '[)'), 'b': b'\\x00\\xff', 'f': -inf}]")
        wanted = Pairs([("n", "1.10"), ("d", "2026-01-31"), ("t", "2026-01-31T01:02:03.000004+00:00"), ("r", "[1,5)"),
                        ("b", "\\x00ff"), ("f", "-inf")])
        self.assertEqual(rows(result(text)), [wanted])

    def test_words_are_no_rows(self):
        for words in ("done", "Error: relation does not exist", "[", ""):
            with self.assertRaises(Unreadable):
                rows(result(words))


if __name__ == "__main__":
    unittest.main()
