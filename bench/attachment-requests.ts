import { readFileSync } from 'node:fs'
import type { CniRequest } from '../shared/api/cni.schema.ts'
import type { KeepAliveClient } from './keep-alive-client.ts'
import { freshPod } from './workload.ts'

const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()

/** The bodies by which one sandbox comes and goes. */
export interface AttachmentRequests {
  readonly add: string
  readonly del: string
}

/** What the plugin would send for a fresh pod. Made beforehand: encoding is not the daemon's time. */
export function freshAttachment(config: object): AttachmentRequests {
  const body = (): string =>
    JSON.stringify({
      invocationId: crypto.randomUUID(),
      startedAt: Number(process.hrtime.bigint() / 1000n),
      bootId,
      ...pod,
      path: '/opt/cni/bin',
      config: config as Record<string, unknown>,
    } satisfies CniRequest)
  const pod = freshPod()
  return { add: body(), del: body() }
}

export interface PairTimes {
  readonly addMs: number
  readonly delMs: number
}

/** ADD and DEL of a fresh pod, one after the other. */
export async function runPair(client: KeepAliveClient, config: object): Promise<PairTimes> {
  const { add, del } = freshAttachment(config)
  const begun = performance.now()
  await client.post('/v1/cni/add', add)
  const added = performance.now()
  await client.post('/v1/cni/del', del)
  return { addMs: added - begun, delMs: performance.now() - added }
}
