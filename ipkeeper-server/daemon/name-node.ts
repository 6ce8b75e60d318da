import { randomBytes } from 'node:crypto'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Problem } from '../../shared/problem/problem.ts'
import { folderInode } from '../host/folder-inode.ts'
import { readMachineMarks } from '../identity/machine-evidence.ts'
import { NodeIdentity } from '../identity/node-identity.ts'
import { namesOfThisBoot } from '../ipam/plan/plan-rename.ts'
import type { Ledger } from '../leases/ledger/ledger.ts'
import { NameClaims } from '../leases/tasks/name-claims.ts'
import { renameNode } from '../leases/verbs/rename-node.ts'
import type { Unrecorded } from '../reconcile/adopt-unrecorded.ts'
import type { Logger } from '../host/logger.ts'
import { lastChangePath } from '../store/sqlite/last-change.ts'

/** Puts together who this node is, and what it is called. */

/** Files of SQLite that make one database; the last one is what makes it be there. */
const parts = ['-wal', '-shm', '']

/** What another machine noted for itself of a ledger that nodes share is not for this one to act upon. */
function putJournalAside(stateDir: string, owner: string): string | undefined {
  const journal = join(stateDir, 'journal.db')
  const aside = `${journal}.of-${owner.slice(0, 12)}`
  if (!existsSync(journal)) return undefined
  for (const part of parts) if (existsSync(journal + part)) renameSync(journal + part, aside + part)
  rmSync(lastChangePath(journal), { force: true })
  return aside
}

export interface KnowNodeOptions {
  readonly stateDir: string
  /** As configured. */
  readonly name: string
  readonly bootId: string
  readonly now: () => number
  readonly logger: Logger
}

/** To be called with the state folder locked, and before its store is opened. */
export function knowNode({ stateDir, name, bootId, now, logger }: KnowNodeOptions): NodeIdentity {
  const wasInUse = existsSync(join(stateDir, 'journal.db'))
  const sight = { marks: readMachineMarks(), bootId, folder: folderInode(stateDir) }
  const identity = NodeIdentity.open({ stateDir, name, sight, wasInUse, now })
  const { id, origin, why, copyOf } = identity
  if (origin === 'other') {
    const journal = copyOf === undefined ? undefined : putJournalAside(stateDir, copyOf)
    logger.warn(
      { id, copyOf, why, ...(journal !== undefined && { journal }) },
      "the state folder was another machine's: this one is a node of its own, and nothing that is of the other is touched",
    )
  }
  identity.take()
  if (origin === 'first') logger.info({ id }, 'the state folder is of this node from here on')
  return identity
}

export interface ClaimNamesOptions {
  readonly identity: NodeIdentity
  /** Another machine wanted a name of this node, and was refused. */
  readonly onChallenge: () => void
  readonly ledger: Ledger
  readonly stateDir: string
  readonly logger: Logger
}

/** What claims this node's name; undefined where one daemon has the store to itself. */
export function claimNames({
  identity,
  ledger,
  stateDir,
  logger,
  onChallenge,
}: ClaimNamesOptions): NameClaims | undefined {
  if (!ledger.isShared) return undefined
  const { id, bootId, marks } = identity
  const wasClaimed = identity.wasSure
  const session = identity.session ?? randomBytes(8).toString('hex')
  let refused: string | undefined
  const claims = new NameClaims({
    ledger,
    stateDir,
    mine: { id, session, bootId, ...marks, since: Date.now() },
    wasClaimed,
    onClaimed: name =>
      isNamed(identity, ledger, () => {
        identity.claimed(session)
        if (name === identity.name) identity.took()
      }),
    now: Date.now,
    monotonic: () => performance.now(),
    onAlone: () =>
      isNamed(identity, ledger, () => {
        identity.sure()
      }),
    onChallenge: (name, by) => {
      if (by.askedOn !== undefined) {
        logger.warn(
          { name, by: by.askedOn },
          `an operator on node ${by.askedOn} asked whether this node is running; it is`,
        )
        return
      }
      onChallenge()
      // It asks every minute, and is told of once.
      if (by.session === refused) return
      refused = by.session
      logger.warn({ name, by: by.id }, `another machine claimed the name ${name} and was refused`)
    },
    onDeclaredGone: (name, by) => {
      logger.warn(
        { name, by },
        'this node was declared gone for good but is running: the declaration was revoked',
      )
    },
    onLost: (name, problem) => {
      if (problem) logger.error({ name, hint: problem.hint }, `no ADD is served: ${problem.message}`)
      else {
        ledger.sure()
        logger.info({ name }, `this node is ${name} again`)
      }
    },
    onError: error => {
      logger.info({ err: error }, 'the name of this node could not be claimed yet; it is tried again')
    },
  })
  ledger.subscribe({
    changed: ({ kind, record }) => {
      if (kind !== 'node') return
      // The ledger is in the middle of a change.
      queueMicrotask(() => {
        claims.heard(record.name)
      })
    },
  })
  return claims
}

export interface NameNodeOptions {
  readonly identity: NodeIdentity
  readonly ledger: Ledger
  readonly claims: NameClaims | undefined
  readonly logger: Logger
  /** Resolves when the daemon is told to end. */
  readonly stopped: Promise<unknown>
  /** What runs here and is not on record. */
  readonly unrecorded: () => Promise<Unrecorded>
  /** Answers whoever asks with the reason while nothing is served; resolves to what ends that. */
  readonly refuse: (problem: () => Problem) => Promise<() => Promise<void>>
}

/** Milliseconds after which a daemon asks again that was refused its name. */
const askAgainAfter = 60_000

/**
 * Has all that this node has bear the name that is configured; to be awaited before anything is served or ended. Resolves to
 * the name in force: while the store is away, or not all that runs here is on record, that is the one before. As long as a machine that
 * lives has the name, or runs with this identity, everybody is refused, and it is asked for again. undefined: the daemon was told to end.
 */
export async function nameNode(options: NameNodeOptions): Promise<string | undefined> {
  const { claims, logger, stopped, refuse } = options
  let reason: Problem | undefined
  let answerNoMore = async (): Promise<void> => Promise.resolve()
  try {
    for (;;) {
      try {
        const name = await takeName(options, reason !== undefined)
        if (reason && name !== undefined)
          logger.info({ name }, `this node is ${name}: its name is no longer contested`)
        return name
      } catch (error) {
        const isTaken = error instanceof Problem && error.code === 'IPK_NODE_NAME_TAKEN'
        // Who has been refused does not go on as if nobody were there when the store goes away.
        const waits = isTaken || (reason && error instanceof Problem && error.code === 'IPK_STORE_AWAY')
        if (!waits) throw error
        const isFirst = reason === undefined
        if (isTaken) reason = error
        if (isFirst) {
          logger.fatal({ code: error.code, hint: error.hint }, `nothing is served: ${error.message}`)
          answerNoMore = await refuse(() => reason ?? error)
        }
      }
      await Promise.race([stopped, delay(askAgainAfter, undefined, { ref: false })])
      if (claims?.isStopped === true) return undefined
    }
  } finally {
    await answerNoMore()
  }
}

async function takeName(options: NameNodeOptions, wasRefused: boolean): Promise<string | undefined> {
  const { identity, ledger, claims } = options
  const { wanted, origin, bootId } = identity
  if (!claims) {
    identity.begin()
    // Nobody else has this ledger: whatever name a record bears, it is this node's.
    await carryOver(options, undefined)
    return wanted
  }
  // Of a folder of old it is not known whose it was.
  const found = origin === 'first' ? namesOfThisBoot(ledger.attachments(), bootId) : []
  if (ledger.storeStatus()?.state === 'away' && !wasRefused) return await goOn(options, isUnreachable)
  if (await mustKeepName(options)) return await goOn(options, 'pods that run here are not on record yet')
  try {
    const claimed = claims.names()
    await claims.takeAll(wanted, claimed)
    if (claims.isStopped) return undefined
    await isNamed(identity, ledger, () => {
      identity.begin([...found, ...claimed])
    })
    if (identity.leftNames().length > 0) await carryOver(options, identity.leftNames())
    claims.hold(wanted)
    return wanted
  } catch (error) {
    const isAway = error instanceof Problem && error.code === 'IPK_STORE_AWAY'
    if (isAway && !wasRefused) return await goOn(options, isUnreachable)
    throw error
  }
}

/** The store looks at what stands under a name that is new. */
async function isNamed(identity: NodeIdentity, ledger: Ledger, change: () => void): Promise<void> {
  const before = identity.names().join()
  change()
  if (identity.names().join() !== before) await ledger.named()
}

const isUnreachable = 'the store is unreachable'

/**
 * Whether a node that is to be renamed keeps its name at this start, which nobody else has: what runs here and is not on record is known to
 * the store by the name alone, and whoever has that next would end it. Where there is no such thing, nobody has to wait for it: machines that
 * are to have each other's names would wait for one another.
 */
async function mustKeepName({ identity, ledger, unrecorded }: NameNodeOptions): Promise<boolean> {
  const { name, wanted } = identity
  if (name === wanted && ledger.storeStatus()?.state !== 'incomplete') return false
  const what = await unrecorded()
  if (what === 'nothing') ledger.tookUp()
  if (what !== 'known to the store') return false
  return name !== wanted && identity.isOwn(name) && ledger.isOwnName(name)
}

/** Under the name before, which is claimed once the store is back. */
async function goOn({ identity, ledger, claims, logger }: NameNodeOptions, reason: string): Promise<string> {
  const { name, wanted } = identity
  if (name !== wanted)
    logger.warn(
      { name, wanted },
      `${reason}: this node keeps the name ${name}, and is named ${wanted} from its next start on`,
    )
  // What only this node has may bear both names, where an earlier start was broken off.
  await renameNode(ledger, {
    ...{ node: name, from: [wanted, ...identity.leftNames()].filter(other => other !== name) },
    ...{ wasOurs: other => identity.isOwn(other), only: 'attachment' },
  })
  ledger.callNode(name)
  claims?.hold(name)
  return name
}

async function carryOver(
  { identity, ledger, claims, logger }: NameNodeOptions,
  from: readonly string[] | undefined,
): Promise<void> {
  const { wanted } = identity
  const { names, ...counts } = await renameNode(ledger, {
    ...{ node: wanted, from },
    wasOurs: from ? name => identity.isOwn(name) : () => true,
    isOthers: name => claims?.isOthers(name) === true,
  })
  const former = [...new Set([...identity.leftNames(), ...names])]
  identity.settle()
  for (const name of former) {
    await claims?.giveUp(name, wanted, () => isBorne(ledger, name))
    identity.forget(name)
  }
  if (former.length > 0)
    logger.info(
      { name: wanted, former, ...counts },
      `this node was renamed from ${former.join(' and ')} to ${wanted}`,
    )
}

/** Whether anything in the ledger bears the name. */
function isBorne(ledger: Ledger, name: string): boolean {
  for (const _ of ledger.leasesOn(name)) return true
  const mayBe = (text: string): boolean => text.includes(`"node":${JSON.stringify(name)}`)
  for (const { sandbox } of ledger.search('holder', mayBe)) if (sandbox?.node === name) return true
  return false
}
