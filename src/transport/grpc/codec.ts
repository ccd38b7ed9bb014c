import { isUtf8 } from 'node:buffer';
import type { ServiceDefinition } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import type { BadRequest } from '../../domain.js';

/** The fields that were sent; not yet known to be right. */
export interface Message {
  kind: 'message';
  fields: Record<string, unknown>;
}

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
    const { requestType = '', responseType = '' } = types.methods[name] ?? {};
    const known = fieldsOf(types.lookupType(requestType));
    const response = types.lookupType(responseType);
    const requestDeserialize = (bytes: Buffer) => readRequest(bytes, known);
    const responseSerialize = (message: object): Buffer => {
      const { buffer, byteOffset, length } = response.encode(message).finish();
      return Buffer.from(buffer, byteOffset, length);
    };
    return [name, { ...method, requestDeserialize, responseSerialize }] as const;
  });
  return Object.fromEntries(methods);
}

const VARINT = 0;
const TEXT = 2;

/** The fields of a request by number. They are texts and integers, and nothing else. */
type Fields = ReadonlyMap<number, { name: string; wire: typeof VARINT | typeof TEXT }>;

function fieldsOf(request: protobuf.Type): Fields {
  const wireOf = (type: string) => (type === 'string' ? TEXT : VARINT);
  return new Map(
    request.fieldsArray.map(({ id, name, type }) => [id, { name, wire: wireOf(type) }]),
  );
}

function readRequest(bytes: Buffer, known: Fields): Message | BadRequest {
  try {
    return readFields(bytes, known);
  } catch {
    return badRequest('', 'wanted a message as in the proto');
  }
}

/**
 * Stricter than the decoder of protobufjs, which makes every wrong byte of a text the same
 * character, and different keys one; which takes a text that ends too early, and a field of another
 * type. Throws at the latter.
 */
function readFields(bytes: Buffer, known: Fields): Message | BadRequest {
  const fields: Message['fields'] = {};
  const reader = protobuf.Reader.create(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    const wire = tag & 7;
    const field = known.get(tag >>> 3);
    if (field === undefined) {
      reader.skipType(wire);
      continue;
    }
    const { name } = field;
    if (wire !== field.wire) throw new Error(`${name}: wrong type`);
    if (wire === TEXT) {
      const text = reader.bytes();
      if (!isUtf8(text)) return badRequest(name, 'wanted UTF-8');
      fields[name] = Buffer.from(text.buffer, text.byteOffset, text.length).toString();
    } else {
      // 2^53 and above become numbers that are refused, however they round.
      fields[name] = Number(String(reader.int64()));
    }
  }
  return { kind: 'message', fields };
}

function badRequest(field: string, message: string): BadRequest {
  return { kind: 'bad-request', violations: [{ field, message }] };
}
