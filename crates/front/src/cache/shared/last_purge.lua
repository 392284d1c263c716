-- The number of the last purge. KEYS: its key.
return redis.pcall('GET', KEYS[1])
