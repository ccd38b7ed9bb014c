import { spawn } from 'node:child_process';
import { z } from 'zod';
import { tempFile } from './files.js';
import { until } from './until.js';

/** The service as a user starts it, in a process of its own. */
export interface SluiceProcess {
  rest: string;
  grpc: string;
  admin: string;
  /** Everything printed so far, standard error included. */
  output(): string;
  signal(name: NodeJS.Signals): void;
  /** The exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>;
}

const listeningSchema = z.object({
  msg: z.literal('listening'),
  rest: z.string(),
  grpc: z.array(z.string()),
  admin: z.string(),
});

const FREE_PORTS = ['--http-port', '0', '--grpc-port', '0', '--admin-port', '0'];

/** How `sluice` is called, and where. */
export interface Place {
  command: readonly [program: string, ...args: string[]];
  cwd: string;
}

const CLONE: Place = { command: [process.execPath, 'src/sluice.mjs'], cwd: '.' };

/** Starts `sluice` with arguments, and gives what it prints and how it ends. */
export function run(
  args: readonly string[],
  environment: Record<string, string> = {},
  { command: [program, ...before], cwd } = CLONE,
) {
  const child = spawn(program, [...before, ...args], {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      output += data.toString();
    });
  }
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? -1));
  });
  return { output: () => output, ended, signal: (name: NodeJS.Signals) => child.kill(name) };
}

/** Starts the service on free ports and waits until it listens. */
export async function startSluice(
  args: readonly string[] = [],
  environment: Record<string, string> = {},
  place = CLONE,
): Promise<SluiceProcess> {
  const child = run(['serve', ...FREE_PORTS, ...args], environment, place);
  let over: number | NodeJS.Signals | undefined;
  child.ended.then((code) => {
    over = code;
  });
  const { rest, grpc, admin } = await until('sluice listens', () => {
    if (over !== undefined) throw new Error(`sluice ended with ${over}: ${child.output()}`);
    return child
      .output()
      .split('\n')
      .map(readListening)
      .find((line) => line !== undefined);
  });
  return { ...child, rest, grpc: grpc[0] ?? '', admin };
}

function readListening(line: string) {
  if (!line.includes('"listening"')) return undefined;
  return listeningSchema.safeParse(JSON.parse(line)).data;
}

/** Creates a policy file for the running test. */
export function policyFile(yaml: string): string {
  return tempFile('policies.yaml', yaml);
}

const answerSchema = z.looseObject({
  allowed: z.boolean().optional(),
  code: z.string().optional(),
  remaining: z.number().optional(),
  resetAfterMs: z.number().optional(),
  reason: z.string().optional(),
});

/** One check over REST: its status and its body. */
export async function check(rest: string, policy: string, key: string) {
  const response = await fetch(`${rest}/v1/check`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ policy, key }),
  });
  return { status: response.status, ...answerSchema.parse(await response.json()) };
}

/** The status of a page of the admin port. */
export async function statusOf(admin: string, path: string): Promise<number> {
  return (await fetch(`${admin}${path}`)).status;
}
