import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { question, type Workload } from './workload.js';

export interface Load {
  perSecond: number;
  /** Microseconds. */
  p50: number;
  p99: number;
  p999: number;
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-wrk-'));
const DISTINCT = 20_000;

/** Runs wrk against a REST server: each connection asks again as soon as it has its answer. */
export async function runWrk(
  port: number,
  workload: Workload,
  run: string,
  connections: number,
  seconds: number,
): Promise<Load> {
  const bodies = Array.from({ length: DISTINCT }, (_, i) =>
    JSON.stringify(question(workload, run, i)),
  );
  const script = join(folder, 'wrk.lua');
  writeFileSync(join(folder, 'bodies.txt'), bodies.join('\n'));
  writeFileSync(
    script,
    `local requests, n = {}, 0
function init()
  for body in io.lines('${join(folder, 'bodies.txt')}') do
    requests[#requests + 1] = wrk.format('POST', '/v1/check', { ['content-type'] = 'application/json' }, body)
  end
end
function request()
  n = n % #requests + 1
  return requests[n]
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('RESULT %d %d %d %d %d %d\\n', summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
`,
  );
  const args = [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '-s',
    script,
    `http://127.0.0.1:${port}`,
  ];
  const { stdout } = await promisify(execFile)('wrk', args);
  const [requests = 0, duration = 0, p50 = 0, p99 = 0, p999 = 0, errors = 0] =
    /RESULT (.*)/.exec(stdout)?.[1]?.split(' ').map(Number) ?? [];
  if (errors > 0 || requests === 0) throw new Error(`wrk had ${errors} errors: ${stdout}`);
  return { perSecond: requests / (duration / 1e6), p50, p99, p999 };
}
