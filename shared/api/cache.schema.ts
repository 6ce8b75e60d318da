import { Type, type Static } from 'typebox'
import { cacheReasonNames } from '../cache-reasons.ts'

/** Bad files of result caches, for operators and ipkeeperctl. */

const nullable = <T extends ReturnType<typeof Type.String>>(type: T) => Type.Union([type, Type.Null()])

const kind = Type.Enum(['results', 'flannel', 'multus', 'hostLocal'], {
  description: 'what keeps it: libcni (results), flannel, multus or host-local',
})

const reason = Type.Enum(cacheReasonNames, { description: 'what is wrong with it' })

export const CacheFileItem = Type.Object(
  {
    path: Type.String({ description: 'absolute; bytes that are no UTF-8 are replaced' }),
    kind,
    reason,
    detail: Type.String(),
    network: nullable(Type.String({ description: 'as far as the file or its name tells' })),
    containerId: nullable(Type.String()),
    ifname: nullable(Type.String()),
    size: Type.Union([Type.Integer(), Type.Null()], { description: 'bytes' }),
    modifiedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    own: Type.Boolean({ description: 'whether it is of a network that uses ipkeeper' }),
    plan: Type.Enum(['rewrite', 'quarantine', 'report'], { description: 'what repairing does with it' }),
    because: Type.String({ description: 'why that' }),
  },
  { $id: 'CacheFileItem' },
)
export type CacheFileItem = Static<typeof CacheFileItem>

export const QuarantinedItem = Type.Object(
  {
    name: Type.String({ description: 'by which it is brought back' }),
    file: Type.String({ description: 'where it stands now' }),
    path: Type.String({ description: 'where it stood' }),
    kind,
    reason,
    detail: Type.String(),
    at: Type.String({ format: 'date-time' }),
    mode: Type.Integer({ description: 'permission bits' }),
    uid: Type.Integer(),
    gid: Type.Integer(),
    size: Type.Integer({ description: 'bytes' }),
  },
  { $id: 'QuarantinedItem' },
)
export type QuarantinedItem = Static<typeof QuarantinedItem>

export const CacheReply = Type.Object(
  {
    mode: Type.Enum(['repair', 'report', 'off']),
    stateDir: Type.String({ description: 'in which the quarantine is' }),
    folders: Type.Array(Type.Object({ kind, path: Type.String() }), {
      description: 'that are looked through',
    }),
    scannedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'when the last scan ended; null before the first one has',
    }),
    files: Type.Array(CacheFileItem, {
      description: 'bad files that are there, as the last scan found them',
    }),
    quarantined: Type.Array(QuarantinedItem, { description: 'files that were moved aside, oldest first' }),
  },
  { $id: 'CacheReply' },
)
export type CacheReply = Static<typeof CacheReply>

export const CachedResultReply = Type.Object(
  { text: Type.String({ description: 'the file as libcni would have written it' }) },
  { $id: 'CachedResultReply' },
)
export type CachedResultReply = Static<typeof CachedResultReply>
