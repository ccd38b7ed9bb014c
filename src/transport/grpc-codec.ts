import { isUtf8 } from 'node:buffer';
import type { ServiceDefinition } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import type { BadRequest } from '../check.js';

/** The fields that were sent; not yet known to be right. */
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
 * The same service, as `types` has it from the same proto, with messages that are read and written
 * here. proto-loader throws at wrong bytes, which grpc-js would answer with INTERNAL and nobody
 * would count, and copies an answer field by field before it writes it.
 */
export function withOwnCodec(
  service: ServiceDefinition,
  types: protobuf.Service,
): ServiceDefinition {
  const methods = Object.entries(service).map(([name, method]) => {
    const response = types.lookupType(types.methods[name]?.responseType ?? '');
    const responseSerialize = (message: object): Buffer => {
      const { buffer, byteOffset, length } = response.encode(message).finish();
      return Buffer.from(buffer, byteOffset, length);
    };
    return [name, { ...method, requestDeserialize: readRequest, responseSerialize }] as const;
  });
  return Object.fromEntries(methods);
}

function readRequest(bytes: Buffer): Message | BadRequest {
  try {
    return readFields(bytes);
  } catch {
    return badRequest('', 'wanted a message as in the proto');
  }
}

/**
 * Stricter than the decoder of protobufjs, which makes every wrong byte of a text the same
 * character, and different keys one; which takes a text that ends too early, and a field of another
 * type. Throws at the latter.
 */
function readFields(bytes: Buffer): Message | BadRequest {
  const fields: Message['fields'] = {};
  const reader = protobuf.Reader.create(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    const wire = tag & 7;
    const field = FIELDS.get(tag >>> 3);
    if (field === undefined) {
      reader.skipType(wire);
      continue;
    }
    if (field.wire !== wire) throw new Error(`${field.name}: wrong type`);
    if (wire === VARINT) {
      // 2^53 and above become numbers that are refused, however they round.
      fields[field.name] = Number(String(reader.int64()));
      continue;
    }
    const text = reader.bytes();
    if (!isUtf8(text)) return badRequest(field.name, 'wanted UTF-8');
    fields[field.name] = Buffer.from(text.buffer, text.byteOffset, text.length).toString();
  }
  return { kind: 'message', fields };
}

function badRequest(field: string, message: string): BadRequest {
  return { kind: 'bad-request', violations: [{ field, message }] };
}
