-- Makes a gate unless it is there; the first of two callers wins and the second finds it.
INSERT INTO cadenza.gate (queue, lane) VALUES ($1, $2) ON CONFLICT (queue, lane) DO NOTHING
