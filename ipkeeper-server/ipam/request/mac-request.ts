import type { AddRequest } from './add-request.ts'
import type { MacRequest } from './request.ts'

/**
 * The MAC that an ADD asks for. In the main role an annotation goes before CNI's own channels; under a parent plugin those
 * go before it, as they are what the parent obeys.
 */
export function requestedMac({
  pod,
  main,
  cniMac,
}: Pick<AddRequest, 'pod' | 'main' | 'cniMac'>): MacRequest | undefined {
  const annotated =
    pod.mac === undefined
      ? undefined
      : { mac: pod.mac, source: pod.macSource ?? 'annotation ipkeeper.io/mac' }
  return main ? (annotated ?? cniMac) : (cniMac ?? annotated)
}
