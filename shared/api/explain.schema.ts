import { Type, type Static } from 'typebox'
import { AddResult } from './cni.schema.ts'

/** `ipkeeperctl explain`: what an ADD of a pod would get now, and why. */

const StringMap = Type.Record(Type.String({ maxLength: 512 }), Type.String({ maxLength: 262_144 }))

export const ExplainRequest = Type.Object(
  {
    config: Type.Record(Type.String(), Type.Unknown(), {
      description: 'netconf of one plugin, as the runtime would hand it over',
    }),
    namespace: Type.String({ minLength: 1, maxLength: 63 }),
    name: Type.String({ minLength: 1, maxLength: 253 }),
    ifname: Type.Optional(Type.String({ minLength: 1, maxLength: 15 })),
    manifest: Type.Optional(
      Type.Object(
        {
          annotations: StringMap,
          owner: Type.Optional(
            Type.Object(
              {
                apiVersion: Type.String({ maxLength: 253 }),
                kind: Type.String({ minLength: 1, maxLength: 63 }),
                name: Type.String({ minLength: 1, maxLength: 253 }),
                ordinalsStart: Type.Optional(Type.Integer({ minimum: 0 })),
              },
              { additionalProperties: false },
            ),
          ),
          podsAtOnce: Type.Optional(
            Type.Object(
              {
                replicas: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
                surge: Type.Integer({
                  minimum: 0,
                  maximum: 1_000_000,
                  description: 'more, during a rollout',
                }),
              },
              { additionalProperties: false, description: 'how many such pods the workload has' },
            ),
          ),
        },
        {
          additionalProperties: false,
          description: 'of a pod that need not exist; without it the pod is looked up',
        },
      ),
    ),
  },
  { $id: 'ExplainRequest', additionalProperties: false },
)
export type ExplainRequest = Static<typeof ExplainRequest>

export const ExplainStep = Type.Object({
  about: Type.Union([
    Type.Literal('request'),
    Type.Literal('workload'),
    Type.Literal('pool'),
    Type.Literal('address'),
    Type.Literal('retention'),
    Type.Literal('sandbox'),
  ]),
  subject: Type.String({ description: 'pool, address, or who' }),
  verdict: Type.Union([Type.Literal('chosen'), Type.Literal('dropped'), Type.Literal('noted')]),
  text: Type.String(),
  code: Type.Optional(
    Type.String({ description: 'of a pool that was dropped: the error that an ADD from it alone would get' }),
  ),
})
export type ExplainStep = Static<typeof ExplainStep>

const ExplainedError = Type.Object({
  code: Type.String(),
  message: Type.String(),
  details: Type.String(),
  hint: Type.String(),
  retryable: Type.Boolean(),
  cniCode: Type.Integer(),
})

export const ExplainReply = Type.Object(
  {
    pod: Type.Object({
      namespace: Type.String(),
      name: Type.String(),
      uid: Type.Union([Type.String(), Type.Null()]),
    }),
    network: Type.String(),
    ifname: Type.String(),
    annotationsFrom: Type.Union(
      [Type.Literal('runtime'), Type.Literal('api'), Type.Literal('manifest'), Type.Literal('nobody')],
      { description: 'nobody: an ADD, or the daemon now, cannot know them; the steps say why' },
    ),
    steps: Type.Array(ExplainStep, { description: 'in the order in which they are decided' }),
    addresses: Type.Array(Type.String(), { description: 'what an ADD would give; empty when it would fail' }),
    result: Type.Union([AddResult, Type.Null()], {
      description: 'its whole answer, with gateways, routes and DNS, in the CNI version of the network',
    }),
    delegatedTo: Type.Union([Type.String(), Type.Null()]),
    error: Type.Union([ExplainedError, Type.Null()], { description: 'what an ADD would say instead' }),
  },
  { $id: 'ExplainReply' },
)
export type ExplainReply = Static<typeof ExplainReply>
