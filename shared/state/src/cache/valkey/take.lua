-- Takes a place under a counter. KEYS: the counter. ARGV: the call, the limit, ms to hold it.
-- Gives the microseconds until there is a place, or 0 for one. The counter is a sorted set of calls by the time when
-- they leave.
local counter, call, limit, hold = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local held = redis.call('ZSCORE', counter, call)
if held and tonumber(held) > now then return 0 end
local from = string.format('(%.0f', now)
local taken = redis.call('ZCOUNT', counter, from, '+inf')
if taken < limit then
    -- First, because a server without memory stops a script only at a first write that needs some.
    redis.call('ZADD', counter, string.format('%.0f', now + hold * 1000), call)
    redis.call('ZREMRANGEBYSCORE', counter, '-inf', string.format('%.0f', now))
    if redis.call('PTTL', counter) < hold then redis.call('PEXPIRE', counter, string.format('%.0f', hold)) end
    return 0
end
-- Where the limit was lowered, more than one has to go first.
local free = redis.call('ZRANGEBYSCORE', counter, from, '+inf', 'WITHSCORES', 'LIMIT', taken - limit, 1)
return math.max(1, (tonumber(free[2]) or now + hold * 1000) - now)
