-- Write outcomes, each only if its job still runs under its lease; close leases.
-- ARGV: packed list of {id, lease, verdict, wait, at or -1, error, output, keep, park or false},
-- packed list of closed leases. A park is {lane or false, wait}. Returns the places of the refused.
local settlements, closed = unpack_(ARGV[2]), unpack_(ARGV[3])
local ids, refused, left, woke = {}, {}, {}, false
local gone, gone_bodies, over, parks = {}, {}, {}, {}
local WAITS = {retry = true, snooze = true, released = true}
local USES_UP = {done = true, retry = true, failed = true}

for i, settlement in ipairs(settlements) do ids[i] = settlement[1] end
local leases, blobs, mores = read_many(P .. 'run', ids), read_many(P .. 'job', ids), read_many(P .. 'more', ids)

local function wait_again(id, blob, body, more, settlement, verdict)
  local at = run_at_of(blob)
  if verdict == 'snooze' then more[SNOOZES] = more[SNOOZES] + 1 end
  if verdict ~= 'released' then
    at = settlement[5] >= 0 and settlement[5] or now + settlement[4]
    call('HSET', P .. 'job', id, with_run_at(blob, at))
  end
  stand(id, body, at, more[CRASHES])
  woke = true
end

local function write(i, id, settlement)
  local blob, body, more = blobs[i], body_of(blobs[i]), more_of(mores[i])
  local verdict, fault = settlement[3], settlement[6]
  local lane = body[LANE] or ''
  left[lane] = (left[lane] or 0) + 1
  if verdict == 'done' and not settlement[8] then -- most jobs: nothing of it stays
    free_key(body, id)
    if more[CANCEL] then call('SREM', P .. 'cancel', id) end
    gone[#gone + 1], gone_bodies[#gone_bodies + 1] = id, body
    return
  end
  if fault then table.insert(more[ERRORS], fault) end
  if USES_UP[verdict] then more[ATTEMPTS] = more[ATTEMPTS] + 1 end
  if WAITS[verdict] and more[CANCEL] then verdict = 'canceled' end
  if WAITS[verdict] then
    wait_again(id, blob, body, more, settlement, verdict)
  else
    more[OUTPUT] = settlement[7]
    finish(id, body, more, verdict)
  end
  call('HSET', P .. 'more', id, pack_(more))
end

for i, settlement in ipairs(settlements) do
  local id = ids[i]
  if leases[i] == settlement[2] and not over[id] then
    over[id] = true
    write(i, id, settlement)
    if settlement[9] then parks[#parks + 1] = settlement[9] end
  else
    refused[#refused + 1] = i
  end
end
local ended = {}
for id, _ in pairs(over) do ended[#ended + 1] = id end
many('HDEL', P .. 'run', ended)
many('ZREM', P .. 'live', gone)
unindex(gone, gone_bodies)
local gated = leave(left)
for _, wish in ipairs(parks) do park(wish[1] or nil, now + wish[2]) end
many('HDEL', P .. 'held', closed)
many('ZREM', P .. 'leases', closed)
for lane, _ in pairs(left) do woke = woke or lane ~= '' end
if woke or gated then wake() end
return refused
