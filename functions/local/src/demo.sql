-- The demo database, loaded once: a table of sales, and a shop that has one of most things PostgreSQL offers.
-- The role pinguard_reader is there already. Everything here runs on PostgreSQL 14 to 18 in one transaction.

CREATE TABLE demo_sales (
    id int8 PRIMARY KEY,
    region text NOT NULL,
    month date NOT NULL,
    product text NOT NULL,
    amount numeric(12, 2) NOT NULL,
    units int8 NOT NULL
);
COMMENT ON TABLE demo_sales IS 'sales by region, month and product';
COMMENT ON COLUMN demo_sales.month IS 'first day of the month';
COMMENT ON COLUMN demo_sales.amount IS 'revenue in euro, tax included';

INSERT INTO demo_sales (id, region, month, product, amount, units) VALUES
    (1, 'north', '2026-01-01', 'cedar tea', 120.00, 4),
    (2, 'north', '2026-01-01', 'maple soap', 45.50, 9),
    (3, 'south', '2026-01-01', 'cedar tea', 80.00, 2),
    (4, 'south', '2026-02-01', 'linen towel', 210.00, 6),
    (5, 'east', '2026-02-01', 'maple soap', 30.00, 3),
    (6, 'east', '2026-01-01', 'linen towel', 64.00, 2);

CREATE SCHEMA shop;
COMMENT ON SCHEMA shop IS 'a small shop: customers, products, orders, visits';

CREATE TYPE shop.order_state AS ENUM ('open', 'paid', 'shipped', 'returned');
CREATE TYPE shop.address AS (street text, postcode text, town text);
CREATE DOMAIN shop.email AS text CHECK (VALUE LIKE '%_@_%');

CREATE TABLE shop.customers (
    id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    mail shop.email UNIQUE,
    home shop.address,
    loyalty_number int8 NOT NULL,
    joined timestamptz NOT NULL,
    closed boolean NOT NULL DEFAULT false
);
COMMENT ON TABLE shop.customers IS 'people with an account; row security hides closed accounts from agents';
COMMENT ON COLUMN shop.customers.loyalty_number IS 'on the customer card, longer than a double holds';

INSERT INTO shop.customers (name, mail, home, loyalty_number, joined, closed)
SELECT (ARRAY['Ada', 'Björn', 'Chiara', 'Dieter', 'Élodie', 'Fatima', 'Grzegorz', 'Hana'])[1 + i % 8] || ' ' || i,
       'customer' || i || '@example.org',
       ROW(i || ' Mill Lane', lpad(i::text, 5, '0'), (ARRAY['Northby', 'Southwick', 'Eastham'])[1 + i % 3])::shop.address,
       9007199254740993 + i * 7,
       timestamptz '2024-01-01 08:00+00' + i * interval '53 hours',
       i % 20 = 0
FROM generate_series(1, 200) AS i;

ALTER TABLE shop.customers ENABLE ROW LEVEL SECURITY;
CREATE POLICY open_accounts ON shop.customers FOR SELECT TO pinguard_reader USING (NOT closed);

CREATE TABLE shop."Price List" (
    "Article No" text PRIMARY KEY,
    title text NOT NULL,
    price numeric(10, 2) NOT NULL CHECK (price >= 0),
    tags text[] NOT NULL DEFAULT '{}',
    details jsonb NOT NULL DEFAULT '{}',
    offered daterange
);
COMMENT ON TABLE shop."Price List" IS 'what can be ordered; its name and key need double quotes';

INSERT INTO shop."Price List" VALUES
    ('T-1', 'cedar tea', 12.50, '{tea,organic}', '{"grams": 100, "caffeine": false}', '[2024-01-01,)'),
    ('S-1', 'maple soap', 5.05, '{soap,vegan}', '{"grams": 85.50}', '[2024-03-01,2027-01-01)'),
    ('L-1', 'linen towel', 32.00, '{linen}', '{"size": {"cm": [50, 100]}}', '[2025-01-01,)'),
    ('L-2', 'linen sheet', 89.90, '{linen,large}', '{"size": {"cm": [240, 260]}, "colours": ["sand", "moss"]}', NULL);

CREATE TABLE shop.orders (
    id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer int8 NOT NULL REFERENCES shop.customers (id),
    ordered date NOT NULL,
    state shop.order_state NOT NULL DEFAULT 'open',
    note text
);
COMMENT ON TABLE shop.orders IS 'one row for each order; its articles are in order_lines';
CREATE INDEX ON shop.orders (customer);
CREATE INDEX ON shop.orders (ordered);

CREATE TABLE shop.order_lines (
    "order" int8 REFERENCES shop.orders (id),
    line int4,
    article text NOT NULL REFERENCES shop."Price List" ("Article No"),
    units int4 NOT NULL CHECK (units > 0),
    price numeric(10, 2) NOT NULL,
    total numeric(14, 2) GENERATED ALWAYS AS (units * price) STORED,
    PRIMARY KEY ("order", line)
);
COMMENT ON COLUMN shop.order_lines.price IS 'of one unit, at the time of the order';

INSERT INTO shop.orders (customer, ordered, state, note)
SELECT 1 + i * 37 % 200,
       date '2026-01-01' + i % 180,
       (enum_range(NULL::shop.order_state))[1 + i % 4],
       CASE WHEN i % 9 = 0 THEN 'gift wrapping' END
FROM generate_series(1, 1000) AS i;

INSERT INTO shop.order_lines ("order", line, article, units, price)
SELECT i, line, article."Article No", 1 + (i + line) % 5, article.price
FROM generate_series(1, 1000) AS i
CROSS JOIN generate_series(1, 2) AS line
JOIN (SELECT *, row_number() OVER (ORDER BY "Article No") AS place FROM shop."Price List") AS article
    ON article.place = 1 + (i + line) % 4;

CREATE TABLE shop.visits (
    at timestamptz NOT NULL,
    customer int8 REFERENCES shop.customers (id),
    path text NOT NULL,
    stayed interval NOT NULL,
    "from" inet
) PARTITION BY RANGE (at);
COMMENT ON TABLE shop.visits IS 'visits of the web shop, one partition a quarter';
CREATE TABLE shop.visits_2026_q1 PARTITION OF shop.visits
    FOR VALUES FROM ('2026-01-01 00:00+00') TO ('2026-04-01 00:00+00');
CREATE TABLE shop.visits_2026_q2 PARTITION OF shop.visits
    FOR VALUES FROM ('2026-04-01 00:00+00') TO ('2026-07-01 00:00+00');

INSERT INTO shop.visits
SELECT timestamptz '2026-01-01 00:00+00' + i * interval '50 minutes',
       CASE WHEN i % 3 = 0 THEN 1 + i % 200 END,
       (ARRAY['/', '/tea', '/soap', '/linen'])[1 + i % 4],
       (5 + i % 600) * interval '1 second',
       inet '192.0.2.0' + i % 256
FROM generate_series(0, 4999) AS i;

CREATE VIEW shop.open_orders AS
SELECT o.id, o.ordered, c.name AS customer, sum(l.total) AS total
FROM shop.orders AS o
JOIN shop.customers AS c ON c.id = o.customer
JOIN shop.order_lines AS l ON l."order" = o.id
WHERE o.state = 'open' AND NOT c.closed
GROUP BY o.id, o.ordered, c.name;
COMMENT ON VIEW shop.open_orders IS 'orders that are not paid yet, with what they come to';

CREATE MATERIALIZED VIEW shop.revenue_by_month AS
SELECT date_trunc('month', o.ordered)::date AS month, l.article, sum(l.units) AS units, sum(l.total) AS revenue
FROM shop.orders AS o
JOIN shop.order_lines AS l ON l."order" = o.id
WHERE o.state <> 'returned'
GROUP BY 1, 2;
COMMENT ON MATERIALIZED VIEW shop.revenue_by_month IS 'revenue by month and article, returned orders left out';

GRANT USAGE ON SCHEMA shop TO pinguard_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public, shop TO pinguard_reader;
