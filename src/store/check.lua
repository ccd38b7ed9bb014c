-- The shell around the algorithms: decides a batch of checks, each its own atomic step over all of its
-- Limits. The twin of decide-in-memory.ts. `algorithms` has what makes each of algorithm/*.lua, by name.
--
-- An algorithm is a table of four functions; times are microseconds:
--   read(key)                     the state of a key, or nil
--   time(state)                   the latest instant that it has seen, 0 if it keeps none
--   ask(key, state, numbers, cost, now)
--                                 kind, remaining, resetAfter, retryAfter; writes nothing. kind is 1 allow
--                                 (numbers as after the charge), 2 wait, 3 never; retryAfter is 0 unless it is 2
--   charge(key, state, numbers, cost, now, lag, grace, id)
--                                 counts cost and sets a TTL: `now` is `lag` ahead of this server's clock if that has
--                                 stepped back, and state keys outlive their meaning by `grace` milliseconds
--
-- KEYS     the state keys of the first check's Limits, then those of the second's, and so on
-- ARGV[1]  now in microseconds, or empty to read the clock of this server
-- ARGV[2]  milliseconds that state keys outlive their meaning by
-- ARGV[3]  JSON: policies, each a list of Limits { algorithm, countDenied, numbers }
-- ARGV[4..] runs of checks that follow each other with the same policy and cost: which of those policies
--          (from 1), cost, how many checks, and the id of each
--
-- reply    of each check, of each Limit: kind, remaining (as text if it is huge), resetAfter and, of a wait
--          only, retryAfter, in microseconds; or, instead of all that, the text of an error

local ALLOW, WAIT, NEVER = 1, 2, 3

-- ioredis is wrong about integers that come closer than this to 2^53, so they go as text.
local MAX_REPLY = 2 ^ 53 - 64

-- Time may go on during a script (before Redis 7.2): it is read once, here.
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local grace = tonumber(ARGV[2])
local policies = cjson.decode(ARGV[3])

-- Made when first asked for: a call pays for the algorithms that it needs and not for all there are.
local made = {}
local function algorithm_of(limit)
  local name = limit.algorithm
  made[name] = made[name] or algorithms[name]()
  return made[name]
end

local reply, length = {}, 0
local function push(value)
  length = length + 1
  reply[length] = value
end

-- A clock that has stepped back stands still at the latest instant of the state, `lag` ahead of now.
local function settle(algorithm, state)
  local settled = state and math.max(now, algorithm.time(state)) or now
  return settled, settled - now
end

local function ask(limit, key, cost)
  local algorithm = algorithm_of(limit)
  local state = algorithm.read(key)
  local settled, lag = settle(algorithm, state)
  local kind, remaining, reset, retry = algorithm.ask(key, state, limit.numbers, cost, settled)
  if reset > 0 then reset = reset + lag end
  if retry > 0 then retry = retry + lag end
  return { kind = kind, remaining = remaining, reset = reset, retry = retry, state = state }
end

local function charge(limit, key, cost, id, state)
  local algorithm = algorithm_of(limit)
  local settled, lag = settle(algorithm, state)
  algorithm.charge(key, state, limit.numbers, cost, settled, lag, grace, id)
end

local function decide(limits, first, cost, id)
  local verdicts, all, never = {}, true, false
  for i, limit in ipairs(limits) do
    local verdict = ask(limit, KEYS[first + i], cost)
    verdicts[i] = verdict
    all = all and verdict.kind == ALLOW
    never = never or verdict.kind == NEVER
  end
  for i, limit in ipairs(limits) do
    -- What can never pass is not an attempt.
    local counted = not all and not never and limit.countDenied
    if cost > 0 and (all or counted) then
      charge(limit, KEYS[first + i], cost, id, verdicts[i].state)
    end
    if counted then verdicts[i] = ask(limit, KEYS[first + i], cost) end
    if not all and verdicts[i].kind == ALLOW then verdicts[i] = ask(limit, KEYS[first + i], 0) end
  end
  return verdicts
end

-- One check's failure must not touch its neighbours. All reads come before the first write, and after a
-- write Redis refuses no other, so a check that fails has charged nothing.
local function answer(limits, first, cost, id)
  local ok, result = pcall(decide, limits, first, cost, id)
  if not ok then
    push(type(result) == 'table' and result.err or tostring(result))
    return
  end
  for _, verdict in ipairs(result) do
    local remaining = verdict.remaining
    push(verdict.kind)
    push(remaining < MAX_REPLY and remaining or string.format('%.0f', remaining))
    push(verdict.reset)
    if verdict.kind == WAIT then push(verdict.retry) end
  end
end

local first, at = 0, 4
while at < #ARGV do
  local limits, cost, count = policies[tonumber(ARGV[at])], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  for i = at + 3, at + 2 + count do
    answer(limits, first, cost, ARGV[i])
    first = first + #limits
  end
  at = at + 3 + count
end
return reply
