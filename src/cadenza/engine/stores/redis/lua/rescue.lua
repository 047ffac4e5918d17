-- Take back what some expired leases hold: what was started counts a crash, at the crash limit it fails. ARGV: crash limit, the note of a buried job, the number in it that stands
-- for its crashes. Returns {how many leases, returned ids, buried ids}.
local limit, note, mark = tonumber(ARGV[2]), ARGV[3], ARGV[4]
local leases = call('ZRANGE', P .. 'leases', '-inf', now, 'BYSCORE', 'LIMIT', 0, 100)
local returned, buried, left = {}, {}, {}

local function take_back(id, crashed)
  local blob = call('HGET', P .. 'job', id)
  local body, more = body_of(blob), more_of(call('HGET', P .. 'more', id))
  local lane = body[LANE] or ''
  left[lane] = (left[lane] or 0) + 1
  call('HDEL', P .. 'run', id)
  more[CRASHES] = more[CRASHES] + (crashed and 1 or 0)
  local into = returned
  if more[CANCEL] then
    finish(id, body, more, 'canceled')
  elseif crashed and more[CRASHES] >= limit then
    table.insert(more[ERRORS], (string.gsub(note, mark, string.format('%.0f', more[CRASHES]))))
    finish(id, body, more, 'failed')
    into = buried
  else
    stand(id, body, run_at_of(blob), more[CRASHES])
  end
  call('HSET', P .. 'more', id, pack_(more))
  into[#into + 1] = id
end

for _, lease in ipairs(leases) do
  local held = call('HGET', P .. 'held', lease)
  held = held and unpack_(held) or {false, {}}
  local ids, started = held[2], nil
  if held[3] then
    started = {}
    for _, id in ipairs(held[3]) do started[id] = true end
  end
  for i, running in ipairs(#ids > 0 and read_many(P .. 'run', ids) or {}) do
    if running == lease then take_back(ids[i], not started or started[ids[i]]) end
  end
  call('HDEL', P .. 'held', lease)
  call('ZREM', P .. 'leases', lease)
end
leave(left)
if #returned > 0 then wake() end
return {#leases, returned, buried}
