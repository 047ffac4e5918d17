-- Forget a schedule; jobs that it made stay. ARGV: name. Returns what it was, or nothing.
local packed = call('HGET', P .. 'plans', ARGV[2])
call('ZREM', P .. 'due', ARGV[2])
call('HDEL', P .. 'plans', ARGV[2])
return packed
