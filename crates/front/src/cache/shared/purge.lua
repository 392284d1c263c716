-- Drops the responses of a resource, or all, and informs the servers.
-- KEYS: the number of the last purge, the epoch, and the resource's responses and its last purge if only they are meant.
-- ARGV: number of this purge, token of a new epoch, channel or nothing, message, time in ms for which the purge of a
--       resource is known.
if KEYS[3] then
  redis.call('UNLINK', KEYS[3])
  -- Responses that were begun before are not stored after it.
  redis.call('SET', KEYS[4], ARGV[1], 'PX', ARGV[5])
else
  redis.call('SET', KEYS[2], ARGV[2])
end
if ARGV[3] ~= '' then
  redis.call('SET', KEYS[1], ARGV[1])
  redis.call('PUBLISH', ARGV[3], ARGV[4])
end
return 1
