-- Keeps an entry; the oldest of its owner and of its workspace go where it goes beyond the caps.
-- KEYS: the workspace's index, the entry. ARGV: owner, id, idle and total ms, entries an owner, bytes a workspace,
-- what the keys of entries begin with, bytes of this entry, its parts.
-- The index is a sorted set by expiry; each member says "owner:id:made:bytes", so there is nothing to fall out of step.
local index, entry = KEYS[1], KEYS[2]
local owner, id = ARGV[1], ARGV[2]
local idle, total = tonumber(ARGV[3]), tonumber(ARGV[4])
local entries_per_owner, bytes_per_workspace = tonumber(ARGV[5]), tonumber(ARGV[6])
local prefix, bytes = ARGV[7], tonumber(ARGV[8])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local due, ends = now + math.min(idle, total), now + total

local made, all, own, others, mine = 0, 0, 0, {}, nil
for _, member in ipairs(redis.call('ZRANGEBYSCORE', index, string.format('(%.0f', now), '+inf')) do
    local of, name, at, size = string.match(member, '^([^:]*):([^:]*):(%d+):(%d+)$')
    if name == id then
        mine = member
    else
        at, size = tonumber(at), tonumber(size)
        others[#others + 1] = {member = member, owner = of, id = name, made = at, bytes = size}
        made, all = math.max(made, at), all + size
        if of == owner then own = own + 1 end
    end
end

-- A server without memory stops a script at its first write, and only if that is one that needs memory: so this one is
-- first, and nothing has gone when it fails.
local member = string.format('%s:%s:%.0f:%.0f', owner, id, made + 1, bytes)
redis.call('HSET', entry, 'member', member)
redis.call('DEL', entry)
redis.call('HSET', entry, 'member', member, 'idle', ARGV[3], 'ends', string.format('%.0f', ends))
for n = 9, #ARGV do redis.call('HSET', entry, n - 9, ARGV[n]) end
redis.call('PEXPIREAT', entry, string.format('%.0f', due))
redis.call('ZREMRANGEBYSCORE', index, '-inf', string.format('%.0f', now))
if mine then redis.call('ZREM', index, mine) end
redis.call('ZADD', index, string.format('%.0f', due), member)
if redis.call('PTTL', index) < total then redis.call('PEXPIREAT', index, string.format('%.0f', ends)) end

table.sort(others, function(a, b) return a.made < b.made end)
local function drop(other)
    redis.call('ZREM', index, other.member)
    redis.call('DEL', prefix .. other.id)
    all, other.gone = all - other.bytes, true
end
for _, other in ipairs(others) do
    if own < entries_per_owner then break end
    if other.owner == owner then
        drop(other)
        own = own - 1
    end
end
for _, other in ipairs(others) do
    if all + bytes <= bytes_per_workspace then break end
    if not other.gone then drop(other) end
end
return 0
