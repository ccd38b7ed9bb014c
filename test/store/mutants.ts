export type LuaFile = 'fixed-period.lua' | 'sliding-log.lua' | 'check.lua';

/** One change of one token, and what it breaks. */
export interface Mutant {
  file: LuaFile;
  from: string;
  to: string;
  breaks: string;
}

function mutantsOf(file: LuaFile, list: readonly (readonly [string, string, string])[]): Mutant[] {
  return list.map(([from, to, breaks]) => ({ file, from, to, breaks }));
}

export const MUTANTS: readonly Mutant[] = [
  ...mutantsOf('fixed-period.lua', [
    ['pieces[i][1] > now', 'pieces[i][1] >= now', 'the first instant of a window'],
    ['now < first', 'now <= first', 'the first instant after a change of the clock'],
    ['/ step) + 1)', '/ step))', 'the end of a window by the clock'],
    ['math.floor((now', 'math.ceil((now', 'the inside of a window by the clock'],
    ['finish >= pieces', 'finish > pieces', 'a change of the clock at a boundary'],
    ['now < state.finish', 'now <= state.finish', 'the end of a period, which is not in it'],
    ['used > 0 and finish', 'used >= 0 and finish', 'the reset of an unused key'],
    ['used + cost > 0 and', 'used + cost >= 0 and', 'the reset of a peek'],
    ['cost > limit.quota', 'cost >= limit.quota', 'a cost of the whole quota'],
    ['cost > free', 'cost >= free', 'the last units'],
    ['free - cost', 'free', 'remaining'],
    ['math.max(0, limit', 'math.min(0, limit', 'what is free'],
    ['math.max(used', 'math.min(used', 'the count'],
    ['state.finish == finish', 'state.finish ~= finish', 'the next period'],
    [", 'KEEPTTL'", '', 'the time to live of a second write'],
    ['math.ceil((finish', 'math.floor((finish', 'a time to live below a millisecond'],
    ['/ 1000) + grace', '/ 1000)', 'the grace'],
    ['/ 1000) + grace', '/ 10000) + grace', 'the time to live'],
  ]),
  ...mutantsOf('sliding-log.lua', [
    ["'ZRANGE', key, -1, -1", "'ZRANGE', key, 0, 0", 'the youngest unit'],
    ["'(' .. text(now - period)", 'text(now - period)', 'a unit that is exactly a period old'],
    ['used > 0 and state', 'used >= 0 and state', 'the reset once all is over'],
    ['quota - used', 'quota + used', 'what is free'],
    ['cost > quota', 'cost >= quota', 'a cost of the whole quota'],
    ['cost <= free', 'cost < free', 'the last units'],
    ['cost > 0 and period', 'cost >= 0 and period', 'the reset of a peek'],
    ['leaving - used - 1', 'leaving - used', 'which unit has to leave'],
    ["'NX', text(now)", 'text(now)', 'ids that are used twice'],
    ['for unit = 2', 'for unit = 1', 'how many units are written'],
    [') - used\n', ') + used\n', 'what is over'],
    ['over > 0', 'over >= 0', 'a log of which nothing is over'],
    ['units) - 1)', 'units))', 'the oldest unit that is not over'],
    ['-quota - 1', '-quota', 'the oldest unit of a full log'],
    ['-quota - 1', '-quota - 2', 'the bound of a log'],
    ['(period + lag)', '(period)', 'the time to live after a step back'],
    ['/ 1000) + grace', '/ 1000)', 'the grace'],
    ['/ 1000) + grace', '/ 100) + grace', 'the time to live'],
    ["redis.call('PEXPIRE'", "redis.call('PTTL'", 'expiry altogether'],
  ]),
  ...mutantsOf('check.lua', [
    ['* 1000000', '* 100000', 'the clock of the server'],
    ['seen > now', 'seen < now', 'clocks that step back'],
    ['seen - now', 'now - seen', 'waits after a step back'],
    ['cost, now + lag)', 'cost, now)', 'what a step back leaves counted'],
    ['and state.lag or', 'and 0 or', 'what is charged after a step back'],
    ['reset + lag', 'reset', 'the reset after a step back'],
    ['retry + lag', 'retry', 'the retry after a step back'],
    ['all = all and', 'all = all or', 'all or nothing'],
    ['never or kind', 'never and kind', 'what can never pass'],
    ['and not never', 'and never', 'denied attempts'],
    ['not all and not', 'not not', 'denied attempts alone'],
    ['and limit.countDenied', 'and not limit.countDenied', 'which limits count denied attempts'],
    ['cost > 0 and (all', 'cost >= 0 and (all', 'peeks'],
    ['(all or counted)', '(all and counted)', 'every charge'],
    ['key, 0, place', 'key, cost, place', 'uncharged numbers on a denial'],
    ['nil, nil, nil, nil }', '0, 0, 0, 0, 0 }', 'the length of a reply'],
    ['first + #limits', 'first + 1', 'the keys of the second check of a batch'],
    ['remaining < MAX_REPLY', 'remaining > MAX_REPLY', 'numbers near 2^53'],
  ]),
];
