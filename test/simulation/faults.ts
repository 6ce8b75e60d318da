import type { Invariant } from './judge.ts'
import type { Mend } from './put-back.ts'
import type { Kind } from './steps.ts'

/** What a seed finds it by. */
export interface FoundBy {
  readonly kind: Kind
  /** The first one from 1 on. */
  readonly seed: number
  readonly says: Invariant
}

export interface Fault extends Mend {
  /** What the product did. */
  readonly was: string
  /** Why no seed finds it, and which test does. */
  readonly unseen?: { readonly why: string; readonly test: string }
  readonly found?: FoundBy
}

const server = 'ipkeeper-server'

const found = (kind: Kind, seed: number, says: FoundBy['says']): Pick<Fault, 'found'> => ({
  found: { kind, seed, says },
})

/** Of the issue on a node's whole life. */
const ofWholeLife = {
  'gc-by-arrival': {
    was: 'a GC counted from when the daemon got it, and ended what was added after its list was made',
    file: `${server}/leases/verbs/gc.ts`,
    from: '  const terms = (): GcTerms => ({',
    to: '  request = { ...request, began: { bootId: service.bootId, startedAt: service.monotonic() * 1000 } }\n  const terms = (): GcTerms => ({',
    ...found('embedded', 1, 'a node has what it answered'),
  },
  'gc-by-start': {
    was: 'a GC ended what began before it and was answered after its list was made',
    file: `${server}/ipam/plan/plan-gc.ts`,
    from: 'return !isOneClock || told < began.startedAt',
    to: 'return true',
    ...found('embedded', 5, 'a node has what it answered'),
  },
  'mac-twice': {
    was: 'a pod got the MAC of a living one that it asked for',
    file: `${server}/ipam/choose/plan-mac.ts`,
    from: 'for (const lease of book.leasesWithMac(asked.mac)) refuse(lease)',
    to: '',
    ...found('embedded', 4, 'a MAC of its own'),
  },
  'renamed-node': {
    was: 'what a node had under its former name did not follow it to the new one',
    file: `${server}/ipam/plan/plan-rename.ts`,
    from: 'name !== undefined && name !== node && wasOurs(name)',
    to: 'false',
    ...found('embedded', 3, 'nothing is left over'),
  },
  'name-taken': {
    was: 'a machine took the name of another one without asking whether that lives',
    file: `${server}/ipam/records/node-record.ts`,
    from: "if (!record?.claim) return { kind: 'take' }",
    to: "if (record?.claim?.session !== session) return { kind: 'take' }",
    ...found('transactions', 2, 'a history ends'),
  },
  'loss-unnoticed': {
    was: 'an engine that had lost records was believed',
    file: `${server}/store/shared/shared-store.ts`,
    from: 'const reason = this.#losses.judge(records, position, bound)',
    to: 'const reason = this.#losses.judge(records, position, bound) && undefined',
    ...found('amnesia', 2, 'nothing is left over'),
  },
  'claims-early': {
    was: 'after a loss addresses were given before all nodes had told what they hold',
    file: `${server}/store/shared/engine-losses.ts`,
    from: 'return this.hasReported() && this.#awaited.length === 0',
    to: 'return this.hasReported()',
    ...found('amnesia', 284, 'one owner'),
  },
  'lost-node-record': {
    was: 'a node whose own record was lost was not waited for',
    file: `${server}/store/shared/engine-losses.ts`,
    from: 'for (const name of this.#memory.nodes) {',
    to: 'for (const name of [] as string[]) {',
    ...found('amnesia', 284, 'one owner'),
  },
  'not-told-again': {
    was: 'a node did not tell an engine that had lost records what is bound on it',
    file: `${server}/store/shared/reclaim.ts`,
    from: '    resolver.keep(again)\n',
    to: '    again.splice(0)\n',
    ...found('amnesia', 2, 'a node has what it answered'),
  },
  'snapshot-believed': {
    was: 'what an engine had from before its loss overruled what a node had by its journal',
    file: `${server}/store/shared/pending-write.ts`,
    from: "if (!again || kind === 'node') return 'overruled'",
    to: "return 'overruled'",
    ...found('amnesia', 4, 'a history ends'),
  },
  'heard-before-loss': {
    was: 'what was heard of an engine before it lost records counted as newer than what it had then',
    file: `${server}/store/shared/known-records.ts`,
    from: 'versions.set(key, { text, revision: -1 })',
    to: 'break',
    ...found('amnesia', 18, 'each pod can be started'),
  },
  'owes-ignored': {
    was: 'a node that has something left to tell was not waited for',
    file: `${server}/ipam/records/node-record.ts`,
    from: 'node.gone === undefined && node.owes === true',
    to: 'false',
    unseen: {
      why: 'two nodes have to wait for one another in the same seconds in which a third one claims',
      test: 'test/ipkeeper-server/store/shared/shared-store.test.ts',
    },
  },
  'clock-set': {
    was: 'what was kept by a clock that was set came free early, or was kept for longer',
    file: `${server}/ipam/records/times.ts`,
    from: 'return until === null ? lease : { ...lease, since: since + by, until: until + by }',
    to: 'return lease',
    unseen: {
      why: 'a dynamic pod would have to get the kept address in its time, and nearly always there is a lower one free; nobody else asks for one by name',
      test: 'test/ipkeeper-server/ipam/records/times.test.ts',
    },
  },
  'answered-to-nobody': {
    was: 'an ADD that was answered to nobody, since daemon and plugin were killed, was kept',
    file: `${server}/reconcile/settle-answers.ts`,
    from: "if (owner !== 'daemon') return owner === 'plugin'",
    to: 'return true',
    unseen: {
      why: 'its sandbox goes, with a DEL or without one, and then the sweeper ends what is left: the end shows nothing of the minutes between',
      test: 'test/ipkeeper-server/reconcile/settle-answers.test.ts',
    },
  },
  'undo-by-del': {
    was: 'the DEL of a takeover that was answered to nobody took the addresses from the older sandbox for good',
    file: `${server}/leases/verbs/del.ts`,
    from: 'undoes && released.length > 0 ? planUndo(ledger, key, answered, terms) : released',
    to: 'released',
    unseen: {
      why: 'a kubelet of the simulation starts a pod again only when its former sandbox has died, so that what goes back goes to nobody',
      test: 'test/ipkeeper-server/leases/verbs/del.test.ts',
    },
  },
  'late-commit': {
    was: 'a commit that the engine carried out after it had been given up was not taken back',
    file: `${server}/store/shared/indeterminate-commits.ts`,
    from: 'if (!record || text === null || sameRecord(text, record.want)) return undefined',
    to: 'return undefined',
    unseen: {
      why: 'a refused ADD counts as ended since, and what comes of it late is ended again as such: after a moment all is the same',
      test: 'test/ipkeeper-server/store/shared/shared-store.test.ts',
    },
  },
  'not-cut-off': {
    was: 'a sandbox went on answering for an address that its node had lost',
    file: `${server}/reconcile/yield-addresses.ts`,
    from: 'isLost && (await network.cutOff(attachment))',
    to: 'false',
    unseen: {
      why: 'one history of 25 comes to that, and in none of the first 100 do both pods still run when the judge may count on the node again',
      test: 'test/ipkeeper-server/reconcile/yield-addresses.test.ts',
    },
  },
} as const satisfies Readonly<Record<string, Fault>>

/** Older ones, of CHANGELOG and the commit log. */
const older = {
  'late-del': {
    was: 'the late DEL of an older sandbox freed what its pod has in a newer one',
    file: `${server}/ipam/plan/plan-del.ts`,
    from: 'const released = book\n    .leasesOf(key)\n',
    to: 'const released = (book.holder(attachment.holder)?.leases ?? [])\n    .flatMap(own => book.lease(own) ?? [])\n',
    ...found('embedded', 1, 'a node has what it answered'),
  },
  'empty-runtime': {
    was: 'a runtime that lists nothing, as after its own restart, was believed',
    file: `${server}/reconcile/plan-attachments.ts`,
    from: "answer.state === 'listed' && answer.sandboxes.length > 0",
    to: "answer.state === 'listed'",
    ...found('embedded', 8, 'a node has what it answered'),
  },
  'reserved-for-another': {
    was: 'whoever asked for an address by name got it, though it was reserved for another pod',
    file: `${server}/ipam/choose/plan-grants.ts`,
    from: 'if (reservation && !isReservedFor(reservation, request.holder, workload)) {',
    to: 'if (false) {',
    ...found('embedded', 9, 'reserved for its owner'),
  },
  'release-of-bound': {
    was: 'release freed an address that a pod has',
    file: `${server}/leases/verbs/release.ts`,
    from: "if (present.state === 'bound') throw stillBound(service, present)",
    to: '',
    ...found('embedded', 20, 'a node has what it answered'),
  },
  'second-address': {
    was: 'a pod that insists on its address got a second one while its older sandbox may live',
    file: `${server}/ipam/choose/plan-takeover.ts`,
    from: 'if (!free && insistsOn(book, request, leases)) {',
    to: 'if (false) {',
    ...found('embedded', 35, 'one address a pod'),
  },
  'dead-elsewhere': {
    was: 'a sandbox of another node counted as dead, because nothing of it is seen on this one',
    file: `${server}/network/pod/attachment-liveness.ts`,
    from: ' || isForgotten(attachment.node)',
    to: ' || true',
    ...found('transactions', 4, 'a MAC of its own'),
  },
  'later-change-overwritten': {
    was: "what was pending while the engine was away was written over another node's later change",
    file: `${server}/store/shared/pending-write.ts`,
    from: "if (!again || kind === 'node') return 'overruled'",
    to: "if (!again) return 'write'",
    ...found('transactions', 77, 'refused for what happened'),
  },
  'no-intent': {
    was: 'the engine heard of an ADD before the journal did: of a daemon that was killed then an address stayed bound',
    file: `${server}/store/shared/write-through.ts`,
    from: 'const noted = isAdd ? intents : this.#ended(real)',
    to: 'const noted = isAdd ? [] : this.#ended(real)',
    ...found('transactions', 15, 'nothing is left over'),
  },
  'taken-alone': {
    was: 'an address was taken while the engine was away',
    file: `${server}/store/shared/pending-write.ts`,
    from: 'if (text === null) return after === null',
    to: 'if (text === null) return true',
    ...found('transactions', 15, 'one owner'),
  },
} as const satisfies Readonly<Record<string, Fault>>

/** Mended ones, which are put back one by one: what the simulation finds, and what it cannot see. */
export const faults: Readonly<Record<string, Fault>> = { ...ofWholeLife, ...older }
