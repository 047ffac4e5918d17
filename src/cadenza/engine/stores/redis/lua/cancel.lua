-- Cancel waiting jobs, ask for running ones. ARGV: note, ids... Returns a word for each.
local note, answers, lanes = ARGV[2], {}, {}

local function cancel(id)
  local blob = call('HGET', P .. 'job', id)
  if not blob then return 'unknown' end
  local body, more = body_of(blob), more_of(call('HGET', P .. 'more', id))
  if more[STATE] then return 'unchanged' end
  local running = call('HEXISTS', P .. 'run', id) == 1
  if running and more[CANCEL] then return 'requested' end
  table.insert(more[ERRORS], note)
  if running then
    more[CANCEL] = true
    call('SADD', P .. 'cancel', id)
  else
    unstand(id, body, run_at_of(blob))
    finish(id, body, more, 'canceled')
    if body[LANE] then lanes[body[LANE]] = true end
  end
  call('HSET', P .. 'more', id, pack_(more))
  return running and 'requested' or 'changed'
end

for i = 3, #ARGV do
  answers[#answers + 1] = cancel(ARGV[i])
  if answers[#answers] == 'requested' then call('PUBLISH', CHANNEL, '') end
end
for lane, _ in pairs(lanes) do place(lane) end
return answers
