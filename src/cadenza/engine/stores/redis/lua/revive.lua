-- Let finished jobs wait anew with fresh counters, and waiting ones go now. ARGV: ids...
local answers, lanes = {}, {}

local function revive(id)
  local blob = call('HGET', P .. 'job', id)
  if not blob then return 'unknown' end
  if call('HEXISTS', P .. 'run', id) == 1 then return 'unchanged' end
  local body, more = body_of(blob), more_of(call('HGET', P .. 'more', id))
  local old = run_at_of(blob)
  if more[STATE] then
    call('ZREM', P .. 'is:' .. more[STATE], id)
    call('ZREM', P .. 'fin:' .. more[STATE], id)
    call('ZADD', P .. 'live', id, id)
    more = {0, 0, 0, false, more[PROGRESS], false, more[ERRORS], 0, false}
    body[KEY] = false
    blob = with_body(blob, body)
    call('HSET', P .. 'more', id, pack_(more))
  else
    unstand(id, body, old)
  end
  local at = math.min(old, now)
  call('HSET', P .. 'job', id, with_run_at(blob, at))
  if body[LANE] then
    save_gate(body[LANE], load_gate(body[LANE]) or new_gate(body[LANE]))
    lanes[body[LANE]] = true
  end
  stand(id, body, at, more[CRASHES])
  return 'changed'
end

for i = 2, #ARGV do answers[#answers + 1] = revive(ARGV[i]) end
for lane, _ in pairs(lanes) do place(lane) end
wake()
return answers
