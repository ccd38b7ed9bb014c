import { isUtf8 } from 'node:buffer';
import type { ServiceDefinition } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import type { BadRequest } from '../check.js';

/** What the proto decoder gives: fields that were not sent are absent. */
export interface Message {
  kind: 'message';
  fields: Record<string, unknown>;
}

const VARINT = 0;
const TEXT = 2;

/** The fields of all requests, which number them alike, and how the wire has them. */
const FIELDS = new Map([
  [1, { name: 'policy', wire: TEXT }],
  [2, { name: 'key', wire: TEXT }],
  [3, { name: 'cost', wire: VARINT }],
  [4, { name: 'checkId', wire: TEXT }],
]);

/**
 * The same service, which reads requests without a throw: grpc-js would answer one with INTERNAL,
 * and nobody would count it.
 */
export function readingSafely(service: ServiceDefinition): ServiceDefinition {
  const methods = Object.entries(service).map(([name, method]) => {
    const requestDeserialize = (bytes: Buffer): Message | BadRequest => {
      try {
        return refuse(bytes) ?? { kind: 'message', fields: method.requestDeserialize(bytes) };
      } catch {
        return badRequest('', 'wanted a message as in the proto');
      }
    };
    return [name, { ...method, requestDeserialize }] as const;
  });
  return Object.fromEntries(methods);
}

/**
 * What protobufjs lets pass: it makes every wrong byte of a text the same character, and different
 * keys one; it takes a text that ends too early, and a field of another type. Throws at the latter.
 */
function refuse(bytes: Buffer): BadRequest | undefined {
  const reader = protobuf.Reader.create(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    const wire = tag & 7;
    const field = FIELDS.get(tag >>> 3);
    if (field !== undefined && field.wire !== wire) throw new Error(`${field.name}: wrong type`);
    if (field?.wire !== TEXT) reader.skipType(wire);
    else if (!isUtf8(reader.bytes())) return badRequest(field.name, 'wanted UTF-8');
  }
  return undefined;
}

function badRequest(field: string, message: string): BadRequest {
  return { kind: 'bad-request', violations: [{ field, message }] };
}
