-- Extend leases that this worker still holds. ARGV: worker, span, leases...
-- Returns {lost leases, ids whose cancel was requested}.
local worker, span = ARGV[2], tonumber(ARGV[3])
local lost, cancel, mine = {}, {}, {}
for i = 4, #ARGV do
  local held = call('HGET', P .. 'held', ARGV[i])
  if held and unpack_(held)[1] == worker then
    mine[ARGV[i]] = true
    call('ZADD', P .. 'leases', now + span, ARGV[i])
  else
    lost[#lost + 1] = ARGV[i]
  end
end
for _, id in ipairs(call('SMEMBERS', P .. 'cancel')) do
  if mine[call('HGET', P .. 'run', id)] then cancel[#cancel + 1] = id end
end
return {lost, cancel}
