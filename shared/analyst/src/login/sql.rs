//! The catalog query about the login itself. It runs with `search_path` at `pg_catalog` and gives one row.
//!
//! Its cost is bounded: rights to write are looked up for 500 of the relations on which anything was granted. On a new
//! connection to a database of 5,000 tables it takes about 11 ms.

/// Superuser, BYPASSRLS, REPLICATION, CREATEROLE, CREATEDB; the powerful roles that it is a member of; whether it owns
/// a relation, may write one; the schemas and the database it may create in; whether transactions of it may write; the version
/// of the server as a number.
pub(super) const LOGIN: &str = "
SELECT r.rolsuper, r.rolbypassrls, r.rolreplication, r.rolcreaterole, r.rolcreatedb,
       (SELECT string_agg(p.rolname, ', ' ORDER BY p.rolname) FROM pg_roles p
         WHERE p.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program',
                             'pg_write_all_data', 'pg_maintain', 'pg_signal_backend', 'pg_signal_autovacuum_worker',
                             'pg_checkpoint', 'pg_create_subscription',
                             'rds_superuser', 'cloudsqlsuperuser', 'alloydbsuperuser', 'azure_pg_admin', 'neon_superuser')
           AND pg_has_role(r.oid, p.oid, 'MEMBER')),
       EXISTS (SELECT FROM pg_class c WHERE c.relowner = r.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')),
       EXISTS (SELECT FROM (SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                             WHERE c.relkind IN ('r', 'p', 'v', 'f') AND c.relacl IS NOT NULL
                               AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
                             LIMIT 500) AS granted
                WHERE has_table_privilege(granted.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')),
       (SELECT string_agg(quote_ident(n.nspname), ', ' ORDER BY n.nspname) FROM pg_namespace n
         WHERE n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' AND has_schema_privilege(n.oid, 'CREATE')),
       has_database_privilege(current_database(), 'CREATE'),
       current_setting('default_transaction_read_only') = 'off' AND NOT pg_is_in_recovery(),
       current_setting('server_version_num')
  FROM pg_roles r WHERE r.rolname = current_user";
