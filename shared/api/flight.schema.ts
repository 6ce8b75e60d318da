import { Type, type Static } from 'typebox'
import { More } from './listing-query.schema.ts'

/**
 * One run of the plugin as it is remembered: a line of the flight record, and an item of `ipkeeperctl flights`. What a
 * run did not have or did not get to know is absent. Texts that are too long are cut and end with "…".
 */
export const Flight = Type.Object(
  {
    at: Type.String({ description: 'when the run began, ISO 8601' }),
    verb: Type.String({ description: 'CNI_COMMAND as it was set' }),
    network: Type.Optional(Type.String()),
    containerId: Type.Optional(Type.String()),
    ifname: Type.Optional(Type.String()),
    netns: Type.Optional(Type.String()),
    pod: Type.Optional(Type.String({ description: 'NAMESPACE/NAME of CNI_ARGS' })),
    exit: Type.Union([Type.Literal(0), Type.Literal(1)]),
    code: Type.Optional(Type.String({ description: 'IPK_...' })),
    cniCode: Type.Optional(Type.Integer({ description: '"code" of the error object' })),
    message: Type.Optional(
      Type.String({
        description: '"msg" of the error object; why stdout took nothing, or the DEL is queued',
      }),
    ),
    printed: Type.Integer({ minimum: 0, description: 'bytes that stdout took; 0 when it did not take all' }),
    addresses: Type.Optional(Type.Array(Type.String(), { description: 'of the result of an ADD' })),
    delegatedTo: Type.Optional(
      Type.String({ description: 'the plugin of "ipam.fallback" that gave the addresses' }),
    ),
    queued: Type.Optional(Type.Literal(true, { description: 'a DEL that the daemon carries out later' })),
    durationMs: Type.Number({ description: 'from our first line of JavaScript to the end' }),
    requestId: Type.Optional(Type.String({ description: "on the lines of the daemon's log, as reqId" })),
    invocationId: Type.Optional(Type.String({ description: 'what the daemon knows the run by' })),
    pid: Type.Integer(),
    pluginVersion: Type.String(),
  },
  { $id: 'Flight' },
)
export type Flight = Static<typeof Flight>

/** What `ipkeeperctl flights -o json` prints; the newest is the last, unless they are sorted otherwise. */
export const FlightsReply = Type.Object({ flights: Type.Array(Flight), more: More }, { $id: 'FlightsReply' })
export type FlightsReply = Static<typeof FlightsReply>
