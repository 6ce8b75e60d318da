import { Type, type Static } from 'typebox'
import { CniRequest } from './cni.schema.ts'

/**
 * One DEL that the plugin could not hand to the daemon, as a file of the queue folder. The plugin writes it whole
 * (temporary name, fsync, rename, fsync of the folder); the daemon carries it out and removes it.
 */
export const DeferredDel = Type.Object(
  {
    version: Type.Literal(1),
    queuedAt: Type.String({ description: 'ISO 8601; for people and for the alarm by age' }),
    request: CniRequest,
  },
  { $id: 'DeferredDel', additionalProperties: false },
)
export type DeferredDel = Static<typeof DeferredDel>
