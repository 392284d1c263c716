-- Stores a response unless its resource was purged since it was begun, and ends the lock of the server that has made it.
-- KEYS: the resource's responses, the lock of this one, the epoch of all responses, the last purge of the resource.
-- ARGV: field of the response, names of the Vary headers, token of the lock or nothing, the response, time in ms for
--       which it is fresh, time in ms after which it is dropped, maximum number of responses of a resource,
--       the epoch and the last purge when the response was begun.
-- Returns whether it is stored.
if ARGV[3] ~= '' and redis.pcall('GET', KEYS[2]) == ARGV[3] then redis.call('DEL', KEYS[2]) end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local epoch, purge = redis.pcall('GET', KEYS[3]), redis.pcall('GET', KEYS[4])
if type(purge) ~= 'string' then purge = '' end
if epoch ~= ARGV[8] or purge ~= ARGV[9] then return 0 end
local kind = redis.call('TYPE', KEYS[1]).ok
local is_known = kind == 'hash' and redis.call('HGET', KEYS[1], 'vary') == ARGV[2]
if kind ~= 'none' and (not is_known or redis.call('HLEN', KEYS[1]) > tonumber(ARGV[7])) then
  redis.call('UNLINK', KEYS[1])
end
local head = string.format('%.0f %.0f %s ', now, now + tonumber(ARGV[5]) * 1000, epoch)
redis.call('HSET', KEYS[1], 'vary', ARGV[2], ARGV[1], head .. ARGV[4])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[6]) then redis.call('PEXPIRE', KEYS[1], ARGV[6]) end
return 1
