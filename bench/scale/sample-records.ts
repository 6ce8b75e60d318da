import { formatAddress } from '../../shared/net/address.ts'
import {
  holderKey,
  leaseKey,
  type HolderRecord,
  type LeaseRecord,
} from '../../ipkeeper-server/ipam/records/records.ts'
import type { SharedKind } from '../../ipkeeper-server/store/shared/engine.ts'

/** A record as an engine keeps it. */
export interface SampleRecord {
  readonly kind: SharedKind
  readonly key: string
  readonly text: string
}

/** Where the pods of a sample are. */
export interface SamplePlace {
  readonly network: string
  readonly pool: string
  /** First address of the subnet, without what is given: network and gateway are passed over. */
  readonly base: bigint
  readonly prefixLength: number
  readonly node: (pod: number) => string
}

const hex = (pod: number): string => pod.toString(16).padStart(64, '0')
const uid = (pod: number): string => `00000000-0000-4000-8000-${pod.toString(16).padStart(12, '0')}`

/** What ADDs of so many pods of a StatefulSet leave in the engine: a lease and a holder for each, as the daemon writes them. */
export function* sampleRecords(
  { network, pool, base, prefixLength, node }: SamplePlace,
  pods: number,
): Generator<SampleRecord, undefined> {
  const since = Date.parse('2026-01-01T00:00:00Z')
  for (let pod = 0; pod < pods; pod++) {
    const address = formatAddress({ family: 4, value: base + 2n + BigInt(pod) })
    const namespace = `team-${pod % 50}`
    const name = `web-${pod}`
    const holder = { kind: 'pod', network, namespace, name, ifname: 'eth0' } as const
    const attachment = { network, containerId: hex(pod), ifname: 'eth0' }
    const lease: LeaseRecord = {
      ...{ segment: 'default', address, generation: 1, state: 'bound', pool, network, rangeSet: 0 },
      ...{ prefixLength, gateway: formatAddress({ family: 4, value: base + 1n }), holder },
      podUid: uid(pod),
      workload: { namespace, kind: 'StatefulSet', name: 'web', apiVersion: 'apps/v1', uid: uid(pod) },
      ...{ attachment, node: node(pod), named: false, source: 'dynamic', retain: 'release', mac: null },
      ...{ since: since + pod, until: null },
    }
    const record: HolderRecord = {
      ...{ holder, attachment, generation: 1 },
      sandbox: { node: node(pod), podUid: uid(pod), since: since + pod },
      leases: [{ segment: 'default', address }],
    }
    yield { kind: 'lease', key: leaseKey(lease), text: JSON.stringify(lease) }
    yield { kind: 'holder', key: holderKey(holder), text: JSON.stringify(record) }
  }
}
