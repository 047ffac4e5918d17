-- Turns calls of lanes that got jobs into `awake`: a call is committed with its job, so none is lost; nobody is waited for.
WITH calls AS MATERIALIZED (
    SELECT number, lane FROM cadenza.wake WHERE queue = $1 ORDER BY number LIMIT 1000
), held AS MATERIALIZED (
    SELECT lane, awake
    FROM cadenza.gate
    WHERE queue = $1 AND lane = ANY(ARRAY(SELECT DISTINCT lane FROM calls))
    FOR UPDATE SKIP LOCKED
), answered AS (
    DELETE FROM cadenza.wake
    WHERE queue = $1 AND number = ANY(ARRAY(SELECT number FROM calls JOIN held USING (lane)))
), woken AS (
    UPDATE cadenza.gate SET awake = true
    WHERE queue = $1 AND lane = ANY(ARRAY(SELECT lane FROM held WHERE NOT awake))
)
SELECT cadenza.cadenza_now() AS now, nextval('cadenza.lease_number') AS lease
