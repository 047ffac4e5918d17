-- Say what became of an occurrence, unless the schedule has moved on. ARGV: name, last_at, note.
local packed = call('HGET', P .. 'plans', ARGV[2])
local kept = packed and unpack_(packed)
if not kept or kept.last_at ~= tonumber(ARGV[3]) then return 0 end
kept.last_note = ARGV[4]
call('HSET', P .. 'plans', ARGV[2], pack_(kept))
return 1
