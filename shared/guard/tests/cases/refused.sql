-- Each case: a line that says why, the text, `=>` and what the caller is told.

# nothing
   
=> empty_statement: the text holds no statement

# nothing but semicolons and comments
; /* x */ ; -- y
=> empty_statement: the text holds no statement

# two statements
SELECT 1; SELECT 2
=> several_statements at 11: the text holds 2 statements

# a write behind a read
SELECT 1; DROP TABLE t
=> several_statements at 11: the text holds 2 statements

# the end of the transaction before a write
COMMIT; DROP SCHEMA app CASCADE
=> several_statements at 9: the text holds 2 statements

# a write behind a dollar-quoted string
SELECT $a$ ; $a$; DELETE FROM app.orders
=> several_statements at 19: the text holds 2 statements

# a quote inside a dollar quote hides nothing
SELECT $$'$$ ; DROP TABLE users -- '
=> several_statements at 16: the text holds 2 statements

# a comment inside a dollar quote hides nothing
SELECT $a$ /* $a$ ; DELETE FROM t -- */
=> several_statements at 21: the text holds 2 statements

# a write
DELETE FROM app.orders
=> not_a_read: `DELETE` is not a statement that only reads

# a write behind a comment
/* SELECT */ DELETE FROM app.orders
=> not_a_read: `DELETE` is not a statement that only reads

# a write behind nested comments
/* /* */ */DROP TABLE x
=> not_a_read: `DROP` is not a statement that only reads

# ending the transaction
/**/COMMIT;
=> not_a_read: `COMMIT` is not a statement that only reads

# ending it in other words
ABORT AND CHAIN
=> not_a_read: `ABORT` is not a statement that only reads

# a block of code
DO $$ BEGIN PERFORM pg_sleep(20); END $$
=> not_a_read: `DO` is not a statement that only reads

# a copy
COPY t TO PROGRAM 'id'
=> not_a_read: `COPY` is not a statement that only reads

# a prepared statement
PREPARE p9 AS SELECT 1
=> not_a_read: `PREPARE` is not a statement that only reads

# a lock
LOCK TABLE app.orders IN ACCESS EXCLUSIVE MODE
=> not_a_read: `LOCK` is not a statement that only reads

# a setting
SET statement_timeout = 0
=> not_a_read: `SET` is not a statement that only reads

# a cursor
DECLARE c CURSOR FOR SELECT 1
=> not_a_read: `DECLARE` is not a statement that only reads

# a table from a read
SELECT 1 AS a INTO t
=> select_into at 20: `SELECT INTO` makes a table

# a lock on rows
SELECT * FROM t FOR UPDATE
=> locking_clause: `FOR UPDATE`, `FOR SHARE` and their kin lock rows

# a lock in a subquery
SELECT * FROM (SELECT * FROM t FOR KEY SHARE) s
=> locking_clause: `FOR UPDATE`, `FOR SHARE` and their kin lock rows

# a write in WITH
WITH d AS (DELETE FROM app.orders RETURNING *) SELECT count(*) FROM d
=> writes_data at 24: a part of the statement is `DELETE`, which writes

# a write in a WITH inside WITH
WITH a AS (WITH i AS (INSERT INTO notes VALUES (1) RETURNING 1) SELECT 1) SELECT * FROM a
=> writes_data at 35: a part of the statement is `INSERT`, which writes

# two reasons at once
WITH m AS (UPDATE t SET a = 1 RETURNING a) SELECT * FROM m FOR UPDATE
=> locking_clause: `FOR UPDATE`, `FOR SHARE` and their kin lock rows; a part of the statement is `UPDATE`, which writes

# a parameter that cannot be
SELECT $0
=> parameter_number at 8: there is no parameter `$0`

# past what the protocol carries
SELECT $65536
=> parameter_number at 8: there is no parameter `$65536`

# EXPLAIN of a write
EXPLAIN ANALYZE DELETE FROM app.orders
=> explain_target: `EXPLAIN` stands before a statement that does not only read

# EXPLAIN of a table from a read
EXPLAIN (ANALYZE) CREATE TABLE x AS SELECT 1
=> explain_target: `EXPLAIN` stands before a statement that does not only read

# EXPLAIN of a prepared statement
EXPLAIN ANALYZE EXECUTE p
=> explain_target: `EXPLAIN` stands before a statement that does not only read

# EXPLAIN of a write in WITH
EXPLAIN WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d
=> writes_data at 32: a part of the statement is `DELETE`, which writes

# an option that nobody knows
EXPLAIN (ANALYZE, DESTROY) SELECT 1
=> explain_option at 19: the option `destroy` of EXPLAIN is not known, or its value is not

# a value that nobody knows
EXPLAIN (FORMAT csv) SELECT 1
=> explain_option at 10: the option `format` of EXPLAIN is not known, or its value is not

# a setting that is not listed
SHOW app.secret
=> show_setting: `SHOW app.secret` is not on the list of settings that can be read

# all settings
SHOW ALL
=> show_setting: `SHOW all` is not on the list of settings that can be read

# a character that shows nothing
SELECT setval⁠('app.sq', 1)
=> invisible_character at 14: a character that shows nothing, U+2060, stands in the statement

# a blank that is none
SELECT 1
=> invisible_character at 7: a character that shows nothing, U+00A0, stands in the statement

# a word too much, with its place
SELECT a FROM t WHERE WHERE b
=> syntax_error at 23: syntax error at or near "WHERE"

# the same word twice, the second wrong
SELECT a, a FROM a a a
=> syntax_error at 22: syntax error at or near "a"

# a statement that was cut off
SELECT a FROM t WHERE
=> syntax_error: syntax error at end of input

# a bracket that closes the wrapper
SELECT 1) pinguard_q; DROP TABLE t; --
=> syntax_error at 9: syntax error at or near ")"

# a string that does not end
SELECT 'abc
=> syntax_error: unterminated quoted string at or near "'abc"

# a comment that does not end
SELECT 1 /* abc
=> syntax_error: unterminated /* comment at or near "/* abc"

# a branch with its own LIMIT
SELECT a FROM t LIMIT 1 UNION SELECT b FROM u
=> syntax_error at 25: syntax error at or near "UNION"
