//! What is fuzzed, as plain functions of bytes. cargo-fuzz drives them with coverage on a nightly compiler; [`Replay`] drives
//! them without, on any, from the recorded trees and the corpora. The guard's own tests mount this file and do so for a while.
//!
//! A function here must come back, soon, whatever the bytes are; it panics where what the guard says contradicts itself.

#[path = "../../shared/guard/tests/it/trees/recorded.rs"]
#[allow(clippy::duplicate_mod, reason = "the guard's tests mount both this file and that")]
mod recorded;

mod replay;

use std::sync::{Arc, LazyLock};

use guard::facts::{Facts, FunctionFact, Major, Needs, ObjectName, Volatility};
use guard::{Candidate, Code, Judgement, RowLimit, Rules, Selection, Shape, Step};

use self::recorded::{Recording, answer};

pub use self::replay::{Replay, check};

/// A function of bytes, and bytes to begin with.
pub struct Target {
    /// What it is called on a command line, and its folder of inputs.
    pub name: &'static str,
    /// What is fuzzed.
    pub run: fn(&[u8]),
    /// Inputs that reach deep into it.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: [Target; 4] = [
    Target { name: "reader", run: reader, seeds: reader_seeds },
    Target { name: "walker", run: walker, seeds: walker_seeds },
    Target { name: "local", run: local, seeds: local_seeds },
    Target { name: "body", run: body, seeds: body_seeds },
];

/// Rounds of questions that no judgement needs.
const MOST_ROUNDS: usize = 1_000;

/// One major, and what was recorded of it.
struct World {
    major: Major,
    facts: Facts,
    /// Statements and their trees.
    trees: Vec<(String, String)>,
}

static WORLDS: LazyLock<Vec<World>> = LazyLock::new(|| {
    let recordings = [
        (14, include_str!("../../shared/guard/tests/trees/14.jsonl")),
        (15, include_str!("../../shared/guard/tests/trees/15.jsonl")),
        (16, include_str!("../../shared/guard/tests/trees/16.jsonl")),
        (17, include_str!("../../shared/guard/tests/trees/17.jsonl")),
        (18, include_str!("../../shared/guard/tests/trees/18.jsonl")),
    ];
    let world = |(number, text)| {
        let Recording { facts, trees } = Recording::parse(text);
        World { major: Major::new(number).unwrap(), facts, trees: trees.into_iter().collect() }
    };
    recordings.into_iter().map(world).collect()
});

const CORPORA: [&str; 4] = [
    include_str!("../../tests/corpus/guard/hostile.jsonl"),
    include_str!("../../tests/corpus/guard/benign.jsonl"),
    include_str!("../../tests/corpus/guard/found.jsonl"),
    include_str!("../../tests/corpus/guard/found_benign.jsonl"),
];

fn world(number: u8) -> &'static World {
    &WORLDS[usize::from(number) % WORLDS.len()]
}

fn open() -> Rules {
    Rules::open(RowLimit::new(10))
}

fn limited() -> Rules {
    let name = |name: &str| ObjectName { schema: "public".to_owned(), name: name.to_owned() };
    Rules { selection: Selection::Only(["t", "kinds", "v", "customers"].map(name).to_vec()), ..open() }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Any text as the tree of a statement. The first byte chooses the major.
pub fn reader(data: &[u8]) {
    let Some((number, rest)) = data.split_first() else { return };
    let candidate = guard::candidate("SELECT 1", &open()).unwrap();
    judge(&candidate, &text(rest), world(*number).major, &open(), |_| Facts::default());
}

fn reader_seeds() -> Vec<Vec<u8>> {
    let each = |(number, world): (u8, &'static World)| {
        world.trees.iter().map(move |(_, tree)| [&[number], tree.as_bytes()].concat())
    };
    (0..).zip(WORLDS.iter()).flat_map(each).collect()
}

/// A recorded tree in which words are replaced, left out or doubled, judged with what was recorded of the catalog. The first
/// bytes choose major, statement and rules; then each four choose a word, and what becomes of it.
pub fn walker(data: &[u8]) {
    let [number, statement, rules, edits @ ..] = data else { return };
    let world = world(*number);
    let (sql, tree) = &world.trees[usize::from(*statement) % world.trees.len()];
    let mut words: Vec<&str> = tree.split([' ', '\n']).collect();
    let other = &world.trees[usize::from(*rules) % world.trees.len()].1;
    let others: Vec<&str> = other.split([' ', '\n']).collect();
    for edit in edits.chunks_exact(4) {
        let count = words.len();
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % count;
        let with = usize::from(edit[3]);
        match edit[2] % 6 {
            0 => words[at] = WORDS[with % WORDS.len()],
            1 => words[at] = words[(at + with) % count],
            2 => words[at] = others[(at + with) % others.len()],
            3 if count > 1 => drop(words.remove(at)),
            4 => words.insert(at, others[(at * 7 + with) % others.len()]),
            _ => words.swap(at, (at + with) % count),
        }
    }
    let candidate = guard::candidate(sql, &open()).unwrap();
    let rules = if rules % 2 == 0 { open() } else { limited() };
    judge(&candidate, &words.join(" "), world.major, &rules, |needs| answer(&world.facts, needs));
}

fn walker_seeds() -> Vec<Vec<u8>> {
    let statements = 0..u8::try_from(world(0).trees.len()).unwrap();
    statements.map(|number| vec![number, number, number / 5, 40, 0, 0, 9, 200, 1, 2, 3]).collect()
}

/// Words that mean something in a tree.
const WORDS: &[&str] = &[
    "<>",
    "0",
    "1",
    "-1",
    "25",
    "2249",
    "3802",
    "4294967295",
    "4294967296",
    "16384",
    "9999",
    "true",
    "false",
    "(",
    ")",
    "{",
    "}",
    "(i",
    "(o",
    "(b",
    "[",
    "]",
    "\"",
    "\\",
    "\\ ",
    "{QUERY",
    "{VAR",
    "{FUNCEXPR",
    "{CONST",
    ":relid",
    ":funcid",
    ":opno",
    ":consttype",
    ":vartype",
    ":constvalue",
    "\"a",
    ":",
    "{RANGETBLENTRY",
    "({QUERY",
    "})",
];

/// Any text as a statement, without and with a selection.
pub fn local(data: &[u8]) {
    let sql = text(data);
    for rules in [open(), limited()] {
        if let Ok(candidate) = guard::candidate(&sql, &rules) {
            let again = guard::candidate(candidate.judged_text(), &open());
            let grown = |code| matches!(code, Code::TooDeep | Code::TextTooLong);
            match again {
                _ if candidate.shape() == Shape::Show => {}
                // A generic plan takes no values.
                Ok(_) if candidate.shape() == Shape::Explain => {}
                Ok(again) => assert_eq!(again.parameters(), candidate.parameters(), "{sql}"),
                Err(refusal) => assert!(grown(refusal.first().code), "{sql}: {refusal}"),
            }
            for position in [0, 1, 15, 16, usize::MAX] {
                candidate.caller_position(position);
                candidate.judged_position(position);
            }
        }
        guard::named_relations(&sql);
    }
}

fn local_seeds() -> Vec<Vec<u8>> {
    let of_corpora = CORPORA.iter().flat_map(|corpus| corpus.lines()).map(|line| {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        case["sql"].as_str().unwrap().as_bytes().to_vec()
    });
    let recorded = world(4).trees.iter().map(|(sql, _)| sql.clone().into_bytes());
    recorded.chain(of_corpora).collect()
}

/// Any text as the body of a function that a statement calls. The first byte chooses major and language.
pub fn body(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    let world = world(choice / 4);
    let sql = "SELECT executes('DELETE FROM t')";
    let tree = &world.trees.iter().find(|(recorded, _)| recorded == sql).unwrap().1;
    let candidate = guard::candidate(sql, &open()).unwrap();
    let rules = if choice & 1 == 0 { open() } else { limited() };
    let language = if choice & 2 == 0 { "plpgsql" } else { "sql" };
    judge(&candidate, tree, world.major, &rules, |needs| {
        let mut facts = answer(&world.facts, needs);
        for fact in facts.functions.values_mut().filter(|fact| fact.name.name == "executes") {
            *fact = Arc::new(FunctionFact {
                volatility: Volatility::Immutable,
                language: language.to_owned(),
                source: text(rest),
                ..FunctionFact::clone(fact)
            });
        }
        nothing_else(&mut facts, needs);
        facts
    });
}

/// There is nothing else of the names that are asked for.
fn nothing_else(facts: &mut Facts, needs: &Needs) {
    for (found, asked) in [
        (&mut facts.function_names, &needs.function_names),
        (&mut facts.operator_names, &needs.operator_names),
        (&mut facts.type_names, &needs.type_names),
    ] {
        for name in asked {
            found.entry(name.clone()).or_default();
        }
    }
    if needs.casts {
        facts.casts.get_or_insert_default();
    }
}

fn body_seeds() -> Vec<Vec<u8>> {
    let more = [
        "DECLARE x int := 1; y text; BEGIN IF x > 1 THEN y := 'a'; ELSIF x < 0 THEN RETURN 'b'; ELSE NULL; END IF; RETURN y; END",
        "BEGIN CASE a WHEN 1, 2 THEN RETURN 'x'; ELSE RETURN 'y'; END CASE; END",
        "DECLARE a int[]; BEGIN a[1] := 2; RETURN a[1]; EXCEPTION WHEN OTHERS THEN RETURN 1; END",
        "#variable_conflict use_column\n<<l>> DECLARE c CURSOR FOR SELECT 1; r record; BEGIN FOR r IN c LOOP EXIT l; END LOOP; RETURN 1; END",
        "SELECT CASE WHEN $1 > 1 THEN now()::text ELSE (SELECT max(x) FROM unnest(ARRAY[1]) x)::text END",
    ];
    let recorded = world(4).facts.functions.values().map(|fact| fact.source.clone());
    let sources = more.into_iter().map(str::to_owned).chain(recorded);
    sources.flat_map(|source| (16..20).map(move |choice| [&[choice], source.as_bytes()].concat())).collect()
}

/// Follows a judgement to its end.
fn judge(candidate: &Candidate, tree: &str, major: Major, rules: &Rules, catalog: impl Fn(&Needs) -> Facts) {
    let mut judgement = Judgement::begin(candidate, tree, major, rules, Arc::default());
    for _ in 0..MOST_ROUNDS {
        match judgement.step() {
            Step::Need(needs) => judgement.learn(catalog(&needs)),
            Step::Clear(clear) => return assert_eq!(clear.statement.text(), candidate.text()),
            Step::Refused(refusal) => return assert!(!refusal.to_string().is_empty()),
            Step::Harmless(_) => panic!("a statement was taken for none"),
        }
    }
    panic!("the judgement has no end");
}
