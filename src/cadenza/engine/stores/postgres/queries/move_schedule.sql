-- Moves a held schedule on.
UPDATE cadenza.schedule SET next_at = $2, last_at = $3, last_note = $4 WHERE name = $1
