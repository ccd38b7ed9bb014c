import { Metadata, status } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import type { BadRequest, Failure, UnknownPolicy } from '../../domain.js';
import {
  badRequestText,
  ERROR_NAMES,
  failureText,
  INTERNAL_TEXT,
  unknownPolicyText,
} from '../../errors.js';

/** An error with google.rpc.Status in its trailers: every one carries an ErrorInfo. */
export interface GrpcError {
  code: status;
  details: string;
  metadata: Metadata;
}

// The few messages of google/rpc/status.proto and error_details.proto that are used here.
const { root } = protobuf.parse(`
  syntax = "proto3";
  package google.rpc;
  message Any { string type_url = 1; bytes value = 2; }
  message Status { int32 code = 1; string message = 2; repeated Any details = 3; }
  message ErrorInfo { string reason = 1; string domain = 2; map<string, string> metadata = 3; }
  message FieldViolation { string field = 1; string description = 2; }
  message BadRequest { repeated FieldViolation field_violations = 1; }
  message ResourceInfo {
    string resource_type = 1; string resource_name = 2; string owner = 3; string description = 4;
  }
`);

function encode(type: string, message: object): Uint8Array {
  const lookup = root.lookupType(`google.rpc.${type}`);
  return lookup.encode(lookup.create(message)).finish();
}

function any(type: string, message: object) {
  return { typeUrl: `type.googleapis.com/google.rpc.${type}`, value: encode(type, message) };
}

function grpcError(
  code: status,
  details: string,
  info: { reason: string; metadata?: Record<string, string> },
  more: ReturnType<typeof any>[] = [],
): GrpcError {
  const infos = [any('ErrorInfo', { domain: 'sluice', ...info }), ...more];
  const metadata = new Metadata();
  metadata.set(
    'grpc-status-details-bin',
    Buffer.from(encode('Status', { code, message: details, details: infos })),
  );
  return { code, details, metadata };
}

/** Why there is no decision. */
export function statusOf(answer: BadRequest | UnknownPolicy | Failure): GrpcError {
  switch (answer.kind) {
    case 'bad-request': {
      const fieldViolations = answer.violations.map(({ field, message }) => ({
        field,
        description: message,
      }));
      const info = { reason: ERROR_NAMES.badRequest };
      return grpcError(status.INVALID_ARGUMENT, badRequestText(answer), info, [
        any('BadRequest', { fieldViolations }),
      ]);
    }
    case 'unknown-policy': {
      const description = unknownPolicyText(answer);
      return grpcError(status.NOT_FOUND, description, { reason: ERROR_NAMES.unknownPolicy }, [
        any('ResourceInfo', { resourceType: 'policy', resourceName: answer.policy, description }),
      ]);
    }
    case 'failure': {
      const { reason, text } = failureText(answer);
      return grpcError(status.UNAVAILABLE, text, { reason, metadata: { code: 'UNKNOWN' } });
    }
  }
}

export function internalStatus(): GrpcError {
  return grpcError(status.INTERNAL, INTERNAL_TEXT, { reason: ERROR_NAMES.internal });
}
