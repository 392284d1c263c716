-- Counts the running requests of a server under a MaxConcurrentReqs, unless those of all servers are too many.
-- KEYS[1]: a hash with the count of each server, its number and the end of its lease in µs of the store's clock.
-- ARGV: the server, its running requests, the number of this count, the lease in µs, the maximum or 0 for a report.
-- Returns 1 if the request may run.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local lease = tonumber(ARGV[4])
local all = redis.pcall('HGETALL', KEYS[1])
if all.err then
  redis.call('UNLINK', KEYS[1])
  all = {}
end
local others, last = 0, 0
for at = 1, #all, 2 do
  local count, number, ends = string.match(all[at + 1], '^(%d+) (%d+) (%d+)$')
  count, number, ends = tonumber(count), tonumber(number), tonumber(ends)
  if all[at] == ARGV[1] then
    last = number or 0
  elseif count and ends > now and ends <= now + lease then
    others = others + count
  else
    redis.call('HDEL', KEYS[1], all[at])
  end
end
local most = tonumber(ARGV[5])
if most > 0 and others + tonumber(ARGV[2]) > most then return 0 end
-- Counts of several threads may arrive in another order than they were made.
if tonumber(ARGV[3]) >= last then
  -- A count of 0 stays for the lease as well: an older one may still arrive.
  redis.call('HSET', KEYS[1], ARGV[1], string.format('%s %s %.0f', ARGV[2], ARGV[3], now + lease))
  redis.call('PEXPIRE', KEYS[1], math.ceil(lease / 1000))
end
return 1
