-- What every server is asked for. The login reads only, as the documents of most of them advise.

ALTER ROLE reader SET default_transaction_read_only = on;

CREATE TYPE mood AS ENUM ('sad', 'very happy');
CREATE DOMAIN price AS numeric(12, 2);
CREATE TYPE address AS (house int, street text, town text);

CREATE TABLE orders (
  id int PRIMARY KEY,
  placed date NOT NULL,
  customer text NOT NULL,
  amount numeric(12, 2) NOT NULL,
  paid boolean NOT NULL,
  note text
);
INSERT INTO orders
  SELECT n, date '2026-01-01' + n, 'customer ' || n % 17, n * 13.37, n % 3 = 0, CASE WHEN n % 5 = 0 THEN 'call first' END
  FROM generate_series(1, 200) AS n;
GRANT SELECT ON orders TO reader;
ANALYZE orders;
