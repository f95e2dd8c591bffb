-- Lets an entry go. KEYS: the workspace's index, the entry.
local member = redis.call('HGET', KEYS[2], 'member')
if member then redis.call('ZREM', KEYS[1], member) end
return redis.call('DEL', KEYS[2])
