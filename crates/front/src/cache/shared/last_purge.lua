-- The number of the last purge, or nothing. KEYS: its key.
local number = redis.pcall('GET', KEYS[1])
return type(number) == 'string' and number or false
