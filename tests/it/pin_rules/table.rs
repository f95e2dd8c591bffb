//! The table: what a pinned query is, in the order in which one is turned on, written, tested, offered, called and audited.

use super::Check::{self, Held, Passes, Refused};
use super::Tried::{Part, Row, Sql};

/// A rule, and what holds it.
#[rustfmt::skip] // one rule, one line
pub(super) const RULES: &[(&str, Check)] = &[
    // What a pin is.
    ("an agent calls a tool that takes the pin's parameters and never sees its statement", Held(&["tests/it/endpoint/pins/calls.rs::a_listed_pin_says_what_it_is_and_takes_only_its_parameters"])),
    ("the saved statement runs with the values bound, whatever they hold", Held(&["tests/it/endpoint/pins/calls.rs::values_arrive_as_they_were_sent", "shared/pins/tests/it/laws.rs::no_value_can_change_the_statement"])),
    ("each pin is a tool of its own; there is none that takes a pin's name", Held(&["tests/it/endpoint/pins/calls.rs::a_thousand_pins_are_listed_and_called"])),
    ("a stamp is a label and no permission: the guard judges every call", Held(&["tests/it/endpoint/pins/standing.rs::the_stamp_opens_nothing_that_the_guard_closes", "tests/it/endpoint/pins/drift.rs::a_view_that_came_to_call_a_function_is_refused_though_the_stamp_holds"])),

    // Turning pins on.
    ("exactly `1` and `true` turn pins on, and nothing else does", Held(&["functions/mcp/src/settings.rs::pins_are_on_by_two_values_and_need_their_key"])),
    ("a node without pins is served alike, on or off", Held(&["tests/it/pin_rules.rs::a_node_without_pins_offers_the_same_whether_pins_are_on_or_off"])),
    ("off: no pin is offered, a call of one is refused, free SQL stays", Held(&["tests/it/endpoint/pins/standing.rs::while_pins_are_off_none_is_offered_and_free_sql_is_as_it_was"])),
    ("off: a test is refused and nothing runs", Held(&["tests/it/pin_test_api/refused.rs::while_pins_are_off_or_the_key_is_no_key_nothing_runs"])),
    ("off: a page of a pin that was begun is not read on", Held(&["tests/it/endpoint/paging/pins.rs::with_pins_turned_off_their_pages_are_gone"])),
    ("off and on again: what was saved stays, and is offered where its stamp stands", Held(&["tests/it/pin_rules.rs::pins_that_are_turned_off_stay_saved_and_come_back"])),

    // The statement.
    ("a pin is one SELECT", Refused(Sql("UPDATE demo_sales SET units = 0 WHERE month = :month"), 422, "begins with SELECT or WITH")),
    ("or one WITH", Passes(Sql("WITH x AS (SELECT * FROM demo_sales WHERE month = :month) SELECT id FROM x ORDER BY id LIMIT 10"), r#""rows":[[1],[2],[3],[6]]"#)),
    ("and no second one", Refused(Sql("SELECT :month LIMIT 1; SELECT 2 LIMIT 1"), 422, "a pin is one statement")),
    ("a semicolon at the end is refused", Refused(Sql("SELECT :month AS m LIMIT 1;"), 422, "semicolon")),
    ("the editor can take it away, and put a LIMIT of 100 in", Held(&["shared/pins/tests/it/compiling.rs::the_editor_can_have_semicolons_and_limit_put_right"])),
    ("a LIMIT has to be there", Refused(Sql("SELECT id FROM demo_sales WHERE month = :month"), 422, "add `LIMIT 100`")),
    ("at the top level", Refused(Sql("SELECT * FROM (SELECT id FROM demo_sales WHERE month = :month LIMIT 5) x"), 422, "add `LIMIT 100`")),
    ("as a literal number", Refused(Sql("SELECT id FROM demo_sales WHERE month = :month LIMIT 5 + 5"), 422, "no literal whole number")),
    ("no parameter is a LIMIT", Refused(Part(r#"{"pin": {"sql": "SELECT id FROM demo_sales LIMIT :n", "params": [{"name": "n", "type": "int8"}]}, "values": {"month": null, "n": 5}}"#), 422, "stands in LIMIT")),
    ("nor an OFFSET", Refused(Part(r#"{"pin": {"sql": "SELECT id FROM demo_sales LIMIT 5 OFFSET :n", "params": [{"name": "n", "type": "int8"}]}, "values": {"month": null, "n": 5}}"#), 422, "stands in OFFSET")),
    ("nor in a subquery", Refused(Part(r#"{"pin": {"sql": "SELECT * FROM (SELECT id FROM demo_sales LIMIT :n) x LIMIT 5", "params": [{"name": "n", "type": "int8"}]}, "values": {"month": null, "n": 5}}"#), 422, "stands in LIMIT")),
    ("no parameter is a table", Refused(Sql("SELECT 1 AS x FROM :month LIMIT 1"), 422, "syntax error at or near `:month`")),
    ("nor a column", Refused(Sql("SELECT d.:month FROM demo_sales d LIMIT 1"), 422, "syntax error at or near `:month`")),
    ("nor a direction of ORDER BY", Refused(Sql("SELECT id FROM demo_sales ORDER BY id :month LIMIT 1"), 422, "syntax error at or near `:month`")),
    ("nor a list", Refused(Sql("SELECT id FROM demo_sales WHERE month IN :month LIMIT 1"), 422, "no list parameter")),
    ("a raw `$1` is refused", Refused(Sql("SELECT id FROM demo_sales WHERE month = $1 LIMIT 1"), 422, "write `:name`")),
    ("`?`, `?|` and `?&` stay operators", Passes(Sql(r#"SELECT '{"a": 1}'::jsonb ? 'a' AND '["b"]'::jsonb ?| ARRAY['b'] AND NOT '["b"]'::jsonb ?& ARRAY['b', 'c'] AS x FROM demo_sales WHERE month = :month LIMIT 1"#), r#""rows":[[true]]"#)),
    ("what stands in strings, quoted names, comments and dollar quotes is no parameter", Passes(Sql("SELECT ':x' AS \":y\", $$:z$$ AS d /* :c */ FROM demo_sales WHERE month = :month LIMIT 1 -- :e"), r#""rows":[[":x",":z"]]"#)),
    ("a cast with `::` is none either", Passes(Sql("SELECT max(units)::text AS most FROM demo_sales WHERE month = :month LIMIT 1"), r#""rows":[["9"]]"#)),
    ("a `[` right after a parameter is refused", Refused(Sql("SELECT :month[1] AS x LIMIT 1"), 422, "`(` or `[` follows `:month`")),
    ("and so is a `(`", Refused(Sql("SELECT :month(1) AS x LIMIT 1"), 422, "`(` or `[` follows `:month`")),
    ("and an open slice", Refused(Sql("SELECT (ARRAY[1, 2])[:month] AS x LIMIT 1"), 422, "bound of a slice")),
    ("an array may be made of parameters", Passes(Part(r#"{"pin": {"sql": "SELECT id FROM demo_sales WHERE id = ANY (ARRAY[:a, :b]) ORDER BY id LIMIT 9", "params": [{"name": "a", "type": "int8"}, {"name": "b", "type": "int8"}]}, "values": {"month": null, "a": 1, "b": 2}}"#), r#""rows":[[1],[2]]"#)),
    ("each `:name` has a row", Refused(Sql("SELECT id FROM demo_sales WHERE month = :month AND id = :id LIMIT 1"), 422, "`:id` has no row")),
    ("each row stands in the statement", Refused(Sql("SELECT id FROM demo_sales LIMIT 1"), 422, "`:month` does not stand in the statement")),
    ("both texts, to check and to run, are compiled from the saved entry", Held(&["shared/pins/tests/it/demo_sales.rs::revenue_by_region_compiles_to_this_text"])),
    ("nobody hands in a compiled one", Refused(Part(r#"{"pin": {"compiledSql": "SELECT 1"}}"#), 422, "compiledSql")),

    // Name and purpose.
    ("a purpose is one line", Refused(Part(r#"{"pin": {"purpose": "Revenue\nby region"}}"#), 422, "one line")),
    ("a tool's name is suggested from it", Held(&["shared/pins/src/name.rs::a_name_is_suggested_from_the_purpose_and_is_always_valid"])),
    ("and begins with `pq_`", Refused(Part(r#"{"pin": {"name": "revenue"}}"#), 422, "begins with `pq_`")),
    ("goes on with letters, digits and underscores", Refused(Part(r#"{"pin": {"name": "pq_a-b"}}"#), 422, "digits and underscores only")),
    ("has 64 characters", Passes(Part(r#"{"pin": {"name": "pq_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}"#), r#""stamp":{"#)),
    ("and not one more", Refused(Part(r#"{"pin": {"name": "pq_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}"#), 422, "at most 64")),
    ("and is no other pin's of the flow", Held(&["tests/it/pin_test_api/refused.rs::a_name_that_another_pin_of_the_flow_has_is_refused", "shared/state/src/flow/tests.rs::ids_and_pin_names_stand_once_in_a_flow"])),
    ("nodes of one flow that offer one name are a clear error", Held(&["tests/it/endpoint/flow_wide.rs::two_tools_of_one_name_are_an_error_that_names_both_nodes"])),

    // Parameters.
    ("text", Passes(Row(r#"{"name": "a", "type": "text"}"#, r#""x""#), r#""rows":[["x"]]"#)),
    ("int8", Passes(Row(r#"{"name": "a", "type": "int8"}"#, "5"), r#""rows":[[5]]"#)),
    ("numeric, every digit", Passes(Row(r#"{"name": "a", "type": "numeric"}"#, r#""1.50""#), r#""rows":[["1.50"]]"#)),
    ("date", Passes(Row(r#"{"name": "a", "type": "date"}"#, r#""2026-01-01""#), r#""rows":[["2026-01-01"]]"#)),
    ("timestamp, of no zone", Passes(Row(r#"{"name": "a", "type": "timestamp"}"#, r#""2026-01-01 12:00:00""#), "2026-01-01")),
    ("timestamptz, which is another type", Passes(Row(r#"{"name": "a", "type": "timestamptz"}"#, r#""2026-01-01T12:00:00+02:00""#), "2026-01-01")),
    ("bool", Passes(Row(r#"{"name": "a", "type": "bool"}"#, "true"), r#""rows":[[true]]"#)),
    ("no eighth type", Refused(Row(r#"{"name": "a", "type": "int4"}"#, "5"), 422, "is not a parameter type")),
    ("no array", Refused(Row(r#"{"name": "a", "type": "int8[]"}"#, "[5]"), 422, "is not a parameter type")),
    ("a type that can be inferred is suggested, and none is quietly text", Held(&["tests/it/pin_test_api/passing.rs::types_are_suggested_where_the_server_infers_them_and_text_is_never_taken_for_granted", "shared/pins/tests/it/compiling.rs::a_suggested_type_is_never_a_quiet_text"])),
    ("a timestamp is not read in anybody's zone", Refused(Row(r#"{"name": "a", "type": "timestamp"}"#, r#""2026-01-01T12:00:00Z""#), 422, "a zone follows the time")),
    ("a timestamptz is not read in the server's", Refused(Row(r#"{"name": "a", "type": "timestamptz"}"#, r#""2026-01-01 12:00:00""#), 422, "the zone is missing")),
    ("values travel as canonical text", Held(&["shared/pins/tests/it/laws.rs::canonical_text_is_of_its_type_alone_and_reads_as_itself"])),
    ("a value of another type is refused", Refused(Part(r#"{"values": {"month": "January"}}"#), 422, "invalid_values")),
    ("a day that does not exist is", Refused(Part(r#"{"values": {"month": "2026-02-30"}}"#), 422, "no such day")),
    ("a parameter is required unless it says otherwise", Refused(Part(r#"{"values": {"month": null}}"#), 422, "`month`: missing")),
    ("a default stands in for what is left out", Passes(Part(r#"{"pin": {"sql": "SELECT :a AS a LIMIT 1", "params": [{"name": "a", "type": "int8", "required": false, "default": 5, "description": "how many", "allowed": [5, 10], "min": 1, "max": 20}]}, "values": {"month": null}}"#), r#""rows":[[5]]"#)),
    ("allowed values hold", Refused(Row(r#"{"name": "a", "type": "text", "allowed": ["x"]}"#, r#""y""#), 422, "not one of the allowed values `x`")),
    ("a least value holds", Refused(Row(r#"{"name": "a", "type": "int8", "min": 1}"#, "0"), 422, "below the least value `1`")),
    ("a greatest one does", Refused(Row(r#"{"name": "a", "type": "int8", "max": 20}"#, "21"), 422, "above the greatest value `20`")),
    ("an unknown argument is refused, and the answer names those that are known", Refused(Part(r#"{"values": {"order_by": "id"}}"#), 422, "this tool takes `month` (date, required)")),
    ("an agent hands in no SQL", Refused(Part(r#"{"values": {"sql": "SELECT 1"}}"#), 422, "`sql`: no such parameter")),
    ("agents are refused alike", Held(&["tests/it/endpoint/pins/calls.rs::arguments_that_do_not_fit_are_answered_with_the_parameters"])),
    ("no parameter is called sql", Refused(Row(r#"{"name": "sql", "type": "text"}"#, r#""x""#), 422, "argument of other tools")),
    ("nor statement", Refused(Row(r#"{"name": "statement", "type": "text"}"#, r#""x""#), 422, "argument of other tools")),
    ("nor query", Refused(Row(r#"{"name": "query", "type": "text"}"#, r#""x""#), 422, "argument of other tools")),
    ("nor cursor", Refused(Row(r#"{"name": "cursor", "type": "text"}"#, r#""x""#), 422, "argument of other tools")),
    ("nor page", Refused(Row(r#"{"name": "page", "type": "text"}"#, r#""x""#), 422, "argument of other tools")),

    // Where a pin runs.
    ("a test runs by the road of an agent's call", Held(&["tests/it/pin_test_api/passing.rs::a_tested_pin_is_saved_published_and_called_with_the_rows_of_its_test"])),
    ("on the credential of the node on the canvas", Refused(Part(r#"{"canvas": {"credential": "absent"}}"#), 409, "absent")),
    ("which is one of the caller's workspace", Refused(Part(r#"{"canvas": {"credential": "theirs"}}"#), 409, "theirs")),
    ("a node without one has the default; without that there is a clear error and no pin", Held(&["tests/it/endpoint/connecting.rs::a_node_without_a_credential_uses_the_default_one_or_says_that_there_is_none"])),
    ("the request names no database", Refused(Part(r#"{"url": "postgresql://a:b@c/d"}"#), 400, "url")),
    ("nor does the canvas", Refused(Part(r#"{"canvas": {"databaseUrl": "x"}}"#), 400, "databaseUrl")),
    ("it runs read-only", Refused(Sql("WITH x AS (DELETE FROM demo_sales WHERE month = :month RETURNING id) SELECT id FROM x LIMIT 1"), 422, "writes_data")),
    ("within the tables and views that the node selects", Refused(Sql("SELECT rolname FROM pg_roles WHERE :month IS NOT NULL LIMIT 1"), 422, "relation_not_selected")),
    ("with the functions that may run", Refused(Sql("SELECT pg_sleep(0) AS x FROM demo_sales WHERE month = :month LIMIT 1"), 422, "builtin_refused")),
    ("within the node's time", Refused(Part(r#"{"pin": {"sql": "SELECT count(*) AS n FROM generate_series(1, 100000000000) WHERE :month IS NOT NULL LIMIT 1"}, "canvas": {"timeoutSeconds": 1}}"#), 422, "57014")),
    ("and within its row cap", Passes(Part(r#"{"canvas": {"rowCap": 2}}"#), r#""rowCount":2"#)),
    ("a pin's own cap lowers it", Passes(Part(r#"{"pin": {"rowCap": 1}, "canvas": {"rowCap": 2}}"#), r#""rowCount":1"#)),
    ("and raises nothing", Passes(Part(r#"{"pin": {"rowCap": 3}, "canvas": {"rowCap": 2}}"#), r#""rowCount":2"#)),
    ("the lowest of all caps counts for agents too", Held(&["tests/it/endpoint/pins/calls.rs::the_lower_of_the_caps_counts"])),
    ("a cap counts rows, whatever is packed into one", Passes(Part(r#"{"pin": {"sql": "SELECT count(*) AS n, jsonb_agg(id ORDER BY id) AS ids FROM demo_sales WHERE month = :month LIMIT 1"}, "canvas": {"rowCap": 1}}"#), r#""rows":[[4,[1,2,3,6]]],"rowCount":1,"truncated":false"#)),
    ("names with commas between them are a list", Passes(Part(r#"{"canvas": {"relations": "public.other, public.demo_sales"}}"#), r#""rowCount":3"#)),
    ("a cap with a fraction is rounded down", Passes(Part(r#"{"canvas": {"rowCap": 2.9}}"#), r#""rowCount":2"#)),
    ("to one at the least", Passes(Part(r#"{"canvas": {"rowCap": 0.5}}"#), r#""rowCount":1"#)),
    ("a later page is verified and bounded like the first", Held(&["tests/it/endpoint/paging/pins.rs::a_pin_that_no_longer_stands_is_not_read_on", "tests/it/endpoint/paging/pins.rs::a_pin_is_read_on_where_there_is_no_free_sql"])),

    // What an answer says.
    ("which pin it is of: id, version, hash, tool", Held(&["tests/it/endpoint/pins/calls.rs::the_worked_example_gives_its_rows"])),
    ("that there may be more, at as many rows as the LIMIT", Passes(Sql("SELECT region FROM demo_sales WHERE month = :month LIMIT 4"), r#""possiblyTruncated":true"#)),
    ("that columns are other than when it was tested, and the call goes through", Held(&["tests/it/endpoint/pins/drift.rs::a_changed_column_warns_and_a_dropped_one_fails"])),

    // The test's route.
    ("the right to change flows of its kind, a key that opens the flow, the caller's workspace", Held(&["tests/it/pin_test_api/refused.rs::only_those_who_may_change_the_flow_may_test_its_pins"])),
    ("the node is in the draft, or in Live where there is none", Refused(Part(r#"{"nodeId": "absent"}"#), 404, "has no node `absent` in its draft, or in Live")),
    ("what the canvas does not say comes from there", Held(&["tests/it/pin_test_api/passing.rs::what_the_canvas_says_counts_and_the_rest_comes_from_the_draft_or_from_live"])),
    ("the canvas holds what it may and nothing else", Refused(Part(r#"{"canvas": {"rules": "x"}}"#), 400, "rules")),
    ("what passes gets a stamp", Passes(Part("{}"), r#""stamp":{"#)),
    ("which says who ran it", Passes(Part("{}"), r#""testedBy":"key 1""#)),
    ("what is refused gets none", Held(&["tests/it/pin_test_api/refused.rs::a_statement_that_the_guard_or_the_database_refuses_gets_no_stamp_and_the_place_in_the_saved_text"])),

    // The stamp.
    ("is an HMAC of exactly these things", Held(&["shared/pins/src/stamp.rs::a_stamp_signs_exactly_these_bytes", "shared/pins/tests/it/stamps.rs::hash_and_stamp_are_these_for_ever"])),
    ("covers the statement, the parameters and the columns", Held(&["shared/pins/tests/it/stamps.rs::an_edit_of_statement_or_parameters_undoes_the_stamp"])),
    ("covers workspace, credential, selection and functions", Held(&["shared/pins/tests/it/stamps.rs::another_place_undoes_the_stamp"])),
    ("does not cover the flow: a copy in the workspace keeps it", Held(&["tests/it/pin_test_api/passing.rs::a_tested_pin_is_saved_published_and_called_with_the_rows_of_its_test"])),
    ("made up, pasted, or of another workspace or server it proves nothing", Held(&["tests/it/endpoint/pins/standing.rs::a_stamp_that_was_made_up_or_made_elsewhere_does_not_stand"])),
    ("a change of pin or node takes the tool away until the next test", Held(&["tests/it/endpoint/pins/standing.rs::a_changed_pin_or_node_has_to_be_tested_again_and_some_changes_are_none"])),
    ("and so does another key", Held(&["tests/it/endpoint/pins/standing.rs::a_rotated_key_takes_every_pin_away_and_a_missing_one_says_so"])),
    ("a flow that is exported has its SQL and no connection", Held(&["tests/it/pin_rules.rs::a_flow_that_is_read_has_its_statements_and_no_connection"])),

    // Free SQL beside pins.
    ("pins take nothing away: `query` and `describe` stay", Held(&["tests/it/endpoint/pins/calls.rs::records_name_the_pin_and_free_sql_the_pins_that_it_passed_by"])),
    ("without the action `query` there are pins alone", Held(&["tests/it/endpoint/pins/calls.rs::a_node_without_the_action_query_offers_its_pins_alone"])),
    ("a record of free SQL names the pins that were offered, and none where none was", Held(&["tests/it/endpoint/pins/calls.rs::records_name_the_pin_and_free_sql_the_pins_that_it_passed_by", "tests/it/endpoint/pins/standing.rs::while_pins_are_off_none_is_offered_and_free_sql_is_as_it_was"])),

    // Records of calls.
    ("a statement's hash stands in every record, also of what was refused or failed", Held(&["tests/it/endpoint/records.rs::a_served_a_refused_and_a_failed_call_leave_one_record_each"])),
    ("64 digits, of the text without its layout", Held(&["shared/pins/src/hash.rs::the_hash_of_a_statement_forgets_layout_and_nothing_else"])),
    ("a page has that of its statement", Held(&["tests/it/endpoint/paging/pages.rs::records_of_pages_have_the_statements_hash_and_the_pages_number"])),
    ("a pin's hash is another: it covers the parameters", Held(&["tests/it/pin_rules.rs::the_hash_of_a_pin_is_not_that_of_its_statement"])),
    ("a preview only with its setting, cut, without literals", Held(&["tests/it/endpoint/records.rs::a_preview_is_kept_only_with_the_setting_and_holds_no_literal"])),
    ("no value ever", Held(&["tests/it/lambda.rs::each_call_leaves_one_record_without_values"])),

    // The audit.
    ("a publish tells of new, changed and removed pins; a draft does not, and no statement or value is told", Held(&["tests/it/flows_api/publishing.rs::the_audit_tells_of_new_changed_and_removed_pins_and_of_nothing_else"])),
    ("a test that passes is told when it runs", Held(&["tests/it/pin_test_api/audited.rs::a_passing_test_leaves_one_row_and_a_refused_one_none"])),
    ("a publish does not wait for the audit", Held(&["tests/it/flows_api/publishing.rs::a_publish_goes_through_while_the_audit_is_away"])),
    ("nor does a test", Held(&["tests/it/pin_test_api/audited.rs::an_event_that_cannot_be_sent_becomes_a_line_and_the_test_passes_all_the_same"])),
    ("an event has the named fields and names in them", Held(&["shared/state/src/audit/event.rs::only_the_named_fields_and_only_names_are_taken", "shared/state/src/audit/row.rs::a_row_has_what_the_event_names"])),
    ("a hash that is none is left out", Held(&["shared/state/src/audit/event.rs::a_hash_that_is_none_is_left_out", "shared/state/src/audit/changes.rs::an_event_has_a_hash_only_where_the_pin_compiles"])),
    ("a name has no secret in it", Held(&["shared/state/src/audit/event.rs::a_name_is_one_line_without_secrets"])),
    ("a summary holds the pin's name", Held(&["shared/state/src/audit/row.rs::a_summary_holds_the_longest_name_whole"])),
    ("a detail over 8,000 characters is dropped, and its row stays", Held(&["shared/state/src/audit/row.rs::a_detail_longer_than_8000_characters_is_dropped_and_the_row_stays"])),
    ("the same list is read over the API", Held(&["tests/it/flows_api/publishing.rs::the_audit_is_read_in_pages_and_by_flow_node_and_change"])),

    // The worked example.
    ("revenue of January by region", Passes(Part("{}"), r#""rows":[["east","64.00"],["north","165.50"],["south","80.00"]]"#)),
    ("products by rank, the rank being no LIMIT", Passes(Part(r#"{"pin": {"sql": "SELECT product, revenue FROM (SELECT product, sum(amount) AS revenue, rank() OVER (ORDER BY sum(amount) DESC) AS rnk FROM demo_sales WHERE month = :month GROUP BY product) ranked WHERE rnk <= :n ORDER BY rnk LIMIT 20", "params": [{"name": "month", "type": "date"}, {"name": "n", "type": "int8", "max": 20}]}, "values": {"n": 2}}"#), r#""rows":[["cedar tea","200.00"],["linen towel","64.00"]]"#)),
];
