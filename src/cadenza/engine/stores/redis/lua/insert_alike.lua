-- Add many jobs of one task that differ in their payload alone: no lane, rule, tag or schedule.
-- ARGV: packed {task, priority, run_at or -1, delay}, then the packed body of each job.
-- Returns the first sequence number (the others follow) and when they are due.
local task, priority, at, delay = unpack(unpack_(ARGV[2]))
local count = #ARGV - 2
local sequence = next_numbers('id', count)
if at < 0 then at = now + delay end
local due, head = at <= now, pad(now) .. pad(at) .. '-'
local blobs, line_, ids = {}, {}, {}
for i = 1, count do
  local id = number_of(sequence + i - 1)
  blobs[2 * i - 1], blobs[2 * i] = id, head .. ARGV[i + 2]
  ids[2 * i - 1], ids[2 * i] = id, id
  if due then
    line_[2 * i - 1], line_[2 * i] = priority, pad(at) .. id
  else
    line_[2 * i - 1], line_[2 * i] = at, waiting(id, priority, 0)
  end
end
many('HSET', P .. 'job', blobs)
many('ZADD', P .. (due and 'ready' or 'later'), line_)
many('ZADD', P .. 'live', ids)
many('ZADD', P .. 'by:task:' .. task, ids)
wake()
return {string.format('%.0f', sequence), pad(at)}
