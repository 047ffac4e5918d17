-- Looks at a queue: what a claim has to do, in one glance. Left alone, the planner reads all lanes.
SELECT
    EXISTS (SELECT 1 FROM job WHERE queue = ?1 AND state = 0 AND run_at <= ?2),
    EXISTS (SELECT 1 FROM gate INDEXED BY gate_timed WHERE queue = ?1 AND standing = 2 AND opens_at <= ?2),
    EXISTS (SELECT 1 FROM gate INDEXED BY gate_open WHERE queue = ?1 AND standing = 1),
    EXISTS (SELECT 1 FROM job WHERE queue = ?1 AND state = 3),
    EXISTS (SELECT 1 FROM gate WHERE queue = ?1 AND lane = '')
