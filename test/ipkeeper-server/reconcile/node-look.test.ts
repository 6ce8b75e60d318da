import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { OwnAddresses } from '../../../ipkeeper-server/ipam/pools/own-addresses.ts'
import { outlineOfAttachment } from '../../../ipkeeper-server/ipam/records/attachment-outline.ts'
import {
  attachmentKey,
  holderKey,
  sameAttachment,
  type AttachmentRecord,
  type Write,
} from '../../../ipkeeper-server/ipam/records/records.ts'
import { ageOf } from '../../../ipkeeper-server/ipam/records/times.ts'
import { ageClock } from '../../../ipkeeper-server/leases/verbs/service.ts'
import { deathOf } from '../../../ipkeeper-server/network/pod/attachment-liveness.ts'
import { NodeLook } from '../../../ipkeeper-server/reconcile/node-look.ts'
import { planInTurns, planReconcile } from '../../../ipkeeper-server/reconcile/plan-reconcile.ts'
import type { NodeSnapshot, SeenAttachment } from '../../../ipkeeper-server/reconcile/plan-snapshot.ts'
import { MemoryStore } from '../../../ipkeeper-server/store/memory/memory-store.ts'
import { attachmentRecord, holderRecord, lease, podHolder, putLease } from '../../rigs/records.ts'
import { TestService } from '../leases/test-service.ts'
import { link, pod, sandbox, usualTerms } from './snapshot-words.ts'

const sockets = ['/run/a.sock', '/run/b.sock'] as const

/** An attachment, and what the node is like around it: each of it may be well or not. */
const arbitraryPod = fc.record({
  name: fc.constantFrom('web-0', 'web-1', 'web-2', null),
  hasUid: fc.boolean(),
  node: fc.constantFrom('n1', 'n1', 'n1', 'n2'),
  bootId: fc.constantFrom('boot-1', 'boot-1', 'boot-1', 'boot-0', null),
  netnsInode: fc.constantFrom('1', '1', null),
  inodeNow: fc.constantFrom('1', '1', '1', '2', null),
  madeBy: fc.constantFrom(undefined, ...sockets),
  delegatedTo: fc.constantFrom(undefined, undefined, 'host-local'),
  answeredAt: fc.constantFrom(undefined, 0, 5_000_000),
  listedBy: fc.constantFrom(undefined, ...sockets),
  isReady: fc.boolean(),
  addresses: fc.constantFrom(0, 1, 1, 2),
  kernel: fc.constantFrom('agrees', 'agrees', 'differs', 'unseen'),
  isCurrent: fc.boolean(),
  isWired: fc.boolean(),
  apiSays: fc.constantFrom('same', 'same', 'other', 'nothing'),
  isOwn: fc.constantFrom(false, false, false, true),
  answersFalsely: fc.constantFrom(false, false, false, true),
  /** What becomes of it between two passes. */
  then: fc.constantFrom('stays', 'stays', 'changes', 'goes'),
})
type PodWords = ReturnType<typeof arbitraryPod.generate>['value']

const idOf = (index: number): string => `c${index}`
const linkOf = (index: number): string => `ipk${String(index).padStart(12, '0')}`
const addressesOf = ({ addresses }: PodWords, index: number): string[] =>
  Array.from({ length: addresses }, (_, nth) => `10.0.${nth}.${index + 2}`)

function recordOf(words: PodWords, index: number): AttachmentRecord {
  const { name, node, bootId, netnsInode, madeBy, delegatedTo, answeredAt } = words
  const containerId = idOf(index)
  return attachmentRecord({
    ...{ containerId, node, bootId, netnsInode, netns: `/run/netns/${containerId}` },
    ...{ podUid: words.hasUid ? `uid-${name ?? containerId}` : null, invocationId: `run-${index}` },
    holder:
      name === null ? { kind: 'container', network: 'net', containerId, ifname: 'eth0' } : podHolder(name),
    ...(madeBy !== undefined && { madeBy }),
    ...(delegatedTo !== undefined && { delegatedTo }),
    ...(answeredAt !== undefined && { answeredAt }),
    ...(words.isWired && {
      wiring: {
        ...{ mode: 'ptp', mac: '02:00:00:00:00:01', mtu: 1500, master: null, routes: [], masqueraded: [] },
        ...{ proxyOn: null, hostLink: { name: linkOf(index), mac: '02:00:00:00:00:02' } },
      },
    }),
  })
}

function writesOf(pods: readonly PodWords[]): Write[] {
  const records = pods.map(recordOf)
  const holders = Map.groupBy(records.entries(), ([, { holder }]) => holderKey(holder))
  return [
    ...records.map((record): Write => ({
      kind: 'attachment',
      key: attachmentKey(record),
      expect: null,
      record,
    })),
    ...pods.flatMap((words, index) =>
      addressesOf(words, index).map((address, rangeSet) => {
        const { holder, node, containerId } = records[index]!
        const attachment = { network: 'net', containerId, ifname: 'eth0' }
        return putLease(lease(address, 1, { rangeSet, holder, node, attachment }), null)
      }),
    ),
    ...[...holders].map(([key, of]): Write => {
      const [, { holder, containerId }] = of.find(([index]) => pods[index]?.isCurrent) ?? of[0]!
      const attachment = { network: 'net', containerId, ifname: 'eth0' }
      return { kind: 'holder', key, expect: null, record: holderRecord({ holder, attachment }) }
    }),
  ]
}

const podHash = ({ holder }: AttachmentRecord): number | null => (holder.kind === 'pod' ? 0 : null)

/** Of a node that is as the words say: its look, and the snapshot that reads every record to the end. */
class Node {
  readonly story: TestService
  readonly look: NodeLook
  readonly #pods: readonly PodWords[]

  constructor(story: TestService, pods: readonly PodWords[], isFailing: boolean) {
    this.story = story
    this.#pods = pods
    const own = pods.flatMap((words, index) => (words.isOwn ? addressesOf(words, index).slice(0, 1) : []))
    story.own = new OwnAddresses(own.map(address => ({ cidr: `${address}/24`, link: 'eth1' })))
    this.look = new NodeLook({
      service: story.service,
      death: record => this.#death(record),
      reach: () => Promise.resolve(),
      runtimes: {
        list: () =>
          Promise.resolve(
            sockets.map((socket, nth) =>
              isFailing && nth === 1
                ? { socket, state: 'failed', reason: 'no' }
                : { socket, state: 'listed', sandboxes: this.#listedBy(socket) },
            ),
          ),
        addressesOf: () => Promise.resolve(['10.0.0.200']),
        conditions: () => Promise.resolve([]),
        close: () => undefined,
      },
      links: () => Promise.resolve(pods.map((_, index) => link(linkOf(index), { index }))),
      kernelAddresses: ({ containerId }) => Promise.resolve(this.#kernel(Number(containerId.slice(1)))),
      pods: () =>
        Promise.resolve(
          pods.flatMap((words, index) => {
            const name = words.name ?? idOf(index)
            const addresses = words.apiSays === 'same' ? addressesOf(words, index).slice(0, 1) : ['10.0.9.9']
            return words.apiSays === 'nothing' ? [] : [pod(name, { addresses })]
          }),
        ),
      falseAnswers: () =>
        pods.flatMap((words, index) =>
          words.answersFalsely
            ? [{ attachment: recordOf(words, index), addresses: ['10.0.0.9'], times: 1 }]
            : [],
        ),
      onError: error => {
        throw error
      },
    })
  }

  /** As a pass without outlines would have it. Its addresses in the kernel are those that were looked at. */
  plain(): (seen: NodeSnapshot) => NodeSnapshot {
    const { service } = this.story
    const { ledger, node } = service
    const all = [...ledger.attachments()]
    const attachments = all
      .filter(record => record.node === node)
      .map((record): SeenAttachment => ({
        record,
        // Numbers that are alike in all have every record of a pod read.
        outline: {
          ...outlineOfAttachment(record),
          ...record,
          madeBy: record.madeBy,
          podHash: podHash(record),
        },
        leases: ledger.leasesOf(record),
        current: sameAttachment(ledger.holder(record.holder)?.attachment ?? null, record),
        death: this.#death(record),
        age: ageOf(record, ageClock(service)),
        kernel: undefined,
      }))
    const misnamed = all
      .filter(record => record.node !== node)
      .map(record => ({ record, leases: ledger.leasesOf(record) }))
    const names = all.flatMap(({ wiring }) => wiring?.hostLink?.name ?? [])
    return seen => ({
      ...seen,
      attachments: attachments.map((one, index) => ({ ...one, kernel: seen.attachments[index]?.kernel })),
      ...{ misnamed, namedLinks: new Set(names) },
      attachedSince: new Set(all.map(({ containerId }) => containerId)),
    })
  }

  #death(record: Parameters<typeof deathOf>[0]): ReturnType<typeof deathOf> {
    return deathOf(record, 'n1', 'boot-1', path => {
      const inode = this.#pods[Number(path.replace(/.*\/c/, ''))]?.inodeNow ?? null
      return inode === null ? { kind: 'absent' } : { kind: 'namespace', inode }
    })
  }

  #listedBy(socket: string): ReturnType<typeof sandbox>[] {
    return this.#pods.flatMap((words, index) =>
      words.listedBy === socket ? [sandbox(idOf(index), { ready: words.isReady })] : [],
    )
  }

  #kernel(index: number): string[] | undefined {
    const words = this.#pods[index]
    if (!words || words.kernel === 'unseen') return undefined
    return words.kernel === 'differs'
      ? ['10.0.9.9/24']
      : addressesOf(words, index).map(address => `${address}/24`)
  }
}

t.test('what a pass finds is what one would find that reads every record to the end', async () => {
  const plan = (snapshot: NodeSnapshot) => planReconcile(snapshot, new Map(), usualTerms, 1_000_000)
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryPod, { maxLength: 8 }),
      fc.boolean(),
      fc.boolean(),
      async (pods, isFailing, isRestarted) => {
        const store = new MemoryStore()
        let story = await TestService.open(store)
        await story.service.ledger.commit(writesOf(pods))
        if (isRestarted) story = await TestService.open(store)
        const node = new Node(story, pods, isFailing)
        for (const extent of ['usual', 'whole', 'usual'] as const) {
          const plain = node.plain()
          const seen = await node.look.take(extent, true)
          const wanted = plan(plain(seen))
          assert.deepEqual(plan(seen), wanted)
          const turn = (): Promise<void> => Promise.resolve()
          assert.deepEqual(await planInTurns(turn, seen, new Map(), usualTerms, 1_000_000), wanted)
          await story.service.ledger.commit(changesOf(story, pods))
          story.time.pass(60_000)
        }
      },
    ),
    { numRuns: 300 },
  )
})

/** Some attachments go, and some are added again in the place of those that went or stayed. */
function changesOf({ service: { ledger } }: TestService, pods: readonly PodWords[]): Write[] {
  return pods.flatMap((words, index): Write[] => {
    const made = recordOf(words, index)
    const key = attachmentKey(made)
    const present = ledger.attachment(made)
    const expect = present?.generation ?? null
    if (words.then === 'stays') return []
    if (words.then === 'goes') return [{ kind: 'attachment', key, expect, record: present ? null : made }]
    const again = { ...made, bootId: 'boot-1', netnsInode: words.inodeNow, podUid: 'uid-again', since: 2 }
    return [{ kind: 'attachment', key, expect, record: { ...again, generation: (expect ?? 0) + 1 } }]
  })
}

t.test(
  'of attachments that are well no record is parsed in the second pass, and others have their turn',
  async t => {
    const well: PodWords = {
      ...{ name: null, hasUid: true, node: 'n1', bootId: 'boot-1', netnsInode: '1', inodeNow: '1' },
      ...{ madeBy: sockets[0], delegatedTo: undefined, answeredAt: 0, listedBy: sockets[0], isReady: true },
      ...{ addresses: 0, kernel: 'agrees', isCurrent: true, isWired: true, apiSays: 'nothing' },
      ...{ isOwn: false, answersFalsely: false, then: 'stays' },
    }
    const pods = Array.from({ length: 250 }, () => well)
    const store = new MemoryStore()
    const before = await TestService.open(store)
    await before.service.ledger.commit(writesOf(pods))
    const node = new Node(await TestService.open(store), pods, false)
    const { parse } = JSON
    t.teardown(() => {
      JSON.parse = parse
    })
    const parsed: string[] = []
    JSON.parse = (...[text, reviver]: Parameters<typeof parse>): unknown => {
      if (text.includes('"invocationId"')) parsed.push(text)
      return parse(text, reviver)
    }
    const take = async (): Promise<number> => {
      parsed.length = 0
      const snapshot = await node.look.take('usual', false)
      t.strictSame(planReconcile(snapshot, new Map(), usualTerms, 0).planned, [])
      return parsed.length
    }
    t.equal(await take(), pods.length)
    let turns = 0
    let isRunning = true
    const count = (): void => {
      turns++
      if (isRunning) setImmediate(count)
    }
    setImmediate(count)
    t.equal(await take(), 0)
    isRunning = false
    t.ok(turns >= 2)
  },
)
