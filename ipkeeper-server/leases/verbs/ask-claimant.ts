import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Problem } from '../../../shared/problem/problem.ts'
import { describeClaim, nextStep, withChallenge, withoutChallenge } from '../../ipam/records/node-record.ts'
import type { NodeChallenge, NodeRecord } from '../../ipam/records/records.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { amendNode, writeNode } from '../ledger/write-node.ts'
import type { LeaseService } from './service.ts'

/** Milliseconds between two looks whether it has answered. */
const lookEvery = 250

/** Milliseconds that an operator's question waits for its answer: a daemon with many leases takes some seconds to start. */
export const usualAnswerWithin = 15_000

export type AskingNode = Pick<LeaseService, 'ledger' | 'node' | 'bootId' | 'now'>

export interface AskOptions {
  /** Milliseconds that the claimant has to answer. It hears of it within one; its engine may elect a leader meanwhile. */
  readonly answerWithin: number
  /** Nobody waits for the outcome any more. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Asks the claimant of a node's name whether it lives, by the challenge that every daemon answers (tasks/name-claims.ts). Resolves
 * to the record as it is after that time of silence, or at once where there is nobody to ask: it has no claim, or is gone.
 *
 * @throws IPK_NODE_LIVES; IPK_INTERRUPTED; IPK_STORE_FAILED where the store does not keep the question; what the store says, such
 * as IPK_STORE_AWAY
 */
export async function askClaimant(
  ledger: Ledger,
  name: string,
  challenge: NodeChallenge,
  { answerWithin, signal }: AskOptions,
): Promise<NodeRecord | undefined> {
  const pause = Math.min(lookEvery, answerWithin)
  /** The generation of the record that has the question. */
  let asked: number | undefined
  /** What has been waited for, for how many milliseconds, and when that was looked at last. */
  let waited: { readonly what: string; readonly for: number; readonly at: number } | undefined
  for (;;) {
    if (signal?.aborted === true)
      throw new Problem('IPK_INTERRUPTED', `interrupted: nothing was declared about node ${name}`)
    const record = await ledger.readNode(name)
    if (!record?.claim || record.gone) return record
    const step = nextStep(record, challenge, asked)
    if (step.kind === 'refused') throw lives(name, record)
    const at = performance.now()
    const what = `${step.kind} ${record.challenge?.session ?? ''}`
    // Time in which this daemon or the store stood still proves nothing.
    const passed = waited?.what === what ? waited.for + Math.min(at - waited.at, 2 * pause) : 0
    const isWaiting = step.kind === 'wait' || step.kind === 'queue'
    const isOver = passed >= answerWithin * (step.kind === 'queue' ? 2 : 1)
    // What the store last said is not what it has while it is away: then the question is put anew, or fails with the reason.
    const isAway = ledger.storeStatus()?.state === 'away'
    if (isWaiting && !isOver && !isAway) {
      waited = { what, for: passed, at }
      await delay(pause)
    } else if (step.kind === 'wait' && !isAway) return record
    else {
      if (step.kind === 'challenge' && record.generation === asked)
        throw notKept(`the question whether node ${name} is running`)
      waited = undefined
      if (await writeNode(ledger, name, record, withChallenge(record, challenge)))
        asked = record.generation + 1
    }
  }
}

/** Another one each time: an answer to it is no older than the question. */
export function challengeOf({ ledger, node, bootId, now }: AskingNode): NodeChallenge {
  const session = randomBytes(8).toString('hex')
  const id = ledger.node(node)?.claim?.id ?? session
  return { id, session, bootId, since: now(), askedOn: node }
}

/** A question that stays after all, because the store has gone away, does no harm: whoever has the name answers it. */
export async function takeBackQuestion(
  { ledger }: Pick<AskingNode, 'ledger'>,
  name: string,
  challenge: NodeChallenge,
): Promise<void> {
  await amendNode(ledger, name, record => withoutChallenge(record, challenge)).catch(() => undefined)
}

function lives(name: string, { claim, addresses }: NodeRecord): Problem {
  const who = claim ? describeClaim(claim) : ''
  const where = addresses.length === 0 ? '' : `, at ${addresses.join(' and ')}`
  return new Problem('IPK_NODE_LIVES', `node ${name} is running: its daemon answered (${who}${where})`)
}

/** Custom resources of another version leave out what they do not know. */
export function notKept(what: string): Problem {
  return new Problem('IPK_STORE_FAILED', `the store does not keep ${what}`, {
    hint: 'bring the custom resources up to date: kubectl apply -k deploy/crds',
  })
}
