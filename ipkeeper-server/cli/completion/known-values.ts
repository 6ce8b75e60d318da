import type {
  AttachmentsReply,
  LeasesReply,
  PoolsReply,
  ReservationsReply,
} from '../../../shared/api/listing.schema.ts'
import type { NodesReply } from '../../../shared/api/node.schema.ts'
import type { UplinksReply } from '../../../shared/api/uplink.schema.ts'
import type { KnownValue } from '../framework/command.ts'
import type { DaemonClient } from '../framework/daemon-client.ts'
import { whoHas } from '../framework/terminal-text.ts'
import type { CompletionCandidate } from './complete-words.ts'

/** Milliseconds: somebody waits with a finger on the key. */
const patience = 500

/** Nobody chooses from more, and the daemon should not list a full pool for every TAB. */
const mostLeases = 2_000

type Ask = (path: string) => Promise<unknown>

async function leases(ask: Ask): Promise<LeasesReply['leases']> {
  return ((await ask(`/v1/leases?limit=${mostLeases}`)) as LeasesReply).leases
}

async function reservations(ask: Ask): Promise<readonly CompletionCandidate[]> {
  const reply = (await ask('/v1/reservations')) as ReservationsReply
  return reply.reservations.map(({ address, owner }) => ({ value: address, text: `reserved for ${owner}` }))
}

const leaseCandidates = (items: LeasesReply['leases']): readonly CompletionCandidate[] =>
  items.map(lease => ({ value: lease.address, text: `${lease.state}, ${whoHas(lease)}` }))

const podCandidates = (items: LeasesReply['leases']): readonly CompletionCandidate[] =>
  items.flatMap(({ pod, address }) =>
    pod === null ? [] : [{ value: `${pod.namespace}/${pod.name}`, text: address }],
  )

/** What the daemon is asked for each, and how it reads. */
const sources: Readonly<Record<KnownValue, (ask: Ask) => Promise<readonly CompletionCandidate[]>>> = {
  'any address': async ask => [...leaseCandidates(await leases(ask)), ...(await reservations(ask))],
  'address or pod': async ask => {
    const items = await leases(ask)
    return [...leaseCandidates(items), ...(await reservations(ask)), ...podCandidates(items)]
  },
  'kept address': async ask => leaseCandidates((await leases(ask)).filter(({ state }) => state !== 'bound')),
  'reserved address': reservations,
  pool: async ask =>
    ((await ask('/v1/pools')) as PoolsReply).pools.map(({ name, families }) => ({
      value: name,
      text: families.map(({ family, free, capacity }) => `${family}: ${free} of ${capacity} free`).join(', '),
    })),
  segment: async ask =>
    ((await ask('/v1/pools')) as PoolsReply).pools.map(({ segment }) => ({ value: segment, text: '' })),
  pod: async ask => podCandidates(await leases(ask)),
  namespace: async ask =>
    (await leases(ask)).flatMap(({ pod }) => (pod === null ? [] : [{ value: pod.namespace, text: '' }])),
  node: async ask => (await leases(ask)).map(({ node }) => ({ value: node, text: '' })),
  owner: async ask =>
    (await leases(ask)).flatMap(({ owner }) => {
      const [kind = '', name = ''] = owner?.split(' ') ?? []
      const [namespace = '', last = ''] = name.split('/')
      return owner === null ? [] : [{ value: `${namespace}/${kind.toLowerCase()}/${last}`, text: owner }]
    }),
  container: async ask =>
    ((await ask('/v1/attachments')) as AttachmentsReply).attachments.map(item => ({
      value: item.containerId,
      text: whoHas(item),
    })),
  network: async ask =>
    ((await ask('/v1/attachments')) as AttachmentsReply).attachments.map(({ network }) => ({
      value: network,
      text: '',
    })),
  bridge: async ask =>
    ((await ask('/v1/uplinks')) as UplinksReply).uplinks.map(({ bridge, uplink }) => ({
      value: bridge,
      text: `of ${uplink}`,
    })),
  'lost node': async ask =>
    ((await ask('/v1/nodes')) as NodesReply).nodes
      .filter(({ here, state }) => !here && state !== 'lives' && state !== 'gone')
      .map(({ name, why }) => ({ value: name, text: why })),
}

/** What the daemon knows of a kind, each once; nothing when it is away, or does not answer at once. */
export async function askKnownValues(
  daemon: DaemonClient,
  kind: KnownValue,
): Promise<readonly CompletionCandidate[]> {
  const deadline = new Promise<never>((_, reject) => {
    setTimeout(() => {
      reject(new Error('too late'))
    }, patience).unref()
  })
  try {
    const found = await Promise.race([
      sources[kind](path => daemon.ask('GET', path, undefined, patience)),
      deadline,
    ])
    return [...new Map(found.map(candidate => [candidate.value, candidate])).values()]
  } catch {
    return []
  }
}
