-- Ends a lock, if it is still the one of this server.
-- KEYS: the lock. ARGV: its token.
if redis.pcall('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
