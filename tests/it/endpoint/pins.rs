//! Pinned queries as agents meet them: listed where their stamp stands, run as they were saved, refused otherwise.

mod calls;
mod drift;
mod reaching;
mod standing;

use pins::{Column, Pin, StampKey, Test};
use serde_json::{Value, json};

use super::{Endpoint, SECRET, Setup};

pub(super) const KEY: &str = "a stamp key of thirty-two bytes!";

/// The example that the documents work through.
const DEMO_SALES: &str = "
CREATE TABLE demo_sales (id int8 PRIMARY KEY, region text NOT NULL, month date NOT NULL, product text NOT NULL,
    amount numeric(12, 2) NOT NULL, units int8 NOT NULL);
INSERT INTO demo_sales VALUES
    (1, 'north', '2026-01-01', 'cedar tea', 120.00, 4), (2, 'north', '2026-01-01', 'maple soap', 45.50, 9),
    (3, 'south', '2026-01-01', 'cedar tea', 80.00, 2), (4, 'south', '2026-02-01', 'linen towel', 210.00, 6),
    (5, 'east', '2026-02-01', 'maple soap', 30.00, 3), (6, 'east', '2026-01-01', 'linen towel', 64.00, 2);";

const REVENUE: &str = "SELECT region, sum(amount) AS revenue FROM demo_sales WHERE month = :month GROUP BY region ORDER BY region LIMIT 100";
const TOP: &str = "SELECT product, revenue FROM (SELECT product, sum(amount) AS revenue, rank() OVER (ORDER BY sum(amount) DESC) AS rnk \
                   FROM demo_sales WHERE month = :month GROUP BY product) ranked WHERE rnk <= :n ORDER BY rnk LIMIT 20";

fn revenue() -> Value {
    json!({"id": "p1", "name": "pq_revenue_by_region", "purpose": "Revenue of a month by region", "sql": REVENUE,
           "params": [{"name": "month", "type": "date"}], "version": 3})
}

fn top() -> Value {
    json!({"id": "p2", "name": "pq_top_products", "purpose": "Products by revenue", "sql": TOP, "version": 1,
           "params": [{"name": "month", "type": "date"}, {"name": "n", "type": "int8", "max": 20}]})
}

/// The node that pins are tested on here, as the stamp sees it.
pub(super) fn place() -> pins::Scope {
    pins::Scope {
        workspace: "w".to_owned(),
        credential: pins::ScopeCredential::Named { id: "cred-1".to_owned(), secret: SECRET.to_owned() },
        selection: ["public.demo_sales".to_owned()].into(),
        allowed_functions: [].into(),
        allowed_foreign_tables: [].into(),
        search_path: Vec::new(),
    }
}

/// The pin with the stamp of a test at this place that returned these columns.
pub(super) fn stamped_at(place: &pins::Scope, key: &str, pin: &Value, columns: &[(&str, &str)]) -> Value {
    let columns =
        columns.iter().map(|(name, ty)| Column { name: (*name).into(), ty: (*ty).into() }).collect();
    let test = Test { columns, by: "laptop".to_owned(), at: "2026-01-31T00:00:00Z".to_owned() };
    let parsed = Pin::from_json(pin).unwrap();
    let stamp = parsed.stamp_test(&StampKey::new(key.as_bytes()).unwrap(), place, test).unwrap();
    parsed.with_stamp(Some(stamp)).to_json()
}

fn stamped(pin: &Value, columns: &[(&str, &str)]) -> Value {
    stamped_at(&place(), KEY, pin, columns)
}

fn both() -> [Value; 2] {
    [
        stamped(&revenue(), &[("region", "text"), ("revenue", "numeric")]),
        stamped(&top(), &[("product", "text"), ("revenue", "numeric")]),
    ]
}

/// An endpoint whose node selects the example's table and has these pins.
fn with_pins(pins: &[Value]) -> Setup {
    let node = json!({"relations": ["public.demo_sales"], "pins": pins});
    Setup { stamp_key: Some(KEY.to_owned()), ..Setup::node(node) }
}

/// The names of the pins that are listed.
async fn listed(endpoint: &Endpoint) -> Vec<String> {
    let list = endpoint.ask("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("{list}"));
    let names = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
    names.filter(|name| name.starts_with("pq_")).collect()
}

/// A call whose tool need not be listed.
async fn call(endpoint: &Endpoint, tool: &str, arguments: Value) -> Value {
    let answer = endpoint.ask("tools/call", json!({"name": tool, "arguments": arguments})).await;
    answer["result"]["structuredContent"].clone()
}
