-- What every script stands on: keys, numbers, gates, lines and lanes of one queue.
--
-- All keys of a queue begin with its prefix `P` ("cadenza:{queue}:"), so they lie in one slot:
--   job      hash  id -> created (16 digits), run_at (16), flag (1), packed body (see BODY)
--   more     hash  id -> packed MORE; absent while a job is as it was inserted
--   run      hash  id -> lease; the fence: a job runs while it is in here
--   held     hash  lease -> packed {worker, ids, those started or nil for all};  leases  zset lease by its end
--   ready, suspect   zset  run_at .. id by priority: equal scores sort by member
--   later            zset  id:priority:suspect by run_at
--   the same three with "/" .. lane for each lane
--   turn, turn_alone zset  lanes that can serve now, in turn;  wait  zset lanes by when they can
--   gate     hash  "=" or "/" .. lane -> packed gate
--   live, is:done, is:failed, is:canceled   zset  id by id;  fin:STATE  zset id by its end
--   by:task:…, by:tag:…, by:lane:…, by:schedule:…   zset  id by id
--   stand    zset  packed {channel, lease in microseconds, worker} of who stands by, until when
--   keys, throttle, throttled, pace: rules;  plans, due: schedules;  meta: last numbers
-- Ids and leases are texts of 16 digits: milliseconds since 2020 (or the last one plus one) times
-- 4096 plus the queue's number. They rise even if a failover lost the latest.
local call = redis.call
local unpack_, pack_ = cmsgpack.unpack, cmsgpack.pack
local EPOCH, QUEUES, MOST = 1577836800000, 4096, 5000
local CHUNK = 1000 -- arguments in one call: Lua's stack holds some 8000
local TASK, PAYLOAD, PRIORITY, LANE, TAGS, OPTIONS, SCHEDULE, KEY, WHILE = 1, 2, 3, 4, 5, 6, 7, 8, 9
local ATTEMPTS, CRASHES, SNOOZES, CANCEL, PROGRESS, OUTPUT, ERRORS, FINISHED, STATE = 1, 2, 3, 4, 5, 6, 7, 8, 9
local ISOLATED = 2 -- crashes from which on a job is a suspect
local P, NUMBER = KEYS[1], tonumber(ARGV[1])

local function pad(n) return string.format('%016.0f', n) end

local function many(command, key, args) -- one command with many arguments, in chunks
  for first = 1, #args, CHUNK do
    call(command, key, unpack(args, first, math.min(first + CHUNK - 1, #args)))
  end
end

local function read_many(key, ids) -- HMGET in chunks; a missing one is false
  local found = {}
  for first = 1, #ids, CHUNK do
    local last = math.min(first + CHUNK - 1, #ids)
    for _, value in ipairs(call('HMGET', key, unpack(ids, first, last))) do
      found[#found + 1] = value
    end
  end
  return found
end

local function next_numbers(kind, count) -- returns the first of `count` sequence numbers
  local first = math.max((tonumber(call('HGET', P .. 'meta', kind)) or 0) + 1,
    math.floor(now / 1000) - EPOCH)
  call('HSET', P .. 'meta', kind, string.format('%.0f', first + count - 1))
  return first
end

local function number_of(sequence) return pad(sequence * QUEUES + NUMBER) end

local function wake() call('PUBLISH', CHANNEL, string.format('%.0f', NUMBER)) end

-- Jobs

local function body_of(blob) return unpack_(string.sub(blob, 34)) end
local function run_at_of(blob) return tonumber(string.sub(blob, 17, 32)) end
local function with_run_at(blob, at) return string.sub(blob, 1, 16) .. pad(at) .. string.sub(blob, 33) end
local function with_body(blob, body)
  return string.sub(blob, 1, 32) .. (body[KEY] and 'u' or '-') .. pack_(body)
end
local function more_of(packed)
  return packed and unpack_(packed) or {0, 0, 0, false, false, false, {}, 0, false}
end

local function free_key(body, id)
  if body[KEY] and call('HGET', P .. 'keys', body[KEY]) == id then
    call('HDEL', P .. 'keys', body[KEY])
  end
end

-- Gates: the same arithmetic as engine/gates.py, held against it by the conformance duels.

local function field(lane) return lane and '/' .. lane or '=' end
local function load_gate(lane)
  local packed = call('HGET', P .. 'gate', field(lane))
  return packed and unpack_(packed) or nil
end
local function save_gate(lane, gate) call('HSET', P .. 'gate', field(lane), pack_(gate)) end
local function new_gate(lane) -- a lane has a gate as long as its jobs live; a queue counts them
  return {paused = false, in_flight = lane and 0 or call('HLEN', P .. 'run')}
end

local function room(gate, wanted)
  if not gate then return wanted end
  if gate.paused or (gate.parked or 0) > now then return 0 end
  if gate.concurrency then wanted = math.min(wanted, gate.concurrency - gate.in_flight) end
  if gate.interval then
    local ahead = gate.burst
    if gate.next_start then
      ahead = math.min(math.floor((now - gate.next_start) / gate.interval) + gate.burst, gate.burst)
    end
    wanted = math.min(wanted, ahead)
  end
  return math.max(wanted, 0)
end

local function admit(gate, count)
  gate.in_flight = gate.in_flight + count
  if gate.interval and count > 0 then
    gate.next_start = math.max(gate.next_start or now, now) + gate.interval * count
  end
end

local function opens_at(gate) -- nil while only a person or a finished job can open it
  if not gate then return now end
  if gate.paused or (gate.concurrency and gate.in_flight >= gate.concurrency) then return nil end
  local at = math.max(now, gate.parked or 0)
  if gate.interval and gate.next_start then
    at = math.max(at, gate.next_start - gate.interval * (gate.burst - 1))
  end
  return at
end

local function stander(channel, span, worker) return pack_({channel, span, worker}) end

-- Lines: where waiting jobs stand

local function line(kind, lane) return lane and P .. kind .. '/' .. lane or P .. kind end

local function waiting(id, priority, crashes) -- a member of `later`
  return id .. ':' .. string.format('%.0f', priority) .. (crashes >= ISOLATED and ':1' or ':0')
end

local function stand(id, body, at, crashes)
  local lane = body[LANE] or nil
  if at <= now then
    call('ZADD', line(crashes >= ISOLATED and 'suspect' or 'ready', lane), body[PRIORITY], pad(at) .. id)
  else
    call('ZADD', line('later', lane), at, waiting(id, body[PRIORITY], crashes))
  end
end

local function unstand(id, body, at)
  local lane, priority = body[LANE] or nil, body[PRIORITY]
  call('ZREM', line('ready', lane), pad(at) .. id)
  call('ZREM', line('suspect', lane), pad(at) .. id)
  call('ZREM', line('later', lane), waiting(id, priority, 0), waiting(id, priority, ISOLATED))
end

local function promote(lane) -- at most MOST in one go; the next claim goes on
  local later = line('later', lane)
  local due = call('ZRANGE', later, '-inf', now, 'BYSCORE', 'LIMIT', 0, MOST, 'WITHSCORES')
  if #due == 0 then return end
  local ready, suspect = {}, {}
  for i = 1, #due, 2 do
    local id, priority, mark = string.match(due[i], '^(%d+):(%-?%d+):(%d)$')
    local into = mark == '1' and suspect or ready
    into[#into + 1] = priority
    into[#into + 1] = pad(tonumber(due[i + 1])) .. id
  end
  call('ZREMRANGEBYRANK', later, 0, #due / 2 - 1)
  many('ZADD', line('ready', lane), ready)
  many('ZADD', line('suspect', lane), suspect)
end

local function behind(turn, lane) call('ZADD', P .. turn, call('HINCRBY', P .. 'meta', 'tick', 1), lane) end

local function in_turn(turn, lane, serves)
  if not serves then
    call('ZREM', P .. turn, lane)
  elseif not call('ZSCORE', P .. turn, lane) then
    behind(turn, lane)
  end
end

local function place(lane) -- say anew whether a lane can serve, and else when
  promote(lane)
  local gate = load_gate(lane)
  local ready, suspects = call('ZCARD', line('ready', lane)), call('ZCARD', line('suspect', lane))
  local open, opens = room(gate, 1) > 0, opens_at(gate)
  in_turn('turn', lane, open and ready > 0)
  in_turn('turn_alone', lane, open and suspects > 0)
  local head = call('ZRANGE', line('later', lane), 0, 0, 'WITHSCORES')[2]
  local at = nil
  if opens and not open and ready + suspects > 0 then
    at = opens
  elseif opens and head then
    at = math.max(opens, tonumber(head))
  end
  if at then call('ZADD', P .. 'wait', at, lane) else call('ZREM', P .. 'wait', lane) end
  local idle = gate and ready + suspects == 0 and not head and gate.in_flight == 0
  if idle and not (gate.paused or gate.concurrency or gate.interval or gate.parked) then
    call('HDEL', P .. 'gate', field(lane)) -- it stops nothing
  end
end

-- Ends

local function unindex(ids, bodies) -- of jobs that go for good
  local by = {}
  local function add(kind, value, id)
    if value then
      local key = P .. 'by:' .. kind .. ':' .. value
      by[key] = by[key] or {}
      table.insert(by[key], id)
    end
  end
  for i, id in ipairs(ids) do
    local body = bodies[i]
    add('task', body[TASK], id)
    add('lane', body[LANE], id)
    add('schedule', body[SCHEDULE], id)
    for _, tag in ipairs(body[TAGS]) do add('tag', tag, id) end
  end
  for key, gone in pairs(by) do many('ZREM', key, gone) end
  many('HDEL', P .. 'job', ids)
  many('HDEL', P .. 'more', ids)
end

local function finish(id, body, more, state) -- the caller writes `more`
  more[STATE], more[FINISHED] = state, now
  free_key(body, id)
  call('ZREM', P .. 'live', id)
  call('ZADD', P .. 'is:' .. state, id, id)
  call('ZADD', P .. 'fin:' .. state, now, id)
  call('SREM', P .. 'cancel', id)
end

local function leave(counts) -- jobs that ran have left: `counts` of each lane, "" for no lane
  local all = 0
  for lane, count in pairs(counts) do
    all = all + count
    local gate = lane ~= '' and load_gate(lane)
    if gate then
      gate.in_flight = math.max(gate.in_flight - count, 0)
      save_gate(lane, gate)
    end
  end
  local whole = all > 0 and load_gate(nil)
  if whole then
    whole.in_flight = math.max(whole.in_flight - all, 0)
    save_gate(nil, whole)
  end
  for lane, _ in pairs(counts) do
    if lane ~= '' then place(lane) end
  end
  return whole
end

local function park(lane, until_) -- only ever grows; 0 ends it
  local gate = load_gate(lane) or new_gate(lane)
  if until_ > 0 then gate.parked = math.max(gate.parked or 0, until_) else gate.parked = nil end
  save_gate(lane, gate)
  if lane then place(lane) end
end
