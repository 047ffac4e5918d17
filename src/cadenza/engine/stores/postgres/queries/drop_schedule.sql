-- Forgets a schedule; jobs that it made stay.
DELETE FROM cadenza.schedule WHERE name = $1 RETURNING name
