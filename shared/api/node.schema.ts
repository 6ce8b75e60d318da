import { Type, type Static } from 'typebox'
import { More } from './listing-query.schema.ts'

/** What is known of nodes, and what an operator says of them. */

export const NodeItem = Type.Object(
  {
    name: Type.String(),
    here: Type.Boolean({ description: 'whether it is the node that answers' }),
    state: Type.Union(
      [
        Type.Literal('lives'),
        Type.Literal('silent'),
        Type.Literal('gone'),
        Type.Literal('out-of-service'),
        Type.Literal('waited-for'),
        Type.Literal('unknown'),
      ],
      {
        description:
          'lives: it renews its record. silent: it has stopped renewing its record. gone: declared gone for good, or the Kubernetes ' +
          "API has no such Node. out-of-service: by its taint. waited-for: after a loss of the store's records. unknown: not known.",
      },
    ),
    why: Type.String({ description: 'why that is said' }),
    lastContact: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description:
        'its last contact, by what it has written into the store; null: not known, such as nothing since this daemon started',
    }),
    leases: Type.Integer({ description: 'addresses that are bound there' }),
    version: Type.Union([Type.String(), Type.Null()], { description: 'of its daemon; null: not known' }),
    leader: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'whether its daemon is the elected one; null where none is elected',
    }),
    addresses: Type.Array(Type.String(), { description: 'by which other nodes reach it' }),
    claimedSince: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'since when its machine has this name, by its clock; null: not known',
    }),
  },
  { $id: 'NodeItem' },
)
export type NodeItem = Static<typeof NodeItem>

export const NodesReply = Type.Object({ nodes: Type.Array(NodeItem), more: More }, { $id: 'NodesReply' })
export type NodesReply = Static<typeof NodesReply>

export const ForgetNodeReply = Type.Object(
  {
    node: Type.String(),
    gone: Type.Object(
      {
        since: Type.String({ format: 'date-time' }),
        by: Type.String({ description: 'the node where it was said, or which was called so' }),
      },
      { description: 'since when it is not waited for' },
    ),
    changed: Type.Boolean({ description: 'false: that had been said before' }),
    asked: Type.Boolean({
      description:
        'whether the daemon that has claimed its name was asked first if it lives, and said nothing; false: its name is not claimed, or it was gone already',
    }),
    bound: Type.Integer({ description: 'addresses that are bound there' }),
    waitsFor: Type.Array(Type.String(), { description: 'nodes that are still waited for' }),
  },
  { $id: 'ForgetNodeReply' },
)
export type ForgetNodeReply = Static<typeof ForgetNodeReply>
