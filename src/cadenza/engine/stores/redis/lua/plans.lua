-- Schedules of the queue, packed: all, or those that are due. ARGV: due only (0 or 1).
if ARGV[2] == '0' then return call('HVALS', P .. 'plans') end
local names = call('ZRANGE', P .. 'due', '-inf', now, 'BYSCORE')
return read_many(P .. 'plans', names)
