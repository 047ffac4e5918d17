-- Deletes some of what throttle and pace remember of instants long past; what another holds just now is left for later.
WITH old AS MATERIALIZED (
    SELECT kind, key
    FROM cadenza.marker
    WHERE at < (SELECT cadenza.cadenza_now()) - interval '1 day'
    LIMIT $1
    FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM cadenza.marker USING old
    WHERE marker.kind = old.kind AND marker.key = old.key
    RETURNING marker.key
)
SELECT count(*) FROM gone
