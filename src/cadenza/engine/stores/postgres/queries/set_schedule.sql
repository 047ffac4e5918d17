-- Pauses or opens a schedule that is there; whatever another changes of it at the same time stays.
UPDATE cadenza.schedule SET paused = $2, revision = revision + 1 WHERE name = $1 RETURNING *
