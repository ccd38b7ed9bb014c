/** Allowed and denied checks over time. Column `i` starts at `start + i * step`. */
export interface Timeline {
  /** Microseconds. */
  start: number;
  step: number;
  allowed: number[];
  denied: number[];
}

/** A row of 56 columns with its labels fits a terminal of 80 columns. */
const MAX_COLUMNS = 56;
const SECOND = 1_000_000;
const DAY = 86_400 * SECOND;
/** Round lengths of a column: 1 s to 30 s, 1 min to 30 min, 1 h to 12 h. Beyond, whole days. */
const STEPS = [
  ...[1, 2, 3, 5, 10, 15, 20, 30],
  ...[60, 120, 180, 300, 600, 900, 1200, 1800],
  ...[3600, 7200, 10_800, 14_400, 21_600, 43_200],
].map((seconds) => seconds * SECOND);

/** Creates an empty timeline from `first` to `last`. Its columns start at multiples of the step. */
export function createTimeline(first: number, last: number): Timeline {
  const columnsOf = (step: number): number =>
    Math.floor(last / step) - Math.floor(first / step) + 1;
  let step = STEPS.find((candidate) => columnsOf(candidate) <= MAX_COLUMNS) ?? DAY;
  while (columnsOf(step) > MAX_COLUMNS) step += DAY;
  const zeros = (): number[] => Array<number>(columnsOf(step)).fill(0);
  return { start: Math.floor(first / step) * step, step, allowed: zeros(), denied: zeros() };
}

/** Adds one check at `time` to a row. */
export function countAt(timeline: Timeline, row: 'allowed' | 'denied', time: number): void {
  const column = Math.floor((time - timeline.start) / timeline.step);
  timeline[row][column] = (timeline[row][column] ?? 0) + 1;
}

const BLOCKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/**
 * Returns the lines of a drawing. Both rows have the same scale, so that their heights can be
 * compared, and a count above 0 is never drawn as a blank.
 */
export function drawTimeline({ start, step, allowed, denied }: Timeline): string[] {
  const peak = Math.max(1, ...allowed, ...denied);
  const row = (counts: readonly number[]): string => {
    const blocks = counts.map(
      (count) => BLOCKS[Math.ceil((count / peak) * BLOCKS.length) - 1] ?? ' ',
    );
    return `${blocks.join('')}  peak ${Math.max(...counts)}`;
  };
  const end = formatTime(start + step * allowed.length);
  return [
    `timeline, ${formatStep(step)} per column`,
    `allowed ${row(allowed)}`,
    `denied  ${row(denied)}`,
    `        ${`${formatTime(start)} `.padEnd(allowed.length - end.length)}${end}`,
  ];
}

function formatTime(time: number): string {
  return `${new Date(time / 1000).toISOString().slice(0, 19)}Z`;
}

function formatStep(step: number): string {
  const seconds = step / SECOND;
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${seconds / 60}m`;
  return seconds < 86_400 ? `${seconds / 3600}h` : `${seconds / 86_400}d`;
}
