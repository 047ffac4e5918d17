-- Reads what an operator should know of the server.
SELECT
    current_setting('server_version') AS server,
    current_setting('fsync') AS fsync,
    current_setting('synchronous_commit') AS synchronous_commit,
    current_setting('full_page_writes') AS full_page_writes,
    current_setting('synchronous_standby_names') AS standbys,
    current_setting('autovacuum') AS autovacuum,
    pg_is_in_recovery() AS standby,
    (SELECT extract(epoch FROM clock_timestamp() - min(xact_start))::float8
     FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS oldest_transaction
