import { setTimeout as delay } from 'node:timers/promises'
import type { ForgetNodeReply } from '../../../shared/api/node.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { withoutReturn } from '../../ipam/records/node-record.ts'
import type { Change, NodeRecord } from '../../ipam/records/records.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { LeaseService } from './service.ts'

/** Milliseconds that a node which lives has to contradict. It hears of it within one; its engine may elect a leader meanwhile. */
const contradictWithin = 5_000
const lookEvery = 100
/** So many names are told to whoever misspelt one. */
const mostNamed = 20

type Gone = NonNullable<NodeRecord['gone']>

/**
 * An operator says of another node that it is gone for good: nobody waits for it any more, and what its sandboxes had goes to
 * their next pods, as from a node that the Kubernetes API says is lost. A node that lives takes it back at once (NameClaims).
 *
 * @param patience milliseconds that it has for that
 * @throws IPK_NODE_UNKNOWN, IPK_NODE_LIVES; what the store says, such as IPK_STORE_AWAY
 */
export async function forgetNode(
  service: Pick<LeaseService, 'ledger' | 'node' | 'now'>,
  name: string,
  patience = contradictWithin,
): Promise<ForgetNodeReply> {
  const { ledger, node: here, now } = service
  if (name === here)
    throw new Problem('IPK_NODE_LIVES', `${name} is this very node, and its daemon runs`, {
      hint: 'when it is gone for good, say so on another node',
    })
  if (!ledger.isShared || !ledger.keeps('node'))
    throw new Problem('IPK_NODE_UNKNOWN', `this store knows of no other node than ${here}`, {
      details: ledger.storeStatus()?.lacks ?? '',
    })
  const plan = (): { readonly gone: Gone; readonly wrote: number; readonly change: Change } => {
    const record = ledger.node(name)
    if (record?.gone) return { gone: record.gone, wrote: record.generation, change: [] }
    // A node of old has no record, and addresses all the same; one that the engine has lost is waited for.
    const isKnown = record !== undefined || ledger.boundOn(name) > 0 || awaited(service).includes(name)
    if (!isKnown) throw unknown(service, name)
    const gone = { since: now(), by: here }
    const wrote = (record?.generation ?? 0) + 1
    const next = withoutReturn(record ?? { name, generation: 0, addresses: [], since: now() }, gone)
    const write = { kind: 'node', key: name, expect: record?.generation ?? null } as const
    return { gone, wrote, change: [{ ...write, record: { ...next, generation: wrote } }] }
  }
  const { gone, wrote, change } = await commitPlan(ledger, plan)
  if (change.length > 0) await expectSilence(service, name, wrote, patience)
  return {
    node: name,
    gone: { since: new Date(gone.since).toISOString(), by: gone.by },
    changed: change.length > 0,
    bound: ledger.boundOn(name),
    waitsFor: [...awaited(service)],
  }
}

const awaited = ({ ledger }: Pick<LeaseService, 'ledger'>): readonly string[] =>
  ledger.storeStatus()?.waitsFor ?? []

/** Resolves when nobody has contradicted in time. */
async function expectSilence(
  { ledger }: Pick<LeaseService, 'ledger'>,
  name: string,
  wrote: number,
  patience: number,
): Promise<void> {
  const end = performance.now() + patience
  while (performance.now() < end && ledger.node(name)?.gone !== undefined)
    await delay(Math.min(lookEvery, patience))
  const present = await ledger.readNode(name)
  if (present?.gone) return
  // Custom resources of another version leave out what they do not know.
  if (present?.generation === wrote)
    throw new Problem('IPK_STORE_FAILED', `the store does not keep it that node ${name} is gone`, {
      hint: 'bring the custom resources up to date: kubectl apply -k deploy/crds',
    })
  throw new Problem('IPK_NODE_LIVES', `node ${name} lives: its daemon took that back`)
}

function unknown({ ledger, node: here }: Pick<LeaseService, 'ledger' | 'node'>, name: string): Problem {
  // It may be one that has not been heard of yet.
  ledger.expectHeard()
  const told = Array.from(ledger.nodes(), ({ name: known }) => known)
  const names = [...new Set([...told, ...ledger.nodesInUse(), ...awaited({ ledger })])]
    .filter(known => known !== here && !ledger.node(known)?.gone)
    .sort()
  const some = names.slice(0, mostNamed).join(', ')
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : ''
  return new Problem(
    'IPK_NODE_UNKNOWN',
    `no node ${name} is known; ${names.length === 0 ? 'there is no other' : `there are, beside this one: ${some}${more}`}`,
  )
}
