-- Ids below one, newest first, of the smallest index that a filter allows.
-- ARGV: below, count, then indexes; "+" begins the next list, of which all are read together.
local below, count = ARGV[2], tonumber(ARGV[3])
local lists = {{}}
for i = 4, #ARGV do
  if ARGV[i] == '+' then lists[#lists + 1] = {} else table.insert(lists[#lists], ARGV[i]) end
end
local function size(list)
  local all = 0
  for _, name in ipairs(list) do
    all = all + (name == 'run' and call('HLEN', P .. name) or call('ZCARD', P .. name))
  end
  return all
end
table.sort(lists, function(a, b) return size(a) < size(b) end)
local ids = {}
for _, name in ipairs(lists[1]) do
  local found
  if name == 'run' then
    found = call('HKEYS', P .. name)
  else
    found = call('ZRANGE', P .. name, '(' .. below, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, count)
  end
  for _, id in ipairs(found) do
    if below == '+inf' or id < below then ids[#ids + 1] = id end
  end
end
table.sort(ids, function(a, b) return a > b end)
while #ids > count do ids[#ids] = nil end
return ids
