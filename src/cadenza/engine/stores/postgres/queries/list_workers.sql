-- Lists workers by name.
SELECT * FROM cadenza.worker ORDER BY name COLLATE "C"
