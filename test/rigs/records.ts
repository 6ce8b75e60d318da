import {
  leaseKey,
  type AttachmentKey,
  type AttachmentRecord,
  type Holder,
  type HolderRecord,
  type LeaseRecord,
  type NodeRecord,
  type PoolRecord,
  type ReservationRecord,
  type Write,
} from '../../ipkeeper-server/ipam/records/records.ts'

/** Pod shop/NAME on network "net", by its interface eth0. */
export const podHolder = (name: string): Holder => ({
  kind: 'pod',
  network: 'net',
  namespace: 'shop',
  name,
  ifname: 'eth0',
})

/** The attachment of a container to network "net". */
export const attachmentOf = (containerId = 'c1'): AttachmentKey => ({
  network: 'net',
  containerId,
  ifname: 'eth0',
})

/** Bound to pod shop/web-0, which asked for the address and keeps it for a second. */
export function lease(address: string, generation = 1, patch: Partial<LeaseRecord> = {}): LeaseRecord {
  return {
    segment: 'default',
    address,
    generation,
    state: 'bound',
    pool: 'net',
    network: 'net',
    rangeSet: 0,
    prefixLength: 24,
    gateway: '10.0.0.1',
    holder: podHolder('web-0'),
    podUid: 'u1',
    attachment: attachmentOf(),
    node: 'n1',
    named: true,
    source: 'annotation ipkeeper.io/ip',
    retain: { milliseconds: 1000 },
    mac: null,
    since: 1,
    until: null,
    ...patch,
  }
}

export function putLease(record: LeaseRecord, expect: number | null): Write {
  return { kind: 'lease', key: leaseKey(record), expect, record }
}

/** Of pod shop/web-0, without addresses. */
export const holderRecord = (patch: Partial<HolderRecord> = {}): HolderRecord => ({
  generation: 1,
  holder: podHolder('web-0'),
  attachment: attachmentOf(),
  leases: [],
  ...patch,
})

/** Of pod shop/web-0 on node n1, whose answer has arrived, and whose run and namespace nothing is known of. */
export const attachmentRecord = (patch: Partial<AttachmentRecord> = {}): AttachmentRecord => ({
  ...attachmentOf(),
  ...{ generation: 1, answered: 1, holder: podHolder('web-0'), podUid: 'u1', node: 'n1', bootId: 'boot-1' },
  ...{ netns: '/run/netns/c1', netnsInode: null, invocationId: null, startedAt: null, since: 1 },
  undo: { leases: [], attachment: null },
  ...patch,
})

export const nodeRecord = (name: string, patch: Partial<NodeRecord> = {}): NodeRecord => ({
  ...{ generation: 1, name, addresses: [], since: 0 },
  ...patch,
})

/** The same as an engine has it. */
export const nodeText = (name: string, patch: Partial<NodeRecord> = {}): string =>
  JSON.stringify(nodeRecord(name, patch))

export const poolRecord = (name: string, patch: Partial<PoolRecord> = {}): PoolRecord => ({
  ...{ generation: 1, name, segment: 'default', ranges: [] },
  ...patch,
})

/** For pod shop/NAME. */
export const reservationRecord = (
  address: string,
  name: string,
  patch: Partial<ReservationRecord> = {},
): ReservationRecord => ({
  ...{ generation: 1, segment: 'default', address, namespace: 'shop', name, note: '', since: 0 },
  ...patch,
})
