-- Extends the leases that this worker still holds.
UPDATE lease SET until = ?
WHERE number IN (SELECT value FROM json_each(?)) AND worker = ?
