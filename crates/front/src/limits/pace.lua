-- Counts a request of a client under a SpeedLimit, or refuses it: a leaky bucket as a time (GCRA), by the store's clock.
-- KEYS[1]: the client's account: when its requests and its worker time will have drained, in µs.
-- ARGV: requests per period, period in µs, requests that were counted without this store;
--       worker seconds per period, period in µs, seconds that are new to this store, seconds of running requests;
--       1 to count the request, 0 for a report.
-- Returns 0 for a counted request, otherwise the time to wait in µs.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local text = redis.pcall('GET', KEYS[1])
local requests, seconds = 0, 0
if type(text) == 'string' then
  local first, second = string.match(text, '^(%d+%.?%d*) (%d+%.?%d*)$')
  requests, seconds = tonumber(first) or 0, tonumber(second) or 0
end

-- Whatever was stored, nobody waits for longer than the account can be full.
local function level(stored, more, most)
  return math.min(math.max(stored, now) + more, now + most)
end

local wait = 0
local amount, period = tonumber(ARGV[1]), tonumber(ARGV[2])
local unit = 0
if amount > 0 then
  unit = period / amount
  requests = level(requests, tonumber(ARGV[3]) * unit, period)
  wait = requests + unit - now - period
  -- Below the precision of the numbers.
  if wait < 1 then wait = 0 end
else
  requests = 0
end
amount, period = tonumber(ARGV[4]), tonumber(ARGV[5])
if amount > 0 then
  local each = period / amount
  seconds = level(seconds, tonumber(ARGV[6]) * each, 16 * period)
  local over = seconds + tonumber(ARGV[7]) * each - now - period
  -- Requests that run may have used any time.
  if over >= 0 then wait = math.max(wait, math.min(over, 16 * period), 1) end
else
  seconds = 0
end
if wait == 0 then requests = requests + unit * tonumber(ARGV[8]) end
local last = math.max(requests, seconds)
if last > now then
  redis.call('SET', KEYS[1], string.format('%.3f %.3f', requests, seconds), 'PX', math.ceil((last - now) / 1000))
end
return math.ceil(wait)
