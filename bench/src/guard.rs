//! The guard's reader and walker alone: a printed tree in, a verdict out, with all that they ask known already.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use ::guard::{
    Candidate, Judgement, RowLimit, Rules, Step,
    facts::{Facts, Major},
};
use pg::{ConnectOptions, Connection, Target};

use crate::{
    median,
    printer::Printer,
    wide::{SMALL, Wide, join},
};

/// What is aimed at, for the small statement and for the join of all tables.
const AT_MOST: [Duration; 2] = [Duration::from_micros(10), Duration::from_millis(5)];

/// Measures and prints.
pub(crate) async fn measure(wide: &Wide) {
    let mut printer = Printer::start(&wide.url).await;
    let join = join();
    println!("the guard's reader and walker alone, medians");
    for (what, sql, rounds, at_most) in
        [("a small statement", SMALL, 5_000, AT_MOST[0]), ("a join of 40 tables", &join, 100, AT_MOST[1])]
    {
        let rules = Rules::open(RowLimit::new(500));
        let candidate = guard::candidate(sql, &rules).unwrap();
        let tree = printer.print(candidate.judged_text()).await;
        let facts = Arc::new(learn(&wide.url, &candidate, &tree, &rules).await);
        let mut times: Vec<Duration> = (0..rounds)
            .map(|_| {
                let since = Instant::now();
                let judgement = Judgement::begin(&candidate, &tree, major(), &rules, Arc::clone(&facts));
                assert!(clear(judgement));
                since.elapsed()
            })
            .collect();
        let time = median(&mut times);
        println!(
            "  {what:<22} {time:>10.1?}   a tree of {} kB; at most {at_most:?} is the aim",
            tree.len() / 1000
        );
        if time > at_most {
            println!("NOT MET: {what} takes {time:?}");
        }
    }
}

fn major() -> Major {
    Major::new(18).unwrap()
}

fn clear(mut judgement: Judgement<'_>) -> bool {
    matches!(judgement.step(), Step::Clear(_))
}

/// All that a judgement asks for.
async fn learn(url: &str, candidate: &Candidate, tree: &str, rules: &Rules) -> Facts {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    let options = ConnectOptions { connect_timeout: Duration::from_secs(5), deadline };
    let mut connection = Connection::open(&Target::parse(url).unwrap(), options).await.unwrap();
    let mut judgement = Judgement::begin(candidate, tree, major(), rules, Arc::default());
    let mut all = Facts::default();
    while let Step::Need(needs) = judgement.step() {
        let facts = connection.facts(&needs, deadline).await.unwrap();
        all.extend(facts.clone());
        judgement.learn(facts);
    }
    connection.close().await;
    all
}
