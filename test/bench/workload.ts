/**
 * What every load generator sends. Policies are such that a right limiter must admit everything
 * (`open`), or exactly `GATE` units in the whole run (`gate`): so each run proves its own answers.
 */
export type AlgorithmName = 'fixed-period' | 'sliding-log';

/** Units that a closed key admits before it denies for the rest of the run. */
export const GATE = 100;

export interface Workload {
  algorithm: AlgorithmName;
  keys: number;
  /** Every second check asks about the key that is closed. */
  halfDenied: boolean;
}

/** The policies of all workloads. No run admits as many as a sliding log of this size and period holds. */
export const POLICIES = `
policies:
  fixed-period-open: { limits: [{ algorithm: fixed-period, quota: 1000000000, period: 1d }] }
  fixed-period-gate: { limits: [{ algorithm: fixed-period, quota: ${GATE}, period: 1d }] }
  sliding-log-open: { limits: [{ algorithm: sliding-log, quota: 100000, period: 500ms }] }
  sliding-log-gate: { limits: [{ algorithm: sliding-log, quota: ${GATE}, period: 1d }] }
`;

export interface Question {
  policy: string;
  key: string;
}

/** The i-th question of a run, whose keys no other run has. */
export function question(
  { algorithm, keys, halfDenied }: Workload,
  run: string,
  i: number,
): Question {
  if (halfDenied && i % 2 === 1) return { policy: `${algorithm}-gate`, key: `${run}-gate` };
  // Spread, so that neighbours in time are not neighbours in the store.
  return { policy: `${algorithm}-open`, key: `${run}-${(i * 7919) % keys}` };
}

/** What became of the questions of a run, by whether they asked about the closed key. */
export interface Counts {
  openAllowed: number;
  openDenied: number;
  gateAllowed: number;
  gateDenied: number;
}

export function noCounts(): Counts {
  return { openAllowed: 0, openDenied: 0, gateAllowed: 0, gateDenied: 0 };
}

/** Throws unless the answers are those of a right limiter: the quota exactly, no more and no less. */
export function prove({ openDenied, gateAllowed, gateDenied }: Counts): void {
  const gate = Math.min(GATE, gateAllowed + gateDenied);
  if (openDenied === 0 && gateAllowed === gate) return;
  throw new Error(`wrong answers: ${openDenied} denied of none, ${gateAllowed} allowed of ${gate}`);
}
