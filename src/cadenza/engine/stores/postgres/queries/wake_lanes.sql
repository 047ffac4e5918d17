-- Turns calls of lanes that got jobs into `awake`: a call is committed with its job, so none is lost; nobody is waited for.
WITH calls AS MATERIALIZED (
    SELECT number, lane FROM cadenza.wake WHERE queue = $1 ORDER BY number LIMIT 1000
), held AS MATERIALIZED (
    SELECT lane
    FROM cadenza.gate
    WHERE queue = $1 AND lane IN (SELECT lane FROM calls)
    FOR UPDATE SKIP LOCKED
), answered AS (
    DELETE FROM cadenza.wake
    USING calls JOIN held USING (lane)
    WHERE wake.queue = $1 AND wake.number = calls.number
), woken AS (
    UPDATE cadenza.gate SET awake = true FROM held WHERE gate.queue = $1 AND gate.lane = held.lane
)
SELECT cadenza.cadenza_now() AS now, nextval('cadenza.lease_number') AS lease
