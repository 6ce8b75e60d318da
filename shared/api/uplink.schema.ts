import { Type, type Static } from 'typebox'
import { More } from './listing-query.schema.ts'

/** The bridges of mode underlay that got their uplink from the daemon, for operators. */

export const UplinkItem = Type.Object(
  {
    bridge: Type.String(),
    uplink: Type.String({ description: 'the link of the host that is a port of it' }),
    state: Type.Union([Type.Literal('joined'), Type.Literal('unfinished')], {
      description: 'unfinished: a change was broken off; the next ADD, or the next start, takes it back',
    }),
    since: Type.String({ format: 'date-time' }),
    made: Type.Boolean({ description: 'whether the bridge was made for it, and goes with it' }),
    addresses: Type.Array(Type.String(), {
      description: 'of the host, in CIDR notation: moved from the uplink to the bridge',
    }),
    routes: Type.Integer({ description: 'how many routes of the host moved with them' }),
    ports: Type.Array(Type.String(), { description: 'other ports of the bridge: pods' }),
  },
  { $id: 'UplinkItem' },
)
export type UplinkItem = Static<typeof UplinkItem>

export const UplinksReply = Type.Object(
  { uplinks: Type.Array(UplinkItem), more: More },
  { $id: 'UplinksReply' },
)
export type UplinksReply = Static<typeof UplinksReply>

export const RestoreUplinkReply = Type.Object(
  { restored: UplinkItem },
  { $id: 'RestoreUplinkReply', description: 'as it was before it was taken back' },
)
export type RestoreUplinkReply = Static<typeof RestoreUplinkReply>
