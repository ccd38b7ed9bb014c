import { orNear } from './diagnostics/near.js';
import type { BadRequest, Failure, UnknownPolicy } from './domain.js';

/** Programs tell errors apart by these; the same on every transport. */
export const ERROR_NAMES = {
  badRequest: 'BAD_REQUEST',
  unknownPolicy: 'POLICY_NOT_FOUND',
  internal: 'INTERNAL',
} as const;

export const INTERNAL_TEXT = 'a fault of Sluice; it is in the log';

export function badRequestText({ violations }: BadRequest): string {
  return violations
    .map(({ field, message }) => (field === '' ? message : `${field}: ${message}`))
    .join('; ');
}

export function unknownPolicyText({ policy, near }: UnknownPolicy): string {
  return `there is no policy ${JSON.stringify(policy)}${orNear(near)}`;
}

/** What a caller may know of a failure; its cause stays in the log. */
export function failureText({ reason }: Failure): { reason: string; text: string } {
  return reason === 'timeout'
    ? {
        reason: 'STORE_TIMEOUT',
        text: 'the store did not answer in time; the check may have been charged',
      }
    : {
        reason: 'STORE_UNAVAILABLE',
        text: 'the store cannot be used now; no decision could be made',
      };
}
