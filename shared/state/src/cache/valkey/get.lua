-- Gives parts of an entry and lets it live on. KEYS: the workspace's index, the entry. ARGV: the parts' numbers.
local found = redis.call('HMGET', KEYS[2], 'member', 'idle', 'ends')
if not (found[1] and found[2] and found[3]) then return false end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local due = string.format('%.0f', math.min(now + tonumber(found[2]), tonumber(found[3])))
redis.call('PEXPIREAT', KEYS[2], due)
-- A server without memory refuses this write, and reading has to go on.
redis.pcall('ZADD', KEYS[1], 'XX', due, found[1])
if #ARGV == 0 then return {} end
return redis.call('HMGET', KEYS[2], unpack(ARGV))
