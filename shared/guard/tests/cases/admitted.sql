-- Each case: a line that says why, the text, `=>` and the text that runs.

# a plain read is wrapped
SELECT 1
=> SELECT * FROM (SELECT 1¶) pinguard_q LIMIT 11

# trailing semicolons and the comments behind them go
SELECT 1 ; ; -- done
=> SELECT * FROM (SELECT 1 ¶) pinguard_q LIMIT 11

# a semicolon inside a string stays
SELECT ';'
=> SELECT * FROM (SELECT ';'¶) pinguard_q LIMIT 11

# empty statements before the read go
;; SELECT 1
=> SELECT * FROM ( SELECT 1¶) pinguard_q LIMIT 11

# a comment at the end cannot swallow the wrapper
SELECT * FROM big -- all of it
=> SELECT * FROM (SELECT * FROM big -- all of it¶) pinguard_q LIMIT 11

# a comment that looks like the wrapper's end is a comment
SELECT 1 -- ) x
=> SELECT * FROM (SELECT 1 -- ) x¶) pinguard_q LIMIT 11

# a comment before the first word
/* monthly */ SELECT 1
=> SELECT * FROM (/* monthly */ SELECT 1¶) pinguard_q LIMIT 11

# words that write, as data
SELECT 'DELETE FROM t' AS "update", $$DROP$$ /* INSERT */
=> SELECT * FROM (SELECT 'DELETE FROM t' AS "update", $$DROP$$ /* INSERT */¶) pinguard_q LIMIT 11

# WITH
WITH a AS (SELECT 1 AS x) SELECT x FROM a
=> SELECT * FROM (WITH a AS (SELECT 1 AS x) SELECT x FROM a¶) pinguard_q LIMIT 11

# VALUES
VALUES (1), (2)
=> SELECT * FROM (VALUES (1), (2)¶) pinguard_q LIMIT 11

# TABLE
TABLE t
=> SELECT * FROM (TABLE t¶) pinguard_q LIMIT 11

# set operations in parentheses
(SELECT 1 LIMIT 1) UNION ALL (SELECT 2 ORDER BY 1)
=> SELECT * FROM ((SELECT 1 LIMIT 1) UNION ALL (SELECT 2 ORDER BY 1)¶) pinguard_q LIMIT 11

# parameters
SELECT $2::int + $1
=> SELECT * FROM (SELECT $2::int + $1¶) pinguard_q LIMIT 11

# newer grammar
SELECT x IS JSON, JSON_VALUE(x, '$.a') FROM t
=> SELECT * FROM (SELECT x IS JSON, JSON_VALUE(x, '$.a') FROM t¶) pinguard_q LIMIT 11

# grammar that other parsers miss
SELECT * FROM ROWS FROM (generate_series(1, 2), generate_series(1, 3)) AS r(a, b) ORDER BY a USING >
=> SELECT * FROM (SELECT * FROM ROWS FROM (generate_series(1, 2), generate_series(1, 3)) AS r(a, b) ORDER BY a USING >¶) pinguard_q LIMIT 11

# a quoted name may hold what shows nothing
SELECT "a b"
=> SELECT * FROM (SELECT "a b"¶) pinguard_q LIMIT 11

# letters of other scripts
SELECT größe, 数量 FROM verkäufe
=> SELECT * FROM (SELECT größe, 数量 FROM verkäufe¶) pinguard_q LIMIT 11

# EXPLAIN in its old spelling
explain analyze verbose select 1;
=> EXPLAIN (analyze on, verbose on) select 1

# EXPLAIN with options
EXPLAIN (ANALYZE false, FORMAT json, buffers 1) WITH a AS (SELECT 1) TABLE a
=> EXPLAIN (analyze off, format json, buffers on) WITH a AS (SELECT 1) TABLE a

# EXPLAIN of a statement in parentheses
EXPLAIN (SELECT 1)
=> EXPLAIN (SELECT 1)

# EXPLAIN with a comment between
EXPLAIN /* why */ SELECT 1 -- end
=> EXPLAIN SELECT 1 -- end

# SHOW of a listed setting
SHOW Server_Version
=> SHOW server_version

# SHOW in its grammar's own spelling
SHOW TIME ZONE
=> SHOW timezone
