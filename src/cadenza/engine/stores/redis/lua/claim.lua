-- Lease up to `limit` runnable jobs of the queue to a worker; if that were all, say when to ask again.
-- ARGV: limit, worker, lease in microseconds, alone (0 or 1), the worker's channel or '', stand by (0 or 1),
-- started (0 or 1).
local limit, worker, span, alone = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), ARGV[5] == '1'
local channel, stands = ARGV[6], ARGV[7] == '1'
local kind, turn = alone and 'suspect' or 'ready', alone and 'turn_alone' or 'turn'
local taken = {} -- ids, in the order in which they are to start

for _, lane in ipairs(call('ZRANGE', P .. 'wait', '-inf', now, 'BYSCORE', 'LIMIT', 0, MOST)) do
  place(lane)
end
promote(nil)

local function take(lane, wanted)
  if wanted <= 0 then return 0 end
  local popped = call('ZPOPMIN', line(kind, lane), wanted)
  for i = 1, #popped, 2 do taken[#taken + 1] = string.sub(popped[i], 17) end
  return #popped / 2
end

-- Each lane in turn; one that was served goes behind. A lane that is in turn can serve, and has
-- left the turn, or used up the room, once it did: this ends.
local function take_lanes(wanted)
  while wanted > 0 do
    local lane = call('ZRANGE', P .. turn, 0, 0)[1]
    if not lane then return end
    local gate = load_gate(lane)
    local count = take(lane, room(gate, wanted))
    if count > 0 then
      if gate then
        admit(gate, count)
        save_gate(lane, gate)
      end
      behind(turn, lane)
    end
    place(lane)
    wanted = wanted - count
  end
end

local whole = load_gate(nil)
local allowed = room(whole, alone and 1 or limit)
if allowed > 0 then -- lanes get half of the room, of an odd one the larger half every other time
  local odd = tonumber(call('HGET', P .. 'meta', 'odd') or 0)
  take_lanes(math.floor((allowed + odd) / 2))
  take(nil, allowed - #taken)
  take_lanes(allowed - #taken)
  if #taken > 0 and call('ZCARD', P .. 'turn') + call('ZCARD', P .. 'wait') > 0 then
    call('HSET', P .. 'meta', 'odd', 1 - odd)
  end
end

if whole and #taken > 0 then
  admit(whole, #taken)
  save_gate(nil, whole)
end
local suspects = room(whole, 1) > 0
  and call('ZCARD', P .. 'suspect') + call('ZCARD', P .. 'turn_alone') > 0 and 1 or 0
stands = stands and #taken == 0 and suspects == 0
if stands then
  call('ZADD', P .. 'stand', now + span / 2, stander(channel, span, worker))
elseif channel ~= '' then
  call('ZREM', P .. 'stand', stander(channel, span, worker))
end
if #taken == 0 then return {false, next_due(whole), suspects} end

local lease = number_of(next_numbers('lease', 1))
local blobs, mores, runs = read_many(P .. 'job', taken), read_many(P .. 'more', taken), {}
for i, id in ipairs(taken) do
  runs[2 * i - 1], runs[2 * i] = id, lease
  if string.sub(blobs[i], 33, 33) == 'u' then
    local body = body_of(blobs[i])
    if body[WHILE] == 'queued' then free_key(body, id) end
  end
end
many('HSET', P .. 'run', runs)
call('HSET', P .. 'held', lease, pack_({worker, taken, ARGV[8] == '0' and {} or nil}))
call('ZADD', P .. 'leases', now + span, lease)
local drained = #taken < allowed
return {lease, taken, blobs, mores, suspects, drained and 1 or 0, drained and next_due(whole)}
