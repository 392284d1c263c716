-- Looks a response up, and lets one server make it if there is none that is fresh.
-- KEYS: the resource's responses, the lock of this one, the epoch of all responses, the last purge of the resource.
-- ARGV: field of the response, names of the Vary headers as this server knows them, token of this server,
--       time of the lock in ms or 0, largest response in bytes, when the response was stored that this server knows.
-- Returns what was found (0 nothing, 1 a fresh response, 2 a stale one, 3 other Vary headers), its age in µs, the
-- response or the headers, whether this server has the lock, the epoch, the last purge, and when the response was stored.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local epoch = redis.pcall('GET', KEYS[3])
if type(epoch) ~= 'string' then
  -- Without an epoch it is unknown what was purged, so all older responses are of no use.
  epoch = ARGV[3]
  redis.call('SET', KEYS[3], epoch)
end
local purge = redis.pcall('GET', KEYS[4])
if type(purge) ~= 'string' then purge = '' end
local vary = redis.pcall('HGET', KEYS[1], 'vary')
if type(vary) == 'string' and vary ~= ARGV[2] then return {3, 0, vary, 0, epoch, purge, ''} end

local state, age, response, at = 0, 0, '', ''
local size = redis.pcall('HSTRLEN', KEYS[1], ARGV[1])
if type(size) == 'number' and size > 0 and size <= tonumber(ARGV[5]) then
  local entry = redis.call('HGET', KEYS[1], ARGV[1])
  local stored, fresh, of, from = string.match(entry, '^(%d+) (%d+) (%x+) ()')
  at = stored or ''
  stored, fresh = tonumber(stored), tonumber(fresh)
  if stored and fresh and at ~= ARGV[6] and of == epoch and stored <= now then
    state = now < fresh and 1 or 2
    age, response = now - stored, string.sub(entry, from)
  end
end
if state == 1 or ARGV[4] == '0' then return {state, age, response, 0, epoch, purge, at} end
if redis.call('PTTL', KEYS[2]) == -1 then redis.call('DEL', KEYS[2]) end
local lock = redis.call('SET', KEYS[2], ARGV[3], 'NX', 'PX', ARGV[4])
return {state, age, response, lock and 1 or 0, epoch, purge, at}
