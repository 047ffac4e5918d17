-- Pause or open a schedule and change nothing else of it. ARGV: name, paused (0 or 1), the revision
-- it must still have or -1. Returns it, or nothing where it is not there so.
local packed = call('HGET', P .. 'plans', ARGV[2])
local kept = packed and unpack_(packed)
local revision = tonumber(ARGV[4])
if not kept or (revision >= 0 and kept.revision ~= revision) then return false end
kept.paused, kept.revision = ARGV[3] == '1', kept.revision + 1
packed = pack_(kept)
call('HSET', P .. 'plans', ARGV[2], packed)
if kept.next_at and not kept.paused then
  call('ZADD', P .. 'due', kept.next_at, ARGV[2])
else
  call('ZREM', P .. 'due', ARGV[2])
end
call('PUBLISH', CHANNEL, '')
return packed
