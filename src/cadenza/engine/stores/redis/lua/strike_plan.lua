-- Strike a schedule off the directory, unless it went to another queue. KEYS: the directory.
-- ARGV: 0, name, queue. Returns whether it was struck (0 or 1).
if call('HGET', KEYS[1], ARGV[2]) ~= ARGV[3] then return 0 end
return call('HDEL', KEYS[1], ARGV[2])
