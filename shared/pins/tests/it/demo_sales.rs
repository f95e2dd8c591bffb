//! The worked example: two pins over a table of sales.

use serde_json::json;

use crate::{compiled, object};

#[test]
fn revenue_by_region_compiles_to_this_text() {
    let pin = compiled(
        "SELECT region, sum(amount) AS revenue\nFROM demo_sales\nWHERE month = :month\nGROUP BY region\nORDER BY region\nLIMIT 100",
        json!(["month date"]),
    );
    assert_eq!(
        pin.sql(),
        "SELECT region, sum(amount) AS revenue\nFROM demo_sales\nWHERE month = ($1::pg_catalog.date)\nGROUP BY region\nORDER BY region\nLIMIT 100"
    );
    assert_eq!(pin.limit(), 100);
    assert_eq!(pin.bind(&object(json!({"month": "2026-01-01"}))), Ok(vec![Some("2026-01-01".to_owned())]));
    assert!(pin.possibly_truncated(100) && !pin.possibly_truncated(3));
}

#[test]
fn top_products_compiles_to_this_text() {
    let pin = compiled(
        "SELECT product, revenue\nFROM (\n    SELECT product,\n           sum(amount) AS revenue,\n           rank() OVER (ORDER BY sum(amount) DESC) AS rnk\n    FROM demo_sales\n    WHERE month = :month\n    GROUP BY product\n) ranked\nWHERE rnk <= :n\nORDER BY rnk\nLIMIT 20",
        json!(["month date", {"name": "n", "type": "int8", "max": 20}]),
    );
    assert_eq!(
        pin.sql(),
        "SELECT product, revenue\nFROM (\n    SELECT product,\n           sum(amount) AS revenue,\n           rank() OVER (ORDER BY sum(amount) DESC) AS rnk\n    FROM demo_sales\n    WHERE month = ($1::pg_catalog.date)\n    GROUP BY product\n) ranked\nWHERE rnk <= ($2::pg_catalog.int8)\nORDER BY rnk\nLIMIT 20"
    );
    assert_eq!(pin.limit(), 20);
    let bound = pin.bind(&object(json!({"n": 2, "month": "2026-01-01"})));
    assert_eq!(bound, Ok(vec![Some("2026-01-01".to_owned()), Some("2".to_owned())]));
    let bad = pin.bind(&object(json!({"n": 21, "month": "2026-01-01"}))).unwrap_err();
    assert_eq!(
        bad.to_string(),
        "`n`: is above the greatest value `20`; this tool takes `month` (date, required), `n` (int8, required)"
    );
}
