-- sliding-log: at most `quota` units in any stretch of time as long as `period`. The twin of sliding-log.ts.
--
-- state key  sorted set, one member a unit: score = instant in microseconds, member = check id; from a
--            check's second unit on "<check id>:<unit>"; of an id that is there already "<check id>:<instant>:<serial>" in its place
-- limit      quota, period in microseconds

local ALLOW, WAIT, NEVER = 1, 2, 3

-- Entries that are over do not count, so dropping them can take its time: this bounds how long one check
-- may hold Redis when a large log ends all at once.
local MAX_PURGE = 1000

local function text(number) return string.format('%.0f', number) end

local function read(key)
  local newest = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
  if not newest[2] then return nil end
  return { seen = tonumber(newest[2]) }
end

local function ask(key, state, limit, cost, now)
  local quota, period = limit.quota, limit.period
  local used = 0
  if state then
    used = redis.call('ZCOUNT', key, '(' .. text(now - period), '+inf')
    state.used = used
  end
  local free = math.max(0, quota - used)
  local reset = used > 0 and state.seen + period - now or 0
  if cost > quota then return NEVER, free, reset, 0 end
  if cost <= free then return ALLOW, free - cost, cost > 0 and period or reset, 0 end
  -- So many of the oldest have to leave; the last of them decides.
  local leaving = used + cost - quota
  local rank = text(leaving - used - 1)
  local last = redis.call('ZRANGE', key, rank, rank, 'WITHSCORES')
  return WAIT, free, reset, tonumber(last[2]) + period - now
end

-- A caller may send one check id twice, and each unit has to count all the same, under a name of its own.
-- The size of the set is a serial that is seldom taken.
local function add(key, now, member)
  local name, serial = member, nil
  while redis.call('ZADD', key, 'NX', text(now), name) == 0 do
    serial = serial and serial + 1 or redis.call('ZCARD', key)
    name = member .. ':' .. text(now) .. ':' .. serial
  end
  return name
end

local function charge(key, state, limit, cost, now, lag, grace, id)
  local quota, period = limit.quota, limit.period
  local units = math.min(cost, quota)
  local used = state and state.used or 0
  if state then
    local over = redis.call('ZCARD', key) - used
    if over > 0 then
      redis.call('ZREMRANGEBYRANK', key, 0, math.min(over, MAX_PURGE + units) - 1)
    end
  end
  local base = add(key, now, id)
  for unit = 2, units do add(key, now, base .. ':' .. unit) end
  -- A denied attempt can be larger than what is free; older entries than the newest `quota` never matter.
  if used + units > quota then redis.call('ZREMRANGEBYRANK', key, 0, -quota - 1) end
  redis.call('PEXPIRE', key, text(math.ceil((period + lag) / 1000) + grace))
end

return { read = read, ask = ask, charge = charge }
