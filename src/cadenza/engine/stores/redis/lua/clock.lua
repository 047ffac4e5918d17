-- The server's clock decides: microseconds since 1970, exact in a double until 2255.
local seconds = redis.call('TIME')
local now = tonumber(seconds[1]) * 1000000 + tonumber(seconds[2])
