import { createHash } from 'node:crypto';
import type { Check, Limit, Policy } from '../../domain.js';

/** An encoded key longer than this is cut and told apart by a digest. */
const MAX_ENCODED = 180;
const KEPT = 64;

/**
 * The caller's key as it stands in a state key. Percent-encoding leaves neither braces, which would
 * choose a Cluster slot, nor colons, which would make two keys one; it is readable and one to one.
 * `#` never comes out of it, so a shortened key is nobody's whole key.
 */
function encodeKey(key: string): string {
  const encoded = encodeURIComponent(key);
  if (encoded.length <= MAX_ENCODED) return encoded;
  const digest = createHash('sha256').update(key).digest('base64url');
  return `${encoded.slice(0, KEPT)}#${digest}`;
}

/** A check and where its state is: worked out once, when it comes. */
export interface Addressed {
  check: Check;
  /** Its state keys up to their limit ids. */
  stem: string;
  /** The Cluster slot of its state keys; 0 where there is no Cluster. */
  slot: number;
}

/** What all checks of one policy have in common in their state keys. */
export interface KeyTemplate {
  /** Up to the caller's key: `<prefix>:{<policy>:`. */
  head: string;
  /** Of each Limit. */
  limitIds: string[];
}

/** `<prefix>:{<policy>:<key>}:<limit id>`: all Limits of a Check in one slot. */
export function keyTemplate(prefix: string, policy: Policy): KeyTemplate {
  return {
    head: `${prefix}:{${encodeURIComponent(policy.name)}:`,
    limitIds: policy.limits.map(limitId),
  };
}

/** All of a state key but its limit id: `<prefix>:{<policy>:<key>}:`. */
export function stemOf({ head }: KeyTemplate, key: string): string {
  return `${head}${encodeKey(key)}}:`;
}

/** A Limit's name, its algorithm, and whatever else makes old state unreadable once it changes. */
function limitId({ name, algorithm, decider }: Limit): string {
  const parts = [name, algorithm, decider.stateTag].filter((part) => part !== '');
  return parts.map((part) => encodeURIComponent(part)).join(':');
}
