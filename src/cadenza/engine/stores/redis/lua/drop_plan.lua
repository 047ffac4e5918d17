-- Forget a schedule; jobs that it made stay. ARGV: name.
call('ZREM', P .. 'due', ARGV[2])
return call('HDEL', P .. 'plans', ARGV[2])
