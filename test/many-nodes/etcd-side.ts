import type { HolderRecord, LeaseRecord, NodeRecord } from '../../ipkeeper-server/ipam/records/records.ts'
import { cutOff, mend } from '../rigs/cuts.ts'
import { etcdPorts, startEtcdMembers } from '../rigs/etcd-members.ts'
import type { LanHost } from '../rigs/lan.ts'
import type { TempFolder } from '../rigs/temp-folder.ts'
import { seenHolder, seenLease, type EngineServer, type EngineSide } from './engine-side.ts'
import type { Scope } from '../rigs/teardown.ts'

/** Where records are, as docs say: what is read here does not go through the daemon's own reading. */
const prefix = '/ipkeeper/v1/'

interface KeyValue {
  readonly key: string
  readonly value: string
}

export interface EtcdSide extends EngineSide {
  /** Writes a value past all daemons; undefined deletes it. `place` is a key below the prefix. */
  put(place: string, value: string | undefined): Promise<void>
  /** Deletes all records in one transaction: cluster and revisions go on. */
  deleteAll(): Promise<void>
  /** As others do that use the same etcd. */
  writeElsewhere(): Promise<void>
  /** What is written there; undefined: nothing. */
  get(place: string): Promise<string | undefined>
  /** Writes a snapshot to a file. */
  save(path: string): Promise<void>
  /** Takes all servers down, and starts them with the data of a snapshot, or with none; see EtcdMembers. */
  reset(snapshot: string | undefined, as?: string): Promise<void>
  healthy(): Promise<void>
  /** Its quota is used up, and it takes no further write; or no longer so. */
  outOfSpace(isOut: boolean): Promise<void>
  /** A server is removed for good, and an empty one takes its place. Does not wait for it. */
  replace(server: EngineServer): Promise<void>
  /** Which cluster it is, and how often it has changed. */
  mark(): Promise<{ readonly cluster: string; readonly revision: number }>
  /** What it has of each node, by its name. */
  nodes(): Promise<ReadonlyMap<string, NodeRecord>>
}

/** Starts one member of etcd on each machine. */
export async function startEtcdSide(
  t: Scope,
  hosts: readonly LanHost[],
  folder: TempFolder,
): Promise<EtcdSide> {
  const etcd = await startEtcdMembers(t, hosts, folder)
  const range = async (body: object): Promise<readonly KeyValue[]> =>
    ((await etcd.ask('/v3/kv/range', body)) as { kvs?: KeyValue[] }).kvs ?? []
  const records = async <Found>(kind: string): Promise<readonly Found[]> => {
    const from = `${prefix}${kind}/`
    const found = await range({ key: btoa(from), range_end: btoa(`${from.slice(0, -1)}0`) })
    return found.map(({ value }) => (JSON.parse(text(value)) as { record: Found }).record)
  }
  return {
    ledger: {
      store: `etcd:${etcd.members.map(({ url }) => url).join(',')}`,
      config: {},
      ports: [etcdPorts.client],
    },
    servers: etcd.members.map(member => ({
      name: member.host.name,
      kill: () => member.kill(),
      start: async () => {
        member.start()
        return Promise.resolve()
      },
      freeze: () => {
        member.freeze()
      },
      thaw: () => {
        member.thaw()
      },
      isolate: () => cutOff(member.host, [etcdPorts.peer], 'both'),
      join: () => mend(member.host),
    })),
    compact: () => etcd.compact(),
    save: path => etcd.save(path),
    reset: (snapshot, as) => etcd.reset(snapshot, as),
    healthy: () => etcd.healthy(),
    outOfSpace: async isOut => {
      const { header } = (await etcd.ask('/v3/kv/range', { key: btoa('/') })) as {
        readonly header: { readonly member_id: string }
      }
      const action = isOut ? 'ACTIVATE' : 'DEACTIVATE'
      await etcd.ask('/v3/maintenance/alarm', { action, memberID: header.member_id, alarm: 'NOSPACE' })
    },
    replace: async ({ name }) => {
      const member = etcd.members.find(({ host }) => host.name === name)
      if (member) await etcd.replace(member)
    },
    mark: async () => {
      const { header } = (await etcd.ask('/v3/kv/range', { key: btoa('/') })) as {
        readonly header: { readonly cluster_id: string; readonly revision: string }
      }
      return { cluster: header.cluster_id, revision: Number(header.revision) }
    },
    nodes: async () => new Map((await records<NodeRecord>('nodes')).map(node => [node.name, node])),
    read: async () => ({
      leases: (await records<LeaseRecord>('leases')).map(seenLease),
      holders: (await records<HolderRecord>('holders')).map(seenHolder),
    }),
    put: async (place, value) => {
      const key = btoa(prefix + place)
      if (value === undefined) await etcd.ask('/v3/kv/deleterange', { key })
      else await etcd.ask('/v3/kv/put', { key, value: Buffer.from(value).toString('base64') })
    },
    deleteAll: async () => {
      await etcd.ask('/v3/kv/deleterange', { key: btoa(prefix), range_end: btoa(`${prefix.slice(0, -1)}0`) })
    },
    writeElsewhere: async () => {
      await etcd.ask('/v3/kv/put', { key: btoa('/others/key'), value: '' })
    },
    get: async place => {
      const [found] = await range({ key: btoa(prefix + place) })
      return found && text(found.value)
    },
  }
}

const text = (base64: string): string => Buffer.from(base64, 'base64').toString()
