import { z } from 'zod';
import type { Failure, UnknownPolicy } from '../check.js';
import {
  type BadRequest,
  badRequestText,
  failureText,
  REASONS,
  unknownPolicyText,
} from './wire.js';

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

export function badRequestProblem(request: BadRequest): Problem {
  const { violations } = request;
  const detail = badRequestText(request);
  return { ...problem(400, REASONS.badRequest, 'Bad request', detail), violations };
}

export function unknownPolicyProblem(unknown: UnknownPolicy): Problem {
  const detail = unknownPolicyText(unknown);
  const { near } = unknown;
  return { ...problem(404, REASONS.unknownPolicy, 'Unknown policy', detail), near };
}

export function failureProblem(failure: Failure): Problem {
  const { reason, text } = failureText(failure);
  return { ...problem(503, reason, 'No decision', text), code: 'UNKNOWN' };
}
