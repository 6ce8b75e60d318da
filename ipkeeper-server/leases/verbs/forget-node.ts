import { setTimeout as delay } from 'node:timers/promises'
import type { ForgetNodeReply } from '../../../shared/api/node.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { withoutReturn } from '../../ipam/records/node-record.ts'
import type { NodeRecord } from '../../ipam/records/records.ts'
import { writeNode } from '../ledger/write-node.ts'
import {
  askClaimant,
  challengeOf,
  notKept,
  takeBackQuestion,
  usualAnswerWithin,
  type AskOptions,
} from './ask-claimant.ts'
import type { LeaseService } from './service.ts'

const lookEvery = 100
/** So many names are told to whoever misspelt one. */
const mostNamed = 20

type Service = Pick<LeaseService, 'ledger' | 'node' | 'bootId' | 'now'>

/**
 * An operator says of another node that it is gone for good: nobody waits for it any more, and what its sandboxes had goes to
 * their next pods, as from a node that the Kubernetes API says is lost. Whoever has claimed its name is asked first whether it
 * lives; where nobody has, a node that lives takes it back at once (NameClaims).
 *
 * @throws IPK_NODE_UNKNOWN, IPK_NODE_LIVES; IPK_INTERRUPTED; what the store says, such as IPK_STORE_AWAY
 */
export async function forgetNode(
  service: Service,
  name: string,
  { answerWithin = usualAnswerWithin, signal }: Partial<AskOptions> = {},
): Promise<ForgetNodeReply> {
  const { ledger, node: here, now } = service
  if (name === here)
    throw new Problem('IPK_NODE_LIVES', `${name} is this very node, and its daemon runs`, {
      hint: 'if it is gone for good, run this command on another node',
    })
  if (!ledger.isShared || !ledger.keeps('node'))
    throw new Problem('IPK_NODE_UNKNOWN', `this store knows of no other node than ${here}`, {
      details: ledger.storeStatus()?.lacks ?? '',
    })
  const challenge = challengeOf(service)
  try {
    for (;;) {
      const record = await askClaimant(ledger, name, challenge, { answerWithin, signal })
      if (record?.gone) return reply(service, name, record.gone, { changed: false, asked: false })
      // A node of old has no record, and addresses all the same; one that the engine has lost is waited for.
      const isKnown = record !== undefined || ledger.boundOn(name) > 0 || awaited(service).includes(name)
      if (!isKnown) throw unknown(service, name)
      const gone = { since: now(), by: here }
      const next = withoutReturn(record ?? { name, generation: 0, addresses: [], since: now() }, gone)
      if (!(await writeNode(ledger, name, record, next))) continue
      const asked = record?.claim !== undefined
      await expectSilence(service, name, (record?.generation ?? 0) + 1, asked ? 0 : answerWithin)
      return reply(service, name, gone, { changed: true, asked })
    }
  } finally {
    await takeBackQuestion(service, name, challenge)
  }
}

function reply(
  service: Service,
  node: string,
  { since, by }: NonNullable<NodeRecord['gone']>,
  outcome: Pick<ForgetNodeReply, 'changed' | 'asked'>,
): ForgetNodeReply {
  return {
    ...{ node, ...outcome },
    gone: { since: new Date(since).toISOString(), by },
    bound: service.ledger.boundOn(node),
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
  if (present?.generation === wrote) throw notKept(`it that node ${name} is gone`)
  throw new Problem('IPK_NODE_LIVES', `node ${name} is running: its daemon revoked the declaration`)
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
