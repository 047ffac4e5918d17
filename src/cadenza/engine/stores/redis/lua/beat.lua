-- Keep a worker's last word, forget those long silent. KEYS: the workers' hash.
-- ARGV: 0, name, packed word, silence in microseconds.
call('HSET', KEYS[1], ARGV[2], pad(now) .. ARGV[3])
local all = call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  if now - tonumber(string.sub(all[i + 1], 1, 16)) > tonumber(ARGV[4]) then
    call('HDEL', KEYS[1], all[i])
  end
end
