import { z } from 'zod';
import { decisionSchema, policyListSchema, policySchema } from '../wire/decision.js';
import { checkRequestSchema } from '../wire/request.js';
import { problemSchema } from './errors.js';

/** The document that fastify's plugin fills with the routes. */
export function describeApi(version: string) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version,
      description:
        'Rate-limit decisions. A denial is an answer: its status is 200 and `allowed` is false.',
    },
  };
}

const json = (schema: z.ZodType, io: 'input' | 'output') => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-7' });
  return rest;
};
const answer = (schema: z.ZodType, description: string) => ({
  description,
  ...json(schema, 'output'),
});

const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: json(problemSchema, 'output') } },
});
const problems = {
  400: problem('The request cannot be understood.'),
  404: problem('There is no such policy.'),
  503: problem('No decision could be made: the store cannot be used.'),
};
const decision = answer(decisionSchema, 'The decision.');
const params = (names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
});

/** Each route's part of the OpenAPI document, from the schemas that read and write it. */
export const routeSchemas = {
  check: {
    tags: ['checks'],
    summary: 'Ask whether a key may spend a cost under a policy, and charge it if so',
    operationId: 'check',
    querystring: {
      type: 'object',
      properties: {
        denyStatus: { type: 'string', enum: ['429'], description: 'status of a denial' },
      },
    },
    body: json(checkRequestSchema, 'input'),
    response: {
      200: decision,
      429: answer(decisionSchema, 'A denial, if denyStatus asked for it.'),
      ...problems,
      413: problem('The body is over 16 KiB.'),
      415: problem('The body is not said to be JSON.'),
    },
  },
  peek: {
    tags: ['checks'],
    summary: 'The decision for a cost of 0: always allowed, charges nothing, shows what remains',
    operationId: 'peek',
    params: params(['policy', 'key']),
    response: { 200: decision, ...problems },
  },
  listPolicies: {
    tags: ['policies'],
    summary: 'All policies',
    operationId: 'listPolicies',
    response: { 200: answer(policyListSchema, 'The policies, by name.') },
  },
  getPolicy: {
    tags: ['policies'],
    summary: 'One policy',
    operationId: 'getPolicy',
    params: params(['policy']),
    response: { 200: answer(policySchema, 'The policy.'), 404: problems[404] },
  },
};
