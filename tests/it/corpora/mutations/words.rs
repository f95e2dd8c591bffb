//! Statements as words, and what becomes of them by chance: the same number always makes the same statement.

use crate::support::TestDb;

/// Literals that have surprised somebody.
const LITERALS: &[&str] = &[
    "''",
    "'x'",
    "NULL",
    "0",
    "-1",
    "1e308",
    "9223372036854775807",
    "0.1",
    "'NaN'",
    "'infinity'",
    "'{}'",
    "'{1,2}'",
    "'[1,2)'",
    "'(1,x)'",
    "'{\"a\": 1}'",
    "'2026-01-01'",
    "'secrets'",
    "'DELETE FROM secrets'",
    "'f_write(text)'",
    "'ord_seq'",
    "'/etc/passwd'",
    "true",
    "ARRAY[1, NULL]",
    "ROW(1, 'x')",
    "$$x$$",
    "E'\\x41'",
    "U&'\\0041'",
    "'x'::risky_dom",
    "'1 day'",
    "interval '1' hour",
    "current_user",
    "'postgres'",
];

/// Words of the grammar, a piece at a time.
const PIECES: &[&str] = &[
    "(",
    ")",
    ",",
    "::",
    ".",
    "*",
    "=",
    "<>",
    "||",
    "->",
    "->>",
    "+",
    "-",
    "NOT",
    "AND",
    "OR",
    "IS",
    "NULL",
    "IN",
    "ANY",
    "ALL",
    "EXISTS",
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "ORDER BY",
    "LIMIT 1",
    "DISTINCT",
    "UNION ALL",
    "WITH",
    "RECURSIVE",
    "AS",
    "LATERAL",
    "CROSS JOIN",
    "LEFT JOIN",
    "ON true",
    "OVER ()",
    "FILTER (WHERE true)",
    "CASE WHEN",
    "THEN",
    "ELSE",
    "END",
    "VALUES",
    "TABLE",
    "ROWS FROM (",
    "WITH ORDINALITY",
    "TABLESAMPLE SYSTEM (50)",
    "COLLATE \"C\"",
    "FOR UPDATE",
    "INTO made",
    "RETURNING *",
    "INSERT INTO",
    "UPDATE",
    "DELETE FROM",
    "EXPLAIN",
    "ANALYZE",
    "SHOW",
    ";",
    "OPERATOR(public.===)",
    "::json",
    "::risky_dom",
    "::regclass",
    "::text",
    "::int",
    "~>>",
    "<~~>",
];

/// A call of every function and aggregate that can be called, with arguments of the types that it takes. `$1` is the first OID
/// of those that somebody made, or 0.
const CALLS: &str = "
SELECT format('%I.%I(%s)', n.nspname, p.proname, string_agg(
         CASE format_type(a.type, NULL)
           WHEN 'integer' THEN '1' WHEN 'bigint' THEN '1::bigint' WHEN 'smallint' THEN '1::smallint' WHEN 'boolean' THEN 'true'
           WHEN 'text' THEN $$'x'::text$$ WHEN 'name' THEN $$'x'::name$$ WHEN 'character varying' THEN $$'x'::varchar$$
           WHEN 'numeric' THEN '1.5' WHEN 'double precision' THEN '1.5::float8' WHEN 'oid' THEN '1259::oid'
           WHEN 'regclass' THEN $$'ord_seq'::regclass$$ WHEN 'date' THEN $$'2026-01-01'::date$$
           WHEN 'timestamp with time zone' THEN $$'2026-01-01'::timestamptz$$ WHEN 'interval' THEN $$'1 s'::interval$$
           WHEN 'json' THEN $$'[1]'::json$$ WHEN 'jsonb' THEN $$'[1]'::jsonb$$ WHEN 'bytea' THEN $$'x'::bytea$$
           WHEN 'text[]' THEN $$ARRAY['x']$$ WHEN 'mood' THEN $$'ok'::mood$$
           WHEN 'customers' THEN '(SELECT c FROM customers AS c LIMIT 1)'
           ELSE CASE y.typtype WHEN 'p' THEN CASE WHEN y.typname LIKE '%array' THEN 'ARRAY[1]' ELSE '1' END
                               ELSE 'NULL::' || format_type(a.type, NULL) END
         END, ', ' ORDER BY a.place)) AS call
  FROM pg_proc p
  JOIN pg_namespace n ON n.oid = p.pronamespace
  LEFT JOIN LATERAL unnest(p.proargtypes) WITH ORDINALITY AS a(type, place) ON true
  LEFT JOIN pg_type y ON y.oid = a.type
 WHERE p.prokind IN ('f', 'a') AND p.oid >= $1::text::oid AND n.nspname <> 'information_schema'
 GROUP BY n.nspname, p.proname, p.oid
HAVING NOT coalesce(bool_or(y.typname IN ('internal', 'cstring')), false)
 ORDER BY call";

/// Names of relations, columns and types.
const NAMES: &str = "
SELECT quote_ident(relname) FROM pg_class
 WHERE oid >= 16384 AND relkind IN ('r', 'v', 'm', 'f', 'S') AND relnamespace <> 'pg_toast'::regnamespace
UNION SELECT quote_ident(attname) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
 WHERE c.oid >= 16384 AND attnum > 0 AND relkind IN ('r', 'v', 'm', 'f')
UNION SELECT quote_ident(typname) FROM pg_type WHERE oid >= 16384 OR typname LIKE 'reg%' ORDER BY 1";

/// Statements in words, and what to put in.
pub(super) struct Words {
    statements: Vec<Vec<String>>,
    calls: Vec<String>,
    /// Of functions that somebody made: they come up as often as all.
    made_calls: Vec<String>,
    names: Vec<String>,
}

impl Words {
    /// What is put in is what the database has.
    pub(super) async fn read(db: &TestDb, statements: &[String]) -> Self {
        let client = db.client().await;
        let calls = async |first: &str| {
            let rows = client.query(CALLS, &[&first]).await.unwrap();
            rows.iter().map(|row| row.get(0)).collect()
        };
        let names = client.query(NAMES, &[]).await.unwrap();
        Self {
            statements: statements.iter().map(|sql| split(sql)).collect(),
            calls: calls("0").await,
            made_calls: calls("16384").await,
            names: names.iter().map(|row| row.get(0)).collect(),
        }
    }

    /// One of them, changed in one or two places.
    pub(super) fn statement(&self, number: u64) -> String {
        let mut chance = Chance(number.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let mut words = chance.pick(&self.statements).clone();
        for _ in 0..=chance.below(3) / 2 {
            self.change(&mut words, &mut chance);
        }
        words.join(" ")
    }

    fn change(&self, words: &mut Vec<String>, chance: &mut Chance) {
        let at = chance.below(words.len());
        let end = (at + 1 + chance.below(5)).min(words.len());
        match chance.below(10) {
            0 => drop(words.drain(at..end)),
            1 => drop(words.splice(at..at, words[at..end].to_vec())),
            2 => {
                let other = chance.below(words.len());
                words.swap(at, other);
            }
            3 => {
                let other = chance.pick(&self.statements);
                let from = chance.below(other.len());
                let until = (from + 1 + chance.below(12)).min(other.len());
                drop(words.splice(at..end, other[from..until].iter().cloned()));
            }
            4 => words.insert(at, (*chance.pick(PIECES)).to_owned()),
            5 => {
                let column = [self.call(chance), ",".to_owned()];
                let start = words.iter().position(|word| word == "SELECT").map_or(at, |select| select + 1);
                drop(words.splice(start..start, column));
            }
            6 | 7 => put(words, chance, is_literal, |chance| self.call(chance)),
            8 => put(words, chance, is_name, |chance| chance.pick(&self.names).clone()),
            _ => put(words, chance, is_literal, |chance| (*chance.pick(LITERALS)).to_owned()),
        }
        if words.is_empty() {
            words.push("SELECT".to_owned());
        }
    }

    fn call(&self, chance: &mut Chance) -> String {
        let calls = if chance.below(2) == 0 { &self.calls } else { &self.made_calls };
        chance.pick(calls).clone()
    }
}

/// Replaces one word of a kind, if there is any.
fn put(
    words: &mut [String],
    chance: &mut Chance,
    is_one: impl Fn(&str) -> bool,
    new: impl Fn(&mut Chance) -> String,
) {
    let those: Vec<usize> = (0..words.len()).filter(|index| is_one(&words[*index])).collect();
    if !those.is_empty() {
        let at = *chance.pick(&those);
        words[at] = new(chance);
    }
}

const OPERATOR: &str = "+-*/<>=~!@#%^&|`?:";

/// Names and keywords, quoted text, numbers, operators, and other characters one by one.
fn split(sql: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = sql.trim_start();
    while let Some(first) = rest.chars().next() {
        let run = |belongs: fn(char) -> bool| rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        let length = match first {
            '\'' | '"' => rest[1..].find(first).map_or(rest.len(), |end| end + 2),
            _ if belongs_to_name(first) => run(belongs_to_name),
            _ if OPERATOR.contains(first) => run(|c| OPERATOR.contains(c)),
            _ => first.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    words
}

fn belongs_to_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Keywords are in capitals in the corpora.
fn is_name(word: &str) -> bool {
    let begins = word.starts_with(|c: char| c.is_alphabetic() || c == '"' || c == '_');
    begins && !word.chars().all(char::is_uppercase)
}

fn is_literal(word: &str) -> bool {
    word.starts_with(|c: char| c == '\'' || c.is_ascii_digit())
}

/// Chance by a number: splitmix64.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(bound).unwrap()).unwrap()
    }

    fn pick<'a, T>(&mut self, those: &'a [T]) -> &'a T {
        &those[self.below(those.len())]
    }
}
