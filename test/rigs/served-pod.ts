import { serveEcho, type Place } from './echo.ts'
import { addressOf, type WiredNode, type WiredPod } from './wired-node.ts'

export interface ServedPod extends Place {
  readonly name: string
  readonly pod: WiredPod
  readonly addresses: Readonly<Record<4 | 6, string>>
}

/** A pod that answers whoever asks. */
export async function servedPod(node: WiredNode, name: string): Promise<ServedPod> {
  const pod = await node.pod({ name })
  const result = await pod.add()
  const place = { host: node.host, namespace: pod.namespace }
  await serveEcho(place, name)
  return { ...place, name, pod, addresses: { 4: addressOf(result, 4), 6: addressOf(result, 6) } }
}
