-- Give a queue its number. KEYS: the queues' hash. ARGV: 0, name. Returns it; -1: no more numbers.
local known = call('HGET', KEYS[1], ARGV[2])
if known then return tonumber(known) end
local number = call('HLEN', KEYS[1])
if number >= QUEUES then return -1 end
call('HSET', KEYS[1], ARGV[2], number)
return number
