# operators, functions, constants
SELECT a + 1, upper(b) FROM t WHERE b LIKE 'x%'
=> clear | clear

# conditions of every kind
SELECT a IS NULL, (a > 1) IS TRUE, a IS DISTINCT FROM 1, nullif(a, 1), NOT (a = 1 OR a = 2), a IN (1, 2), a <> ALL ('{3}') FROM t
=> clear | clear

# CASE with and without a subject, COALESCE, GREATEST
SELECT CASE a WHEN 1 THEN 'x' ELSE 'y' END, CASE WHEN b = '' THEN 1 END, coalesce(b, ''), greatest(a, 2) FROM t
=> clear | clear

# aggregates
SELECT count(*), sum(a) FILTER (WHERE a > 1), string_agg(b, ',' ORDER BY b), count(DISTINCT b), percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM t
=> clear | clear

# grouping sets
SELECT a, grouping(a), count(*) FROM t GROUP BY ROLLUP (a), GROUPING SETS ((b), ()) HAVING count(*) > 0
=> clear | clear

# windows
SELECT rank() OVER w, sum(a) OVER (w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), avg(a) OVER (ORDER BY a RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t WINDOW w AS (PARTITION BY b ORDER BY a)
=> clear | clear

# joins
SELECT t.b, x.c FROM t LEFT JOIN u AS x USING (a) CROSS JOIN LATERAL (SELECT x.c + 1) AS y (z) ORDER BY t.b DESC NULLS LAST, x.c USING <
=> clear | clear

# subqueries
SELECT (SELECT max(a) FROM u), ARRAY(SELECT a FROM u), EXISTS (SELECT 1 FROM u WHERE u.a = t.a), a = ANY (SELECT a FROM u) FROM t
=> clear | clear

# set operations
(SELECT a FROM t UNION ALL SELECT a FROM u) EXCEPT SELECT 1 ORDER BY 1 LIMIT 5 OFFSET 1
=> clear | clear

# DISTINCT ON, and rows of ties
SELECT DISTINCT ON (b) a FROM t ORDER BY b, a FETCH FIRST 3 ROWS WITH TIES
=> clear | clear

# WITH
WITH x AS MATERIALIZED (SELECT a FROM t), y (q) AS (SELECT a FROM x) SELECT q FROM y, x
=> clear | clear

# WITH RECURSIVE, searched and without cycles
WITH RECURSIVE r AS (SELECT a FROM t UNION ALL SELECT a + 1 FROM r WHERE a < 5) SEARCH DEPTH FIRST BY a SET o CYCLE a SET c USING p SELECT * FROM r
=> clear | clear

# VALUES, and rows
SELECT ROW(x, 'y'), (x, 1) < (2, 2), x FROM (VALUES (1), (2)) AS v (x)
=> clear | clear

# arrays
SELECT ARRAY[a, 2], l[1], l[1:2], l::text[], '{1}'::int[] || 2 FROM kinds, t
=> clear | clear

# fields of a row
SELECT (p).b, (ROW(1, 'x')::pair).a FROM kinds
=> clear | clear

# conversions by text, by relabelling, by collation
SELECT a::text::mood, v || b COLLATE "C", upper(v) FROM kinds, t
=> clear | clear

# a domain
SELECT 3::positive, random()::int::positive
=> clear | clear

# a row of a child as one of its parent
SELECT c::parent FROM child AS c
=> clear | relation_not_selected

# what the session knows
SELECT current_date, current_user, localtimestamp(0)
=> clear | clear

# functions in FROM
SELECT * FROM ROWS FROM (generate_series(1, 2), unnest(ARRAY['x'])) WITH ORDINALITY AS f (x, y, n), json_to_record('{}') AS r (z int)
=> clear | clear

# a sample
SELECT a FROM t TABLESAMPLE BERNOULLI (10) REPEATABLE (1)
=> clear | clear

# a parameter
SELECT a FROM t WHERE b = $1
=> clear | clear

# XML
SELECT xmlelement(name e, xmlattributes(1 AS n), 'x'), xmlforest(a AS q), '<a/>' IS DOCUMENT FROM t
=> clear | clear

# a table out of XML
SELECT x.* FROM xmltable(XMLNAMESPACES ('http://x' AS n), '/a' PASSING '<a/>' COLUMNS i FOR ORDINALITY, q int PATH '@q' DEFAULT 1 NOT NULL) AS x
=> clear | clear

# JSON
SELECT to_jsonb(t), row_to_json(t), j -> 'x', j #>> '{a,b}', j @? '$.x' FROM t, kinds
=> clear | clear

# [16] JSON of the standard
SELECT '{}' IS JSON OBJECT, json_object('k' : b FORMAT JSON RETURNING jsonb), json_array(a, b), json_arrayagg(b) FROM t GROUP BY a, b
=> clear | clear

# [17] queries of JSON
SELECT json_value(j, '$.x' PASSING 1 AS y RETURNING int DEFAULT 1 ON EMPTY), json_exists(j, '$.z'), json_query(j, '$' WITH WRAPPER), json_scalar(1), json_serialize('{}') FROM kinds
=> clear | clear

# [17] a table out of JSON
SELECT x.* FROM json_table('[]'::jsonb, '$[*]' COLUMNS (i FOR ORDINALITY, NESTED PATH '$.a' COLUMNS (q int), NESTED PATH '$.b' COLUMNS (r text))) AS x
=> clear | clear

# text search
SELECT to_tsvector('english', b) @@ to_tsquery('simple', 'x') FROM t
=> clear | clear

# a view
SELECT * FROM v
=> clear | clear

# a partitioned table
SELECT a FROM part
=> clear | clear

# parents without and with their children
SELECT a FROM ONLY parent UNION SELECT a FROM parent
=> clear | relation_not_selected

# a table with checks and defaults of its own
SELECT a FROM checked
=> clear | clear

# functions that compute, by position and by name
SELECT twice(a), twice(by => 3, i => a), atomic(a), size_of(a), total(a) OVER (), a |+| 1 FROM t
=> clear | clear

# an extension
SELECT h -> 'x', hstore('a', 'b') FROM kinds
=> clear | clear

# a range
SELECT span(1, 2) @> 1.5::float8
=> clear | clear

# a relation beside the selected ones
SELECT k FROM secret
=> clear | relation_not_selected

# a relation that is told as a row type
SELECT NULL::secret
=> clear | relation_not_selected

# a catalog
SELECT amname FROM pg_am
=> clear | relation_not_selected

# what holds passwords
SELECT rolpassword FROM pg_authid
=> system_relation | relation_not_selected

# a name that is looked up
SELECT 'secret'::regclass
=> clear | type_names_objects

# a built-in function that writes
SELECT nextval('seq')
=> builtin_refused | builtin_refused, type_names_objects

# a file
SELECT pg_read_file('/etc/passwd')
=> builtin_refused | builtin_refused

# SQL inside SQL
SELECT query_to_xml('DELETE FROM t', true, true, '')
=> builtin_refused | builtin_refused

# another connection
SELECT * FROM dblink('', 'DELETE FROM t') AS d (x int)
=> extension_function | extension_function

# a lock that outlives the transaction
SELECT pg_advisory_lock(1)
=> builtin_refused | builtin_refused

# settings
SELECT current_setting('TimeZone'), current_setting('data_directory')
=> builtin_refused | builtin_refused

# an input function by name
SELECT int4in('1')
=> builtin_refused | builtin_refused

# a foreign table
SELECT a FROM far
=> foreign_table | relation_not_selected

# a file as a table
SELECT line FROM passwords
=> foreign_table | relation_not_selected

# a function that writes
SELECT notes(1)
=> user_function | user_function

# a function that reads
SELECT reads(1)
=> function_reads | function_reads

# a function that reads, in SQL's own form
SELECT reads_atomic(1)
=> function_reads | function_reads

# a function that runs what it is given
SELECT executes('DELETE FROM t')
=> user_function, user_function | user_function, user_function

# a function whose callee writes
SELECT calls(1)
=> user_function | user_function

# a function with its owner's rights
SELECT raised(1)
=> user_function | user_function

# a function with a setting
SELECT set_apart(1)
=> user_function | user_function

# a superuser's function
SELECT superusers(1)
=> user_function | user_function

# a default that counts
SELECT defaulted()
=> builtin_refused | builtin_refused, type_names_objects

# a domain whose check writes
SELECT 1::noting
=> user_function | user_function

# the same inside a row, inside a body
SELECT casts(1), ROW(1)::holds_noting
=> user_function | user_function

# an operator that writes
SELECT 1 ~~~ 1
=> user_function | user_function

# an operator whose negator writes
SELECT NOT (1 ==~ 1)
=> user_function | user_function

# an aggregate whose end writes
SELECT noted(1)
=> user_function | user_function

# a policy that writes
SELECT a FROM policed
=> user_function | user_function

# an index whose expression sets
SELECT b FROM indexed
=> user_function | user_function

# a view that writes
SELECT n FROM noted_by_view
=> user_function | user_function
