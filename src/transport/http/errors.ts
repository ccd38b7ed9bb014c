import { z } from 'zod';
import type { BadRequest, Failure, UnknownPolicy } from '../../domain.js';
import { badRequestText, ERROR_NAMES, failureText, unknownPolicyText } from '../../errors.js';

/** An error as RFC 9457 wants it, `application/problem+json`. */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  reason: z.string().describe('for programs; the same as ErrorInfo.reason over gRPC'),
  code: z.literal('UNKNOWN').optional().describe('no decision could be made'),
  violations: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  near: z.array(z.string()).optional().describe('names of policies that look like the one given'),
});
export type Problem = z.output<typeof problemSchema>;

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export function problem(status: number, reason: string, title: string, detail: string): Problem {
  const type = `urn:sluice:problem:${reason.toLowerCase().replaceAll('_', '-')}`;
  return { type, title, status, detail, reason };
}

/** Why there is no decision. */
export function problemOf(answer: BadRequest | UnknownPolicy | Failure): Problem {
  switch (answer.kind) {
    case 'bad-request': {
      const { violations } = answer;
      return {
        ...problem(400, ERROR_NAMES.badRequest, 'Bad request', badRequestText(answer)),
        violations,
      };
    }
    case 'unknown-policy': {
      const { near } = answer;
      return {
        ...problem(404, ERROR_NAMES.unknownPolicy, 'Unknown policy', unknownPolicyText(answer)),
        near,
      };
    }
    case 'failure': {
      const { reason, text } = failureText(answer);
      return { ...problem(503, reason, 'No decision', text), code: 'UNKNOWN' };
    }
  }
}
