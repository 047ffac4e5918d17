-- Change what is given of a gate. ARGV: packed {lane or false, change}, where a change has some of
-- paused, reason, limit (a map), park (0 ends it). Returns the packed gate.
local lane, change = unpack(unpack_(ARGV[2]))
lane = lane or nil
local gate = load_gate(lane) or new_gate(lane)
if change.paused ~= nil then
  gate.paused, gate.reason = change.paused, change.paused and change.reason or nil
end
if change.limit then
  gate.concurrency, gate.count, gate.per, gate.burst, gate.interval = nil, nil, nil, nil, nil
  for name, value in pairs(change.limit) do gate[name] = value end
end
save_gate(lane, gate)
if change.park then
  park(lane, change.park > 0 and now + change.park or 0)
  gate = load_gate(lane) or new_gate(lane) -- one that stops nothing is not kept
elseif lane then
  place(lane)
end
wake()
return pack_(gate)
