-- When something of the queue becomes runnable, as text, or false if nothing is in sight.
local function next_due(whole)
  local opening = opens_at(whole)
  if not opening then return false end
  local soonest = nil
  local function see(at)
    at = math.max(at, opening)
    soonest = soonest and math.min(soonest, at) or at
  end
  local ready = call('ZCARD', P .. 'ready') + call('ZCARD', P .. 'suspect')
    + call('ZCARD', P .. 'turn') + call('ZCARD', P .. 'turn_alone')
  if ready > 0 then see(now) end
  for _, key in ipairs({'later', 'wait'}) do
    local head = call('ZRANGE', P .. key, 0, 0, 'WITHSCORES')[2]
    if head then see(tonumber(head)) end
  end
  return soonest and pad(soonest) or false
end
