-- Delete some finished jobs that are older than their age, and marks of rules that are over.
-- ARGV: age of done, age of failed, how many. Returns how many went.
local ages = {done = tonumber(ARGV[2]), canceled = tonumber(ARGV[2]), failed = tonumber(ARGV[3])}
local left, went = tonumber(ARGV[4]), 0
for state, age in pairs(ages) do
  local old = call('ZRANGE', P .. 'fin:' .. state, '-inf', '(' .. pad(math.max(now - age, 0)), 'BYSCORE', 'LIMIT', 0, left)
  local bodies = {}
  for i, blob in ipairs(read_many(P .. 'job', old)) do bodies[i] = body_of(blob) end
  unindex(old, bodies)
  many('ZREM', P .. 'is:' .. state, old)
  many('ZREM', P .. 'fin:' .. state, old)
  left, went = left - #old, went + #old
end
local over = call('ZRANGE', P .. 'throttle', '-inf', now, 'BYSCORE', 'LIMIT', 0, MOST)
many('ZREM', P .. 'throttle', over)
many('HDEL', P .. 'throttled', over)
call('ZREMRANGEBYSCORE', P .. 'pace', '-inf', now)
return went
