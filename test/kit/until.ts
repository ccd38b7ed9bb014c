import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits for something that happens elsewhere, such as in a Redis server, by asking again and again:
 * as long as it takes and no longer. Resolves to the first answer that is neither false nor
 * undefined.
 */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  options: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<Exclude<T, false | undefined>> {
  const { timeoutMs = 20_000, intervalMs = 10 } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (isAnswer(answer)) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
    await pause(intervalMs);
  }
}

function isAnswer<T>(answer: T): answer is Exclude<T, false | undefined> {
  return answer !== false && answer !== undefined;
}
