-- All that is kept of some jobs. ARGV: ids... Returns for each that exists
-- {id, blob, more, lease, worker, lease's end}, what is not there as false.
local ids, rows, leases = {unpack(ARGV, 2)}, {}, {}
local blobs, mores, runs = read_many(P .. 'job', ids), read_many(P .. 'more', ids), read_many(P .. 'run', ids)
for i, id in ipairs(ids) do
  local lease = runs[i]
  if lease and not leases[lease] then
    local held = call('HGET', P .. 'held', lease)
    leases[lease] = {held and unpack_(held)[1] or false, call('ZSCORE', P .. 'leases', lease)}
  end
  if blobs[i] then
    local of = lease and leases[lease] or {false, false}
    rows[#rows + 1] = {id, blobs[i], mores[i], lease, of[1], of[2]}
  end
end
return rows
