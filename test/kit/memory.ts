import { vi } from 'vitest';
import { createMemoryStore, type MemoryStore } from '../../src/store/memory/memory.js';

/**
 * A memory store that nothing sweeps. The sweep looks at the clock of the test once a second of real
 * time; what it takes away is over, but a test that goes back in time afterwards would miss it.
 */
export function createUnsweptMemoryStore(clock: () => number, maxKeys = 1_000_000): MemoryStore {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const store = createMemoryStore({ clock, maxKeys });
  vi.useRealTimers();
  return store;
}
