import { describeAttachmentItem, describeFlight } from './describe-record.ts'
import { lastOutcome } from './last-outcome.ts'
import { oursIn } from './networks.ts'
import type { NodeView } from './probe-node.ts'
import { SocketRuntimes } from '../../runtime/socket-runtimes.ts'
import type { ExplainReply } from '../../../shared/api/explain.schema.ts'
import type { Flight } from '../../../shared/api/flight.schema.ts'
import type { AttachmentsReply, LeasesReply, ReservationsReply } from '../../../shared/api/listing.schema.ts'

export interface PodSection {
  readonly title: string
  readonly lines: readonly string[]
}

export interface PodReport {
  readonly pod: string
  /** Whether anybody but the API has heard of it. */
  readonly known: boolean
  readonly sections: readonly PodSection[]
}

interface Podlike {
  readonly pod: { readonly namespace: string; readonly name: string } | null
}

const mostFlights = 8

type Look = (node: NodeView, namespace: string, name: string) => Promise<readonly string[]>

const isOf =
  (namespace: string, name: string) =>
  ({ pod }: Podlike): boolean =>
    pod?.namespace === namespace && pod.name === name

const leases: Look = async (node, namespace, name) =>
  ((await node.ask('/v1/leases')) as LeasesReply).leases
    .filter(isOf(namespace, name))
    .map(
      ({ address, prefixLength, state, source, retain, since, until, pool, node: on }) =>
        `${address}/${prefixLength} ${state} since ${since}${until === null ? '' : ` until ${until}`}, on node ${on}, from pool ${pool}, by ${source}, retention ${retain}`,
    )

const attachments: Look = async (node, namespace, name) => {
  const here = (await node.status())?.node
  return ((await node.ask('/v1/attachments')) as AttachmentsReply).attachments
    .filter(isOf(namespace, name))
    .map(item => describeAttachmentItem(item, here))
}

const reservations: Look = async (node, namespace, name) =>
  ((await node.ask('/v1/reservations')) as ReservationsReply).reservations
    .filter(({ owner }) => owner === `${namespace}/${name}`)
    .map(({ address, note }) => `${address} is reserved${note === '' ? '' : ` (${note})`}`)

const runsOf = (node: NodeView, namespace: string, name: string): readonly Flight[] =>
  node.flights().filter(({ pod }) => pod === `${namespace}/${name}`)

const outcome: Look = async (node, namespace, name) =>
  await lastOutcome(node, { namespace, name }, runsOf(node, namespace, name))

const flights: Look = (node, namespace, name) =>
  Promise.resolve(
    runsOf(node, namespace, name)
      .slice(-mostFlights)
      .map(flight => `${describeFlight(flight)} (sandbox ${(flight.containerId ?? '-').slice(0, 13)})`),
  )

const sandboxes: Look = async (_node, namespace, name) => {
  const runtimes = new SocketRuntimes(undefined)
  try {
    const answers = await runtimes.list()
    if (answers.length === 0) return ['neither containerd nor CRI-O has a socket here']
    const told = await Promise.all(
      answers.map(async answer => {
        if (answer.state === 'failed') return [`${answer.socket} does not answer: ${answer.reason}`]
        const own = answer.sandboxes.filter(box => box.namespace === namespace && box.name === name)
        return await Promise.all(
          own.map(async ({ id, ready, uid, createdAt }) => {
            const addresses = await runtimes.addressesOf(answer.socket, id).catch(() => [])
            return `sandbox ${id} (UID ${uid}) ${ready ? 'is running' : 'is not running'}, created at ${new Date(createdAt).toISOString()}, has ${addresses.join(', ') || 'no address'}`
          }),
        )
      }),
    )
    return told.flat()
  } finally {
    runtimes.close()
  }
}

/** Also what the API says of the pod: an ADD is explained with its annotations. */
const nextAdd: Look = async (node, namespace, name) => {
  const [file] = node.networks.filter(candidate => oursIn(candidate))
  const plugin = file && oursIn(file)?.plugin
  if (!plugin) return [`no configuration in ${node.confDir} uses ipkeeper`]
  const reply = (await node.ask('/v1/explain', { config: plugin, namespace, name })) as ExplainReply
  return [
    nextAddLine(reply),
    ...reply.steps.filter(isUnheard).map(({ subject, text }) => `${subject}: ${text}`),
  ]
}

/** What the pod asks for in vain. */
const isUnheard = ({ about, verdict }: ExplainReply['steps'][number]): boolean =>
  about === 'request' && verdict === 'dropped'

function nextAddLine({ error, delegatedTo, addresses, network }: ExplainReply): string {
  if (error) return `would fail: ${error.message} [${error.code}]`
  if (delegatedTo !== null) return `would be delegated to ${delegatedTo}`
  return `would give ${addresses.join(', ')} in network ${network}`
}

const looks: readonly (readonly [title: string, look: Look, evidence: boolean])[] = [
  ['what happened last', outcome, false],
  ['leases', leases, true],
  ['sandboxes that the daemon knows', attachments, true],
  ['sandboxes of the runtime', sandboxes, false],
  ['reservations', reservations, true],
  ['runs of the plugin', flights, true],
  ['its next ADD', nextAdd, false],
]

/** Milliseconds that one look may take. */
const patience = 5000

/** Everything that this node and its daemon know of a pod. Never rejects. */
export async function describePod(node: NodeView, namespace: string, name: string): Promise<PodReport> {
  const seen = await Promise.all(
    looks.map(async ([title, look, evidence]) => {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          reject(new Error(`no answer within ${patience / 1000} s`))
        }, patience)
      })
      try {
        const lines = await Promise.race([look(node, namespace, name), late])
        return { title, lines: lines.length === 0 ? ['none'] : lines, known: evidence && lines.length > 0 }
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        return { title, lines: [`not known: ${why}`], known: false }
      } finally {
        clearTimeout(timer)
      }
    }),
  )
  return {
    pod: `${namespace}/${name}`,
    known: seen.some(({ known }) => known),
    sections: seen.map(({ title, lines }) => ({ title, lines })),
  }
}
