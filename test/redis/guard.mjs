// Ends servers whose owner is gone, however it went. The owner writes a line for each server: "+<pid>"
// once it runs, "-<pid>" once it has ended, "rm <folder>" for what to delete at the end.
// A process of its own, because a killed process cannot tidy up after itself.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const pids = new Set();
const folders = new Set();

createInterface({ input: process.stdin })
  .on('line', (line) => {
    if (line.startsWith('+')) pids.add(Number(line.slice(1)));
    else if (line.startsWith('-')) pids.delete(Number(line.slice(1)));
    else folders.add(line.slice('rm '.length));
  })
  .on('close', () => {
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone already.
      }
    }
    // A server that is being ended may still write a file or two.
    const options = { recursive: true, force: true, maxRetries: 5, retryDelay: 100 };
    for (const folder of folders) rmSync(folder, options);
  });
