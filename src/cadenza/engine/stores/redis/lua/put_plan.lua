-- Insert or replace a schedule; what is known of its past is kept, and its place in an unchanged
-- recurrence. ARGV: packed schedule, packed past of the same name elsewhere or "", whether an old one
-- stays paused or open as it is (0 or 1). Returns it.
local new = unpack_(ARGV[2])
local packed = call('HGET', P .. 'plans', new.name)
local old = packed and unpack_(packed) or (ARGV[3] ~= '' and unpack_(ARGV[3]) or nil)
if old then
  new.revision, new.last_at, new.last_note = old.revision + 1, old.last_at, old.last_note
  if new.recurrence == old.recurrence then new.next_at = old.next_at end
  if ARGV[4] == '1' then new.paused = old.paused end
end
packed = pack_(new)
call('HSET', P .. 'plans', new.name, packed)
if new.next_at and not new.paused then
  call('ZADD', P .. 'due', new.next_at, new.name)
else
  call('ZREM', P .. 'due', new.name)
end
call('PUBLISH', CHANNEL, '')
return packed
