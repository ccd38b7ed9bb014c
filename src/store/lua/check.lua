-- The shell around the algorithms: decides a batch of checks, each its own atomic step over all of its
-- Limits. The twin of decide-in-memory.ts. `algorithms` has what makes each of algorithm/*.lua, by name.
--
-- An algorithm is a table of three functions. All numbers are integers, since Redis would cut off fractions that the
-- TypeScript twin keeps; times are microseconds:
--   read(key)                     the state of a key as a table, or nil; `seen` in it is the latest instant that
--                                 it has seen, if it keeps one, and `lag` is for this shell
--   ask(key, state, limit, cost, now)
--                                 kind, remaining, resetAfter, retryAfter; writes nothing. kind is 1 allow
--                                 (numbers as after the charge), 2 wait, 3 never; retryAfter is 0 unless it is 2
--   charge(key, state, limit, cost, now, lag, grace, id)
--                                 counts cost, which is never 0 and may be more than remains (countDenied), and sets a
--                                 TTL: `now` is `lag` ahead of this server's clock if that has stepped back, and state
--                                 keys outlive their meaning by `grace` milliseconds; id is nil without usesId
--
-- KEYS     the state keys of the first check's Limits, then those of the second's, and so on
-- ARGV[1]  JSON: [now, grace, policies, then runs of checks that follow each other with the same policy and cost]
--          now in microseconds, or false to read the clock of this server
--          policies, each a list of Limits { algorithm, countDenied, and the algorithm's numbers }
--          a run is which of those policies (from 1), cost, how many checks and, if an algorithm of theirs needs
--          them, a list of their ids, else false
--
-- reply    of each check, of each Limit: kind, remaining (as text if it is huge), resetAfter, retryAfter; or, of
--          a check that failed, the text of an error alone

local ALLOW, NEVER = 1, 3

-- Of a Limit in the reply.
local NUMBERS = 4

-- ioredis is wrong about integers that come closer than this to 2^53, so they go as text.
local MAX_REPLY = 2 ^ 53 - 64

-- The time of a call is mostly that of making things: each function costs a tenth of a microsecond a call,
-- each table as much, so what is used once stands where it is used.

local question = cjson.decode(ARGV[1])
local now, grace, policies = question[1], question[2], question[3]
if not now then
  -- Time may go on during a script (before Redis 7.2): it is read once, here.
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

-- Tables are made with room for one Limit, since growing takes time too.
local reply, length = { nil, nil, nil, nil }, 0

-- What a Limit answers goes to its place in the reply.
local function ask(limit, key, cost, place)
  local algorithm = algorithms[limit.algorithm]
  if type(algorithm) == 'function' then
    -- Made when first asked for: a call pays for the algorithms that it needs and not for all there are.
    algorithm = algorithm()
    algorithms[limit.algorithm] = algorithm
  end
  local state, lag = algorithm.read(key), 0
  if state then
    -- A clock that has stepped back stands still at the latest instant of the state, `lag` ahead of now.
    local seen = state.seen
    if seen and seen > now then lag = seen - now end
    state.lag = lag
  end
  local kind, remaining, reset, retry = algorithm.ask(key, state, limit, cost, now + lag)
  reply[place] = kind
  reply[place + 1] = remaining < MAX_REPLY and remaining or string.format('%.0f', remaining)
  reply[place + 2] = reset > 0 and reset + lag or 0
  reply[place + 3] = retry > 0 and retry + lag or 0
  return kind, state
end

local function decide(limits, first, cost, id)
  local states, all, never = { nil }, true, false
  for i = 1, #limits do
    local kind, state = ask(limits[i], KEYS[first + i], cost, length + NUMBERS * (i - 1) + 1)
    states[i] = state
    all = all and kind == ALLOW
    never = never or kind == NEVER
  end
  for i = 1, #limits do
    local limit, key, state, place = limits[i], KEYS[first + i], states[i], length + NUMBERS * (i - 1) + 1
    -- What can never pass is not an attempt.
    local counted = not all and not never and limit.countDenied
    if cost > 0 and (all or counted) then
      local lag = state and state.lag or 0
      algorithms[limit.algorithm].charge(key, state, limit, cost, now + lag, lag, grace, id)
    end
    if counted then ask(limit, key, cost, place) end
    if not all and reply[place] == ALLOW then ask(limit, key, 0, place) end
  end
end

local first, at = 0, 4
while question[at] do
  local limits, cost, count, ids = policies[question[at]], question[at + 1], question[at + 2], question[at + 3]
  for i = 1, count do
    -- One check's failure must not touch its neighbours. Every key is read before the first write, so whatever can be
    -- wrong with what it holds is known by then, and after a write Redis refuses no other: a check that fails has
    -- charged nothing.
    local ok, problem = pcall(decide, limits, first, cost, ids and ids[i])
    if ok then
      length = length + NUMBERS * #limits
    else
      -- What its Limits answered before it failed would be taken for the next check's.
      for place = length + 2, length + NUMBERS * #limits do reply[place] = nil end
      length = length + 1
      reply[length] = type(problem) == 'table' and problem.err or tostring(problem)
    end
    first = first + #limits
  end
  at = at + 4
end
return reply
