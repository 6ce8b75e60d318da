/** Plays a row of the table of changes: what is there before, the change, a restart, and the next call of each pod. */
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import type { ExplainReply } from '../../shared/api/explain.schema.ts'
import type { StatusReply } from '../../shared/api/listing.schema.ts'
import { toOldLayout } from '../rigs/old-layout.ts'
import { until } from '../rigs/poll.ts'
import type { NodeInCluster } from '../rigs/wired-in-cluster.ts'
import {
  addressOf,
  annotationsKey,
  type CallOptions,
  type Settings,
  type WiredNode,
  type WiredPod,
  type WiredResult,
} from '../rigs/wired-node.ts'
import type { Configuration, Kind, Outcome, Role, Row, Store } from './row.ts'

const addresses = {
  live: '10.22.0.10',
  leaving: '10.22.0.50',
  kept: '10.22.0.20',
  cooling: '10.22.0.30',
  reserved: '10.22.0.40',
}

/** Kinds whose next ADD can be foretold while all pods stand as they do; who lives has to be deleted first. */
const foretold = ['fresh', 'kept', 'cooling', 'reserved'] as const satisfies readonly Kind[]

/** The daemon's file. What cools down does so for longer than a test lasts; the sweeper is quick. */
export const fileOf = ({ pools = [] }: Configuration): Settings => ({
  ...{ pools, kubernetes: { mode: 'off' }, cooldown: '1h', preferFor: '1h' },
  reconcile: { interval: '1s', minAge: '1s' },
})

export const changesFile = ({ before, after }: Row): boolean =>
  JSON.stringify(fileOf(before)) !== JSON.stringify(fileOf(after))

/** The node of a play. Where the Kubernetes API keeps the ledger it has to know the pods as well. */
export interface PlayedNode extends WiredNode, Partial<Pick<NodeInCluster, 'access' | 'announce'>> {}

/** A pod from before the change that lives, and its Result. */
interface Living {
  readonly pod: WiredPod
  readonly result: WiredResult
}

const asks = (address: string): Readonly<Record<string, string>> => ({ 'ipkeeper.io/ip': address })

/** What a pod of this kind says after the change. */
const annotationsOf = (kind: Kind): Readonly<Record<string, string>> =>
  kind === 'live' || kind === 'cooling' ? asks(addresses[kind]) : {}

class Played {
  readonly t: Test
  readonly node: PlayedNode
  readonly row: Row
  readonly role: Role
  readonly live: Living
  /** Of whom the runtime sends a DEL with the conflist of after the change. */
  readonly leaving: Living

  constructor(t: Test, node: PlayedNode, row: Row, role: Role, [live, leaving]: readonly [Living, Living]) {
    this.t = t
    this.node = node
    this.row = row
    this.role = role
    this.live = live
    this.leaving = leaving
  }

  /** The configuration of a call. In the IPAM role the plugin runs as another one's. */
  static call({ network = 'net', ipam, settings = {} }: Configuration, role: Role): CallOptions {
    return { ipam, settings: { name: network, type: role === 'main' ? 'ipkeeper' : 'bridge', ...settings } }
  }

  get after(): CallOptions {
    return Played.call(this.row.after, this.role)
  }

  expected(kind: Kind): Outcome {
    return (this.role === 'main' ? this.row.inMain?.[kind] : undefined) ?? this.row.gets[kind]
  }

  async status(): Promise<StatusReply['config']> {
    return (JSON.parse((await this.node.daemon().ask('GET', '/v1/status')).body) as StatusReply).config
  }

  get file(): string {
    return join(dirname(this.node.daemon().stateDir), 'config')
  }

  /** The file of this node's own ledger, or of its journal. */
  get ledger(): string {
    const { stateDir } = this.node.daemon()
    return ['leases.db', 'journal.db'].map(name => join(stateDir, name)).find(existsSync) ?? ''
  }

  write(): void {
    writeFileSync(`${this.file}.new`, JSON.stringify({ ...fileOf(this.row.after), ...this.node.access }))
    renameSync(`${this.file}.new`, this.file)
  }

  /** Puts the file in place, and waits until it is in force, or refused. */
  async change(): Promise<void> {
    if (!changesFile(this.row)) return
    const was = await this.status()
    this.write()
    await until('the file is judged', async () => {
      const { loadedAt, problem } = await this.status()
      return problem !== null || loadedAt !== was.loadedAt
    })
  }

  /** What is refused is said wherever a person looks. */
  async says(when: string): Promise<void> {
    const { t, row } = this
    const { problem } = await this.status()
    t.equal(problem?.['code'], row.refused, `${when}: whether the file is in force`)
    if (row.refused === undefined || row.says === undefined) return
    t.match(problem?.['message'], row.says, `${when}: why`)
  }

  /** It is said wherever a person looks, with what to type. */
  async saysEverywhere(): Promise<void> {
    const { t, row, node } = this
    const { says, refused } = row
    if (refused === undefined || says === undefined) return
    const daemon = node.daemon()
    for (const word of ['status', 'doctor', 'audit'])
      t.match((await daemon.control(word)).stdout, says, `${word} says why`)
    t.match(daemon.log(), says, 'the log says why')
    t.match(
      await daemon.control('check-config', this.file),
      { exit: 1, stdout: says },
      'check-config says why',
    )
  }

  /** The runtime knows of pods from before, and tells so with the conflist that is there now, as containerd does. */
  async withTheNewConflist(): Promise<void> {
    const { t, node, row, after, live, leaving } = this
    const had = async (): Promise<readonly string[]> =>
      (await node.daemon().boundLeases()).map(({ address }) => address).sort()
    const all = [addresses.live, addresses.leaving]
    const attachments = [live, leaving].map(({ pod }) => ({ containerID: pod.containerId, ifname: 'eth0' }))
    const settings = { ...after.settings, 'cni.dev/valid-attachments': attachments }
    const gc = await live.pod.call('GC', { ...after, settings })
    t.strictSame([gc.exit, gc.stdout, await had()], [0, '', all], 'a GC with the new conflist ends nobody')
    const { pod, result } = leaving
    const { exit, stdout } = await pod.call('DEL', { ...after, prevResult: result })
    t.strictSame([exit, stdout], [0, ''], 'a DEL with the new conflist works')
    t.strictSame(await had(), row.swept === true ? all : [addresses.live], 'what it ends')
    await pod.namespace.delete()
    await until('nothing of that pod is left', async () => (await had()).join() === addresses.live)
    if (this.role === 'main')
      t.strictSame(await this.hostLinks(), 1, 'of the links of pods, only that of the living pod is left')
  }

  /** How many links of pods there are on the host. */
  async hostLinks(): Promise<number> {
    const text = await this.node.host.must('ip', ['-json', 'link', 'show', 'type', 'veth'])
    return (JSON.parse(text) as readonly unknown[]).length
  }

  /** When nobody has or keeps an address any more, the change is made. */
  async goesThrough(): Promise<void> {
    const { t, node, row } = this
    const { pools: [pool] = [], network = 'net' } = row.before
    const daemon = node.daemon()
    const from = typeof pool?.['name'] === 'string' ? pool['name'] : network
    t.match(await daemon.control('release', '--pool', from, '--yes'), { exit: 0 }, 'what is kept is released')
    if (row.refused !== undefined) {
      daemon.kill('SIGHUP')
      await until('the file is in force', async () => (await this.status()).problem === null)
    }
    const pod = await node.pod({ name: 'later' })
    const got = await this.adds(pod)
    t.match(got, row.allWrong ?? /^10\./, 'and then the change is made')
    await pod.del(this.after)
  }

  /** What an ADD of this pod would get now. */
  async foretell(kind: Kind): Promise<string> {
    const settings = { ...this.after.settings, runtimeConfig: { [annotationsKey]: annotationsOf(kind) } }
    const config = this.node.config({ ...this.after, settings })
    const { body } = await this.node
      .daemon()
      .ask('POST', '/v1/explain', { namespace: 'shop', name: kind, config })
    const { error, addresses: given } = JSON.parse(body) as ExplainReply
    return error?.code ?? given.join()
  }

  /** The address that a new sandbox gets, or the code of the error. */
  async adds(pod: WiredPod): Promise<string> {
    const { exit, stdout } = await pod.call('ADD', this.after)
    if (exit === 0) return addressOf(JSON.parse(stdout) as WiredResult, 4)
    return /\[(IPK_\w+)/.exec(stdout)?.[1] ?? stdout
  }

  judge(kind: Kind, got: string, when: string): void {
    const { t } = this
    const address = got.replace(/\/.*/, '')
    const expected = this.expected(kind)
    const had = kind === 'fresh' ? undefined : addresses[kind]
    const outcome = address.startsWith('IPK_')
      ? address
      : expected === 'any'
        ? 'any'
        : address === had
          ? 'same'
          : 'other'
    t.equal(outcome, expected, `${when}: ${kind} gets ${got}`)
    if (kind === 'kept' && outcome === 'other' && this.row.swept !== true)
      t.match(
        this.node.daemon().log(),
        `${addresses.kept}: kept for it until now, released: no range of`,
        'it is told so',
      )
    if (kind !== 'live') t.not(address, addresses.live, `${when}: nobody gets what a living pod has`)
  }
}

/** Pods and addresses before the change. */
async function prepare(t: Test, node: PlayedNode, row: Row, role: Role): Promise<Played> {
  const call = Played.call(row.before, role)
  const add = async (name: Kind | 'leaving', annotations: Readonly<Record<string, string>>) => {
    const pod = await node.pod({ ...call, name, annotations })
    return { pod, result: await pod.add() }
  }
  const live = await add('live', asks(addresses.live))
  const leaving = await add('leaving', asks(addresses.leaving))
  const kept = await add('kept', { ...asks(addresses.kept), 'ipkeeper.io/retain': 'forever' })
  const cooling = await add('cooling', asks(addresses.cooling))
  for (const { pod } of [kept, cooling]) await pod.del()
  const reserved = await node.daemon().control('reserve', addresses.reserved, 'shop/reserved')
  if (reserved.exit !== 0) throw new Error(reserved.stderr)
  for (const kind of foretold) await node.announce?.(kind, annotationsOf(kind))
  return new Played(t, node, row, role, [live, leaving])
}

/** All ends, and nothing is left. */
async function end(played: Played, pods: readonly WiredPod[]): Promise<void> {
  const { t, node, live } = played
  const listed = await node.daemon().control('reservations', '-o', 'name')
  t.match(listed.stdout, addresses.reserved, 'the reservation is listed')
  t.match(await node.daemon().control('unreserve', addresses.reserved), { exit: 0 }, 'and can be taken back')
  for (const pod of pods) await pod.del(played.after)
  const { exit, stdout } = await live.pod.call('DEL', { prevResult: live.result })
  t.strictSame([exit, stdout], [0, ''], 'the DEL of a pod of before works')
  const next = await node.pod({ name: 'live', annotations: annotationsOf('live') })
  const got = await played.adds(next)
  played.judge('live', got, 'its next sandbox')
  await next.del(played.after)
  await played.goesThrough()
  t.strictSame(await node.daemon().boundLeases(), [], 'nothing is left')
}

/** The row as it is with this store. */
export const rowOn = ({ refused, ...row }: Row, store: Store): Row =>
  store === 'sqlite' || !row.onShared ? { ...row, ...(refused && { refused }) } : { ...row, ...row.onShared }

/** `meanwhile`: no daemon runs while the file is changed. */
export async function play(
  t: Test,
  node: PlayedNode,
  row: Row,
  { role, meanwhile }: { readonly role: Role; readonly meanwhile: boolean },
): Promise<void> {
  const played = await prepare(t, node, row, role)
  const before = new Map<Kind, string>()
  if (!meanwhile) {
    await played.change()
    await played.says('at once')
    for (const kind of foretold) before.set(kind, await played.foretell(kind))
  }
  await node.daemon().stop()
  if (meanwhile) played.write()
  if (row.layout !== undefined) toOldLayout(played.ledger, row.layout)
  await node.startDaemon()
  await played.says('after a restart')
  for (const [kind, got] of before)
    t.equal(await played.foretell(kind), got, `after a restart ${kind} gets what it got before`)
  await played.saysEverywhere()
  await played.withTheNewConflist()
  const { pod, result } = played.live
  const check = await pod.call('CHECK', { prevResult: result })
  t.strictSame([check.exit, check.stdout], [0, ''], 'who lives passes its CHECK')
  const thief = await node.pod({ name: 'thief', annotations: asks(addresses.live) })
  const robbed = await thief.call('ADD', played.after)
  t.equal(robbed.exit, 1, 'nobody gets by name what a living pod has')
  const pods: WiredPod[] = [thief]
  for (const kind of foretold) {
    const one = await node.pod({ name: kind, annotations: annotationsOf(kind) })
    pods.push(one)
    played.judge(kind, await played.adds(one), 'its next ADD')
  }
  await end(played, pods)
}
