-- Write a running job's progress, if the lease still holds. ARGV: id, lease, progress.
if call('HGET', P .. 'run', ARGV[2]) ~= ARGV[3] then return 0 end
local more = more_of(call('HGET', P .. 'more', ARGV[2]))
more[PROGRESS] = ARGV[4]
call('HSET', P .. 'more', ARGV[2], pack_(more))
return 1
