-- Mark jobs of leases as started. ARGV: packed list of {lease, ids}.
for _, begun in ipairs(unpack_(ARGV[2])) do
  local packed = call('HGET', P .. 'held', begun[1])
  local held = packed and unpack_(packed)
  if held and held[3] then
    for _, id in ipairs(begun[2]) do held[3][#held[3] + 1] = id end
    call('HSET', P .. 'held', begun[1], pack_(held))
  end
end
