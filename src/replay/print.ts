import type { Policy } from '../domain.js';
import type { Skipped } from './read-log.js';
import type { Report } from './report.js';
import { drawTimeline } from './timeline.js';

export interface PolicyReport {
  policy: Policy;
  report: Report;
}

/** Returns the reports as text for a terminal. */
export function printReports(reports: readonly PolicyReport[], skipped: Skipped): string {
  const sections = reports.map(({ policy, report }) => [
    headingOf(policy),
    ...linesOf(report).map((line) => `  ${line}`.trimEnd()),
  ]);
  const lines = [...sections, skippedLines(skipped)].filter(({ length }) => length > 0);
  return lines.map((section) => `${section.join('\n')}\n`).join('\n');
}

/** Returns the reports as one line of JSON. */
export function printJson(reports: readonly PolicyReport[], skipped: Skipped): string {
  const policies = Object.fromEntries(
    reports.map(({ policy, report }) => {
      const { checks, allowed, denied, keys, keysDenied, codes, topDenied } = report;
      return [policy.name, { checks, allowed, denied, keys, keysDenied, codes, topDenied }];
    }),
  );
  return `${escapeUnprintable(JSON.stringify({ policies, skippedLines: skipped.count }))}\n`;
}

function headingOf({ name, description }: Policy): string {
  if (description === undefined) return name;
  return `${name}: ${escapeUnprintable(description.trim().replace(/\s+/g, ' '))}`;
}

function linesOf(report: Report): string[] {
  const { checks, allowed, denied, keys, keysDenied, topDenied, timeline } = report;
  const rows: [string, number, string][] = [
    ['checks', checks, ''],
    ['allowed', allowed, percent(allowed, checks)],
    ['denied', denied, percent(denied, checks)],
    ['keys', keys, ''],
    ['keys denied', keysDenied, percent(keysDenied, keys)],
  ];
  const width = String(Math.max(checks, keys)).length;
  const figures = rows.map(
    ([name, count, share]) => `${name.padEnd(12)}${String(count).padStart(width)}  ${share}`,
  );
  const codes = Object.entries(report.codes).map(([code, count]) => `${code} ${count}`);
  figures.push(`codes       ${codes.join(', ')}`);
  if (checks === 0) return figures;
  return [
    ...figures,
    ...(topDenied.length > 0 ? ['', 'denied  key', ...topDenied.map(deniedRow)] : []),
    '',
    ...drawTimeline(timeline),
  ];
}

/** The key is the last column, because nobody knows how wide a terminal draws it. */
function deniedRow({ key, denied }: { key: string; denied: number }): string {
  return `${String(denied).padStart(6)}  ${shorten(escapeUnprintable(key))}`;
}

function skippedLines({ count, first }: Skipped): string[] {
  if (count === 0) return [];
  const numbers = `${first.join(', ')}${count > first.length ? ', ...' : ''}`;
  const lines = count === 1 ? `1 line (number ${numbers})` : `${count} lines (numbers ${numbers})`;
  return [`skipped ${lines}: not in the common or combined log format, or without a usable key`];
}

/** One decimal. A part above 0 is never shown as 0.0%, and a part below the whole never as 100.0%. */
function percent(part: number, whole: number): string {
  if (whole === 0) return '';
  const tenths = Math.round((part / whole) * 1000);
  if (tenths === 0 && part > 0) return '<0.1%';
  if (tenths === 1000 && part < whole) return '>99.9%';
  return `${(tenths / 10).toFixed(1)}%`;
}

const MAX_SHOWN = 100;

function shorten(text: string): string {
  const characters = [...text];
  return characters.length <= MAX_SHOWN ? text : `${characters.slice(0, MAX_SHOWN).join('')}...`;
}

/**
 * Clients choose the keys. Characters that control a terminal, reverse its writing direction or are
 * invisible become JSON escapes, so the JSON output still has the same keys.
 */
function escapeUnprintable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
