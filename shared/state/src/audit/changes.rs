//! What a publish does to the pins of Live.

use std::collections::HashMap;

use pins::Pin;

use super::event::{Actor, AuditEvent, ChangeKind};
use crate::flow::{Flow, FlowId, Node};

/// The events that lead from one Live to the next, pins known by their id: new and changed ones in document order, then
/// those that are gone. A new stamp alone is no change: the test that gave it has its own event.
pub(crate) fn between(
    workspace: &str,
    by: &Actor,
    flow: &FlowId,
    before: Option<&Flow>,
    after: Option<&Flow>,
) -> Vec<AuditEvent> {
    let event = |change, (node, pin)| AuditEvent::now(workspace, by, change, (flow, node, pin));
    let mut old: HashMap<&str, (&Node, &Pin)> =
        pins(before).map(|(node, pin)| (pin.id(), (node, pin))).collect();
    let mut events = Vec::new();
    for (node, pin) in pins(after) {
        match old.remove(pin.id()) {
            None => events.push(event(ChangeKind::Create, (node, pin))),
            Some(was) if differs(was, (node, pin)) => events.push(event(ChangeKind::Edit, (node, pin))),
            Some(_) => {}
        }
    }
    let gone = pins(before).filter(|(_, pin)| old.contains_key(pin.id()));
    events.extend(gone.map(|found| event(ChangeKind::Delete, found)));
    events
}

fn pins(flow: Option<&Flow>) -> impl Iterator<Item = (&Node, &Pin)> {
    let nodes = flow.into_iter().flat_map(|flow| &flow.nodes);
    nodes.flat_map(|node| node.pins.iter().map(move |pin| (node, pin)))
}

fn differs((old_node, old): (&Node, &Pin), (node, pin): (&Node, &Pin)) -> bool {
    old_node.id != node.id || old.clone().with_stamp(None) != pin.clone().with_stamp(None)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pin(id: &str, sql: &str) -> Value {
        json!({"id": id, "name": format!("pq_{id}"), "purpose": "p", "sql": sql})
    }

    fn stamped(mut pin: Value) -> Value {
        pin["stamp"] = json!({"hmac": "0".repeat(64), "testedColumns": [], "testedBy": "a", "testedAt": "b"});
        pin
    }

    fn flow(nodes: &[(&str, &[Value])]) -> Flow {
        let nodes: Vec<_> = nodes.iter().map(|(id, pins)| json!({"id": id, "pins": pins})).collect();
        let json = json!({"id": "f", "kind": "chatflow", "nodes": nodes});
        Flow::from_json(&json.to_string()).unwrap()
    }

    #[track_caller]
    fn check(before: Option<&Flow>, after: Option<&Flow>, expected: &[&str]) {
        let id = FlowId::parse("f").unwrap();
        let events = between("w", &Actor::new("k", "n"), &id, before, after);
        let said = events.iter().map(|event| format!("{} {}/{}", event.change, event.node, event.pin));
        assert_eq!(said.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn new_changed_moved_and_removed_pins_have_their_events() {
        let (a, b) = (pin("a", "SELECT 1 LIMIT 1"), pin("b", "SELECT 2 LIMIT 1"));
        let both = flow(&[("n", &[a.clone(), b.clone()])]);
        check(None, Some(&both), &["create n/pq_a", "create n/pq_b"]);
        check(Some(&both), Some(&both), &[]);
        check(Some(&both), None, &["delete n/pq_a", "delete n/pq_b"]);
        let edited = flow(&[("n", &[pin("b", "SELECT 3 LIMIT 1"), pin("c", "SELECT 1 LIMIT 1")])]);
        check(Some(&both), Some(&edited), &["edit n/pq_b", "create n/pq_c", "delete n/pq_a"]);
        let moved = flow(&[("n", &[b]), ("m", &[a])]);
        check(Some(&both), Some(&moved), &["edit m/pq_a"]);
    }

    #[test]
    fn order_and_stamps_are_no_change() {
        let (a, b) = (pin("a", "SELECT 1 LIMIT 1"), pin("b", "SELECT 2 LIMIT 1"));
        let before = flow(&[("n", &[a.clone(), b.clone()])]);
        check(Some(&before), Some(&flow(&[("n", &[b, stamped(a)])])), &[]);
    }

    #[test]
    fn an_event_has_a_hash_only_where_the_pin_compiles() {
        let id = FlowId::parse("f").unwrap();
        let after = flow(&[("n", &[pin("a", "SELECT 1 LIMIT 1"), pin("b", "SELECT 1")])]);
        let events = between("w", &Actor::new("k", "n"), &id, None, Some(&after));
        assert_eq!(events[0].statement_hash.as_ref().map(String::len), Some(64));
        assert_eq!(events[1].statement_hash, None);
    }
}
