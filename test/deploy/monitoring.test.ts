import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { grpcCaller, post, type Service, startService } from '../kit/service.js';
import { until } from '../kit/until.js';
import { freePort } from '../redis/ports.js';
import { has, itWith, run } from './tools.js';

const DASHBOARD = 'deploy/grafana/sluice.json';
const CONFIG = 'deploy/compose/prometheus.yml';
const YAML = 'policies: { p: { limits: [{ algorithm: fixed-period, quota: 2, period: 1m }] } }';

/** Labels that Prometheus itself sets. */
const TARGET_LABELS = ['instance', 'job'];
const NOT_METRICS = /^(?:sum|min|max|count|avg|rate|by|le|histogram_quantile)$/;

const query = z.object({ expr: z.string() });
const dashboard = z
  .object({
    title: z.string(),
    panels: z.array(
      z.looseObject({
        id: z.number(),
        title: z.string(),
        gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
        targets: z.array(query).min(1),
      }),
    ),
    templating: z.object({
      list: z.array(
        z.looseObject({ name: z.string(), type: z.string(), definition: z.string().optional() }),
      ),
    }),
  })
  .parse(JSON.parse(readFileSync(DASHBOARD, 'utf8')));
const expressions = dashboard.panels.flatMap(({ title, targets }) =>
  targets.map(({ expr }) => ({ title, expr })),
);

let sluice: Service | undefined;

beforeAll(async () => {
  sluice = await startService({ yaml: YAML });
});
afterAll(() => sluice?.close());

/** What a Sluice exports: the labels of every series, by its name. */
async function exported(): Promise<Map<string, Set<string>>> {
  const text = await (await fetch(`${sluice?.admin}/metrics`)).text();
  const found = new Map<string, Set<string>>();
  for (const match of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const labels = found.get(match[1] ?? '') ?? new Set(TARGET_LABELS);
    for (const label of (match[2] ?? '').matchAll(/(\w+)="/g)) labels.add(label[1] ?? '');
    found.set(match[1] ?? '', labels);
  }
  return found;
}

describe('the dashboard', () => {
  it('asks only for metrics and labels that Sluice exports', async () => {
    const series = await exported();
    for (const { expr } of expressions) {
      const names = (
        expr.replace(/\{.*?\}|\[.*?\]|by \(.*?\)/g, '').match(/[a-z_]{3,}\w*/g) ?? []
      ).filter((name) => !NOT_METRICS.test(name));
      expect(names.length, expr).toBeGreaterThan(0);
      for (const name of names) {
        expect([...series.keys()], expr).toContain(name);
        const selected = [...expr.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map((match) => match[1] ?? '');
        const grouped = /by \((.*?)\)/.exec(expr)?.[1]?.split(', ') ?? [];
        for (const label of [...selected, ...grouped]) {
          expect([...(series.get(name) ?? [])], `${label} in ${expr}`).toContain(label);
        }
      }
    }
    for (const { definition } of dashboard.templating.list) {
      const [, name = '', label] = /^label_values\((\w+), (\w+)\)$/.exec(definition ?? '') ?? [];
      if (definition !== undefined) expect([...(series.get(name) ?? [])]).toContain(label);
    }
  });

  it('uses only variables that it has, and puts no panel over another', () => {
    const known = new Set(dashboard.templating.list.map(({ name }) => name));
    for (const match of JSON.stringify(dashboard).matchAll(/\$\{?([a-z]\w*)/g)) {
      expect(known).toContain(match[1]);
    }
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });

  it('shows everything that an operator of Sluice asks first', () => {
    const all = expressions.map(({ expr }) => expr).join('\n');
    for (const part of [
      'sum by (policy, code) (rate(sluice_decisions_total',
      'histogram_quantile(0.5, sum by (le, transport) (rate(sluice_check_duration_seconds_bucket',
      'histogram_quantile(0.99, sum by (le, transport) (rate(sluice_check_duration_seconds_bucket',
      'sluice_store_duration_seconds_bucket',
      'sum by (reason) (rate(sluice_store_errors_total',
      ...['sluice_store_up', 'sluice_memory_keys', 'sluice_memory_evictions_total'],
    ]) {
      expect(all).toContain(part);
    }
  });
});

describe('Prometheus', () => {
  itWith('promtool', has('promtool'), 'takes the configuration', async () => {
    const { code, stdout, stderr } = await run(['promtool', 'check', 'config', CONFIG]);
    expect(code, stdout + stderr).toBe(0);
  });

  itWith(
    'Prometheus',
    has('prometheus'),
    'scrapes Sluice and answers every query of the dashboard',
    async () => {
      if (sluice === undefined) throw new Error('no service');
      const prometheus = await startPrometheus(new URL(sluice.admin).host);
      const caller = grpcCaller(sluice.grpc);
      try {
        const unanswered = new Map(expressions.map(({ title, expr }) => [expr, title]));
        await until(
          'every query has an answer',
          async () => {
            // Rates want counters that move.
            await post(sluice ?? never(), { policy: 'p', key: 'k' });
            await caller.call('Check', { policy: 'p', key: 'k' });
            for (const [expr] of unanswered) {
              const text = expr
                .replaceAll('$__rate_interval', '10s')
                .replaceAll(/"\$(?:instance|policy)"/g, '".*"');
              if (await prometheus.answers(text)) unanswered.delete(expr);
            }
            return unanswered.size === 0;
          },
          { intervalMs: 250 },
        );
      } finally {
        caller.close();
        prometheus.stop();
      }
    },
  );
});

/** A Prometheus with our configuration, but for how it finds its target and how often it asks. */
async function startPrometheus(target: string) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-prometheus-'));
  const config = z
    .looseObject({
      global: z.looseObject({}),
      scrape_configs: z.array(z.looseObject({ job_name: z.string() })),
    })
    .parse(parse(readFileSync(CONFIG, 'utf8')));
  const file = join(folder, 'prometheus.yml');
  writeFileSync(
    file,
    stringify({
      ...config,
      global: { ...config.global, scrape_interval: '1s' },
      scrape_configs: config.scrape_configs.map(({ dns_sd_configs: _, ...rest }) => ({
        ...rest,
        static_configs: [{ targets: [target] }],
      })),
    }),
  );
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const flags = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child: ChildProcess = spawn('prometheus', flags, { stdio: 'ignore' });
  await until(
    'Prometheus is ready',
    async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok,
  );
  const answer = z.object({
    status: z.literal('success'),
    data: z.object({ result: z.array(z.unknown()) }),
  });
  return {
    /** Whether a query has a result. Throws if Prometheus refuses it. */
    async answers(text: string): Promise<boolean> {
      const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(text)}`);
      return answer.parse(await response.json()).data.result.length > 0;
    },
    stop() {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function never(): never {
  throw new Error('no service');
}
