-- Keeps a worker's last word.
INSERT OR REPLACE INTO worker VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
