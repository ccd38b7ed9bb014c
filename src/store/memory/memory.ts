import type { Table } from '../../algorithm/table.js';
import type { Clock } from '../../clock.js';
import type { Check, Limit } from '../../domain.js';
import { failureOf } from '../redis/failure.js';
import type { Outcome, Store } from '../store.js';
import { decideInMemory } from './decide.js';

export interface MemoryStore extends Store {
  /** State keys held now, dead ones included. */
  keys(): number;
  /** How often a key had to go although its state still mattered. */
  evictions(): number;
}

/** So many keys are looked at to find the one that matters least. */
const SAMPLE = 16;
const SWEEP_INTERVAL_MS = 1000;
const SWEEP_KEYS = 10_000;

/**
 * The embedded store: exact, and gone with the process. It holds `maxKeys` state keys at most. When
 * full it lets go of a dead key, else, of a handful, the one with the largest part of its quota
 * left, so that a flood of new keys does not free one that has run out.
 */
export function createMemoryStore(options: { clock: Clock; maxKeys: number }): MemoryStore {
  const { clock, maxKeys } = options;
  const tables = new Map<Limit, Table>();
  let keys = 0;
  let evictions = 0;

  const tableOf = (limit: Limit): Table => {
    const known = tables.get(limit);
    if (known !== undefined) return known;
    const table = limit.decider.newTable();
    tables.set(limit, table);
    return table;
  };

  let walk = tables.entries();
  let current: [Limit, Table] | undefined;
  /** The next key of all tables in turn, or undefined at the end of a round. */
  const nextKey = (): { table: Table; key: string; quota: number } | undefined => {
    for (;;) {
      if (current === undefined) {
        const next = walk.next();
        if (next.done === true) {
          walk = tables.entries();
          return undefined;
        }
        current = next.value;
      }
      const [limit, table] = current;
      const key = table.nextKey();
      if (key !== undefined) return { table, key, quota: limit.quota };
      current = undefined;
    }
  };

  const remove = (table: Table, key: string): void => {
    table.delete(key);
    keys--;
  };

  const makeRoom = (now: number): void => {
    let victim: { table: Table; key: string; share: number } | undefined;
    for (let seen = 0; seen < SAMPLE; seen++) {
      // The end of a round is not the end of the sample.
      const candidate = nextKey() ?? nextKey();
      if (candidate === undefined) break;
      const { table, key, quota } = candidate;
      if (table.isOver(key, now)) {
        remove(table, key);
        return;
      }
      const share = table.ask(key, 0, now).remaining / quota;
      if (victim === undefined || share > victim.share) victim = { table, key, share };
    }
    if (victim === undefined) return;
    remove(victim.table, victim.key);
    evictions++;
  };

  const charge = (limit: Limit, key: string, cost: number, now: number): void => {
    const table = tableOf(limit);
    if (!table.has(key)) {
      if (keys >= maxKeys) makeRoom(now);
      keys++;
    }
    table.charge(key, cost, now);
  };

  const ask = (limit: Limit, key: string, cost: number, now: number) =>
    tableOf(limit).ask(key, cost, now);

  const sweep = setInterval(() => {
    const now = clock();
    for (let seen = Math.min(keys, SWEEP_KEYS); seen > 0; seen--) {
      const candidate = nextKey();
      if (candidate === undefined) continue;
      const { table, key } = candidate;
      if (table.isOver(key, now)) remove(table, key);
    }
  }, SWEEP_INTERVAL_MS);
  sweep.unref();

  const decide = (check: Check, now: number): Outcome => {
    try {
      return { kind: 'decided', limits: decideInMemory({ ask, charge }, check, now) };
    } catch (error) {
      return failureOf(error);
    }
  };

  return {
    async decide(checks) {
      const now = clock();
      return checks.map((check) => decide(check, now));
    },
    health: () => ({ up: true, detail: `in memory, ${keys} of at most ${maxKeys} keys` }),
    close: async () => clearInterval(sweep),
    keys: () => keys,
    evictions: () => evictions,
  };
}
