-- Add jobs to queues, each answered in order. With a plan (a schedule at a revision and an
-- instant) only if it still stands there, and move it on. ARGV: packed {groups, plan or false}, then
-- the packed body of each job: the server's reader knows no bytes within what is packed.
local groups, plan = unpack(unpack_(ARGV[2]))
local answers, bodies = {}, 2

local function index(kind, value, id) call('ZADD', P .. 'by:' .. kind .. ':' .. value, id, id) end

local function push_back(id, payload, at, max_wait) -- the newest of a debounced key wins
  local blob = call('HGET', P .. 'job', id)
  local old = run_at_of(blob)
  if call('HEXISTS', P .. 'run', id) == 1 then return {'existing', id, old, 0} end
  if max_wait then at = math.min(at, tonumber(string.sub(blob, 1, 16)) + max_wait) end
  local body = body_of(blob)
  unstand(id, body, old)
  body[PAYLOAD] = payload
  call('HSET', P .. 'job', id, with_run_at(with_body(blob, body), at))
  stand(id, body, at, more_of(call('HGET', P .. 'more', id))[CRASHES])
  if body[LANE] then place(body[LANE]) end
  return {'debounced', id, at, 0}
end

-- A rule is {kind, key, span, max_wait or false}; returns an answer, or nil and the instant.
local function obey(rule, payload, at)
  local kind, key, span, max_wait = unpack(rule)
  if kind == 'unique' or kind == 'debounce' then
    local taken = call('HGET', P .. 'keys', key)
    if kind == 'debounce' then
      at = now + (max_wait and math.min(span, max_wait) or span)
      if taken then return push_back(taken, payload, at, max_wait) end
    elseif taken then
      return {'existing', taken, run_at_of(call('HGET', P .. 'job', taken)), 0}
    end
  elseif kind == 'throttle' then
    local until_ = tonumber(call('ZSCORE', P .. 'throttle', key) or 0)
    if until_ > now then return {'throttled', call('HGET', P .. 'throttled', key), -1, until_} end
  else
    at = math.max(tonumber(call('ZSCORE', P .. 'pace', key) or at), at)
    call('ZADD', P .. 'pace', at + span, key)
  end
  return nil, at
end

local function keep_key(rule, id)
  if rule[1] == 'unique' or rule[1] == 'debounce' then
    call('HSET', P .. 'keys', rule[2], id)
  elseif rule[1] == 'throttle' then
    call('ZADD', P .. 'throttle', now + rule[3], rule[2])
    call('HSET', P .. 'throttled', rule[2], id)
  end
end

local function open_lane(lane, limit)
  local gate = load_gate(lane) or new_gate(lane)
  if limit then
    gate.concurrency, gate.count, gate.per, gate.burst, gate.interval = nil, nil, nil, nil, nil
    for name, value in pairs(limit) do gate[name] = value end
  end
  save_gate(lane, gate)
end

-- Lease a lone job to a worker that stands by, where nothing else can run; say whether one has it.
-- One whose channel nobody hears is gone, and so it is put to the next.
local function hand_over(id, blob)
  while true do
    local found = call('ZRANGE', P .. 'stand', '+inf', now, 'BYSCORE', 'REV', 'LIMIT', 0, 1)[1]
    if not found or call('HEXISTS', P .. 'gate', field(nil)) == 1 then return false end
    local due = next_due(nil)
    if due and tonumber(due) <= now then return false end
    call('ZREM', P .. 'stand', found)
    local channel, span, worker = unpack(unpack_(found))
    local lease = number_of(next_numbers('lease', 1))
    if call('PUBLISH', channel, lease .. id .. blob) > 0 then
      call('HSET', P .. 'run', id, lease)
      call('HSET', P .. 'held', lease, pack_({worker, {id}}))
      call('ZADD', P .. 'leases', now + span, lease)
      return true
    end
  end
end

-- A job is {task, priority, run_at or -1, delay, extra or false}; extra is
-- {lane, limit, rule, tags, schedule, payload}, what is not there false.
local function insert_group(jobs) -- says whether somebody has to be woken
  local created, sequence = pad(now), next_numbers('id', #jobs)
  local blobs, ready, later, live, tasks, lanes = {}, {}, {}, {}, {}, {}
  local handed = false
  for i, job in ipairs(jobs) do
    local task, priority, at, delay, extra = unpack(job)
    bodies = bodies + 1
    local body = ARGV[bodies]
    if at < 0 then at = now + delay end
    local answer, lane, rule
    if extra then
      lane, rule = extra[1] or nil, extra[3]
      if rule then answer, at = obey(rule, extra[6], at) end
    end
    if not answer then
      local id = number_of(sequence + i - 1)
      local flag = rule and (rule[1] == 'unique' or rule[1] == 'debounce') and 'u' or '-'
      local blob = created .. pad(at) .. flag .. body
      if extra then
        call('HSET', P .. 'job', id, blob) -- at once: the next job of the same key may need it
        if rule then keep_key(rule, id) end
        if lane then
          open_lane(lane, extra[2])
          lanes[lane] = true
          index('lane', lane, id)
        end
        for _, tag in ipairs(extra[4]) do index('tag', tag, id) end
        if extra[5] then index('schedule', extra[5], id) end
        stand(id, {[PRIORITY] = priority, [LANE] = lane}, at, 0)
      else
        blobs[#blobs + 1] = id
        blobs[#blobs + 1] = blob
        if at <= now and #jobs == 1 and hand_over(id, blob) then
          handed = true
        elseif at <= now then
          ready[#ready + 1] = priority
          ready[#ready + 1] = pad(at) .. id
        else
          later[#later + 1] = at
          later[#later + 1] = waiting(id, priority, 0)
        end
      end
      live[#live + 1] = id
      live[#live + 1] = id
      local of_task = tasks[task] or {}
      tasks[task] = of_task
      of_task[#of_task + 1] = id
      of_task[#of_task + 1] = id
      answer = {'inserted', id, at, 0}
    end
    answers[#answers + 1] = answer
  end
  many('HSET', P .. 'job', blobs)
  many('ZADD', P .. 'ready', ready)
  many('ZADD', P .. 'later', later)
  many('ZADD', P .. 'live', live)
  for task, ids in pairs(tasks) do many('ZADD', P .. 'by:task:' .. task, ids) end
  for lane, _ in pairs(lanes) do place(lane) end
  return not handed
end

if plan then
  local name, revision, expected, next_at = unpack(plan)
  local packed = call('HGET', P .. 'plans', name)
  local kept = packed and unpack_(packed)
  if not kept or kept.revision ~= revision or kept.next_at ~= expected then return false end
  kept.next_at, kept.last_at = next_at or nil, expected
  call('HSET', P .. 'plans', name, pack_(kept))
  if next_at and not kept.paused then
    call('ZADD', P .. 'due', next_at, name)
  else
    call('ZREM', P .. 'due', name)
  end
end
for _, group in ipairs(groups) do
  P, NUMBER = group[1], group[2]
  if insert_group(group[3]) then wake() end
end
return pack_(answers)
