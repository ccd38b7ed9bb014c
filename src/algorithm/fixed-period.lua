-- fixed-period: at most `quota` units in each period. The twin of fixed-period.ts.
--
-- state key  string "<used> <end>", end in microseconds, excluded; gone by itself when the period is over
-- limit      quota; period (from the first charged check) or windows (see windows.ts)

local ALLOW, WAIT, NEVER = 1, 2, 3

-- The first boundary after now. The twin of windowEnd in windows.ts.
local function window_end(windows, now)
  local pieces, step = windows.pieces, windows.step
  local i = #pieces
  while i > 0 and pieces[i][1] > now do i = i - 1 end
  if i == 0 or now >= windows['until'] then
    error('SLUICE_CLOCK the clocks of the service and of the store are days apart', 0)
  end
  local first, finish = pieces[i][2], math.huge
  if now < first then
    finish = first
  elseif step then
    finish = first + (math.floor((now - first) / step) + 1) * step
  end
  i = i + 1
  while pieces[i] and finish >= pieces[i][1] do
    finish = pieces[i][2]
    i = i + 1
  end
  return finish
end

local function current(state, limit, now)
  if state and now < state.finish then return state.used, state.finish end
  if limit.windows then return 0, window_end(limit.windows, now) end
  return 0, now + limit.period
end

local function read(key)
  local text = redis.call('GET', key)
  if not text then return nil end
  local used, finish = string.match(text, '^(%d+) (%d+)$')
  if not used then error('SLUICE_STATE a state key holds something that Sluice did not write', 0) end
  -- No `seen`: a clock that goes back stays before the end of the period, which is all that the state knows.
  return { used = tonumber(used), finish = tonumber(finish), finish_text = finish }
end

local function ask(_, state, limit, cost, now)
  local used, finish = current(state, limit, now)
  local free = math.max(0, limit.quota - used)
  local reset = used > 0 and finish - now or 0
  if cost > limit.quota then return NEVER, free, reset, 0 end
  if cost > free then return WAIT, free, reset, finish - now end
  return ALLOW, free - cost, used + cost > 0 and finish - now or 0, 0
end

local function charge(key, state, limit, cost, now, _, grace)
  local used, finish = current(state, limit, now)
  -- A denied attempt may fill the quota but need not be remembered beyond it.
  local count = math.max(used, math.min(used + cost, limit.quota))
  if state and state.finish == finish then
    -- The same period: its end stands, and with it the time to live.
    redis.call('SET', key, string.format('%.0f %s', count, state.finish_text), 'KEEPTTL')
  else
    local ttl = math.ceil((finish - now) / 1000) + grace
    redis.call('SET', key, string.format('%.0f %.0f', count, finish), 'PX', string.format('%.0f', ttl))
  end
end

return { read = read, ask = ask, charge = charge }
