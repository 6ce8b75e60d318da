import type { NodeItem, NodesReply } from '../../../shared/api/node.schema.ts'
import type { ListingQuery, nodeTerms } from '../../../shared/api/listing-query.schema.ts'
import type { NodeRecord } from '../../ipam/records/records.ts'
import { formatTime } from '../../ipam/records/times.ts'
import type { LeaseService } from '../verbs/service.ts'
import { readFilter } from './listing-filter.ts'
import { cut, type Sorts } from './select-listed.ts'

/** What there is to say of nodes beside the ledger. */
export interface NodeFigures {
  /** Of this daemon. */
  readonly version: string
  /** The node whose daemon does what one does for all; undefined: nobody at present. Absent where nobody is elected. */
  readonly leader?: (() => string | undefined) | undefined
}

type NodeSort = (typeof nodeTerms.sorts)[number]

/** Milliseconds after which a node that promises nothing is not said to live any more, because it was heard of. */
const heardLately = 60_000

const stateOrder: readonly NodeItem['state'][] = [
  'lives',
  'unknown',
  'waited-for',
  'silent',
  'out-of-service',
  'gone',
]

const sorts: Sorts<NodeItem, NodeSort> = {
  name: 'as they are',
  leases: ({ leases }) => -leases,
  // The one that was heard of longest ago comes first.
  contact: ({ lastContact }) => lastContact,
  state: ({ state }) => stateOrder.indexOf(state),
}

/** All nodes that the store knows of, by name. Reads what this daemon has heard; asks nobody. */
export function selectNodes(
  service: LeaseService,
  figures: NodeFigures,
  { sort = 'name', limit, ...filters }: ListingQuery<NodeSort>,
): NodesReply {
  const isAsked = readFilter(filters)
  const found = listNodes(service, figures).filter(({ name }) => isAsked({ node: name }))
  const { shown, rest } = cut(found, sorts, sort, limit)
  return { nodes: [...shown], ...rest }
}

export function listNodes(service: LeaseService, { version, leader }: NodeFigures): readonly NodeItem[] {
  const { ledger, node: here } = service
  const records = new Map(Array.from(ledger.nodes(), record => [record.name, record]))
  const names = new Set([here, ...records.keys(), ...ledger.nodesInUse(), ...awaited(service)])
  const leads = leader?.()
  return [...names].sort().map(name => {
    const record = records.get(name)
    const isHere = name === here
    const age = isHere ? 0 : ageOf(service, name)
    return {
      ...{ name, here: isHere, ...judgeNode(service, name) },
      lastContact: age === undefined ? null : new Date(service.now() - age).toISOString(),
      leases: boundOn(service, name),
      version: isHere ? version : (record?.version ?? null),
      leader: leader ? name === leads : null,
      addresses: [...(record?.addresses ?? [])],
      claimedSince: record?.claim ? new Date(record.claim.since).toISOString() : null,
    }
  })
}

const awaited = ({ ledger }: Pick<LeaseService, 'ledger'>): readonly string[] =>
  ledger.storeStatus()?.waitsFor ?? []

/** The shorter of the two is no less true. */
function ageOf({ contactAgeOf, lastHeardOf }: LeaseService, name: string): number | undefined {
  const contact = contactAgeOf?.(name)
  const ages = [contact && 'age' in contact ? contact.age : undefined, lastHeardOf?.(name)]
  const known = ages.filter(age => age !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

function boundOn({ ledger, node }: LeaseService, name: string): number {
  if (ledger.isShared) return ledger.boundOn(name)
  let bound = 0
  if (name === node) for (const { state } of ledger.leaseOutlines()) if (state === 'bound') bound++
  return bound
}

/** How it stands with a node, by what is known here, and why that is said. */
export function judgeNode(service: LeaseService, name: string): Pick<NodeItem, 'state' | 'why'> {
  if (name === service.node) return { state: 'lives', why: 'this node' }
  const record = service.ledger.node(name)
  if (record?.gone) {
    const { since, by } = record.gone
    return { state: 'gone', why: `declared gone for good on node ${by} at ${formatTime(since)}` }
  }
  const lost = service.lostNode?.(name)
  if (lost === 'gone') return { state: 'gone', why: 'the Kubernetes API has no Node of this name' }
  if (lost === 'out-of-service')
    return { state: 'out-of-service', why: 'its Node is tainted node.kubernetes.io/out-of-service' }
  const { ledger } = service
  if (awaited(service).includes(name))
    return { state: 'waited-for', why: 'it has not reported to the store what is in use there' }
  if (ledger.storeStatus()?.state === 'away')
    return { state: 'unknown', why: 'this daemon cannot reach the store' }
  return judgeByContact(service, name, record)
}

function judgeByContact(
  service: LeaseService,
  name: string,
  record: NodeRecord | undefined,
): Pick<NodeItem, 'state' | 'why'> {
  const contact = service.contactAgeOf?.(name)
  const isCounted = contact && 'age' in contact
  const age = ageOf(service, name)
  if (isCounted && record?.stopsAfter !== undefined)
    return contact.age < record.stopsAfter
      ? { state: 'lives', why: 'it renews its record in the store' }
      : { state: 'silent', why: 'it has stopped renewing its record in the store' }
  if (age !== undefined && age < heardLately) return { state: 'lives', why: 'it has written into the store' }
  return { state: 'unknown', why: 'it writes into the store only when something changes there' }
}
