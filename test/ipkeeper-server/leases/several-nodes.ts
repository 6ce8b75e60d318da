import { join } from 'node:path'
import type { Test } from 'tap'
import type { TakeoverTerms } from '../../../ipkeeper-server/ipam/records/last-contact.ts'
import type { NodeClaim } from '../../../ipkeeper-server/ipam/records/records.ts'
import type { Ledger } from '../../../ipkeeper-server/leases/ledger/ledger.ts'
import { HeardNodes } from '../../../ipkeeper-server/leases/tasks/heard-nodes.ts'
import { NodePresence } from '../../../ipkeeper-server/leases/tasks/node-presence.ts'
import type { NodeState } from '../../../ipkeeper-server/kubernetes/cluster-view.ts'
import { attachmentLiveness } from '../../../ipkeeper-server/network/pod/attachment-liveness.ts'
import { EngineDouble, type NodeEngine, type NodeEngineOptions } from '../../rigs/engine-double.ts'
import { until } from '../../rigs/poll.ts'
import { openSharedLeases } from '../../rigs/shared-store.ts'
import { sampleUplink } from '../network/plan/sample-job.ts'
import type { TestService } from './test-service.ts'

const minute = 60_000

/** One node of a site: a ledger of its own in front of the engine that all share. */
export interface SiteNode {
  readonly name: string
  readonly world: TestService
  readonly engine: NodeEngine
  readonly ledger: Ledger
  readonly presence: NodePresence
  terms: TakeoverTerms
  /** cut: its engine is away. deaf: it can write and ask, but no news comes. */
  way: 'well' | 'cut' | 'deaf'
}

/** Nodes that share an engine, each with a journal, and a clock of all that the test sets forward. */
export class Site {
  readonly engine = new EngineDouble()
  readonly nodes: SiteNode[] = []
  /** What the API says of nodes. */
  readonly api = new Map<string, NodeState>()
  /** By which each of them says that it is reached. */
  addresses: readonly string[] = ['10.30.0.11']
  /** Milliseconds that went by. */
  clock = 1000 * minute

  async join(
    t: Test,
    name: string,
    terms: TakeoverTerms,
    { claim, ...options }: NodeEngineOptions & { readonly claim?: NodeClaim } = {},
  ): Promise<SiteNode> {
    const engine = this.engine.connect(options)
    const journal = join(t.testdir({}), `${name}.db`)
    const world = await openSharedLeases(t, engine, journal, {
      ...{ node: name, retryAfter: 10 },
      ...(claim && { claim }),
    })
    const { ledger } = world.service
    const presence = new NodePresence({
      service: { ledger, node: name, now: Date.now },
      terms: () => node.terms,
      addresses: () => Promise.resolve(this.addresses),
      version: '1.2.3',
      bootClock: () => this.clock,
      onError: () => undefined,
    })
    const heard = new HeardNodes({
      ledger,
      here: name,
      bootClock: () => this.clock,
      now: () => world.service.now(),
    })
    const { network } = world
    const onUplink = {
      ...network,
      survey: async (...args: Parameters<typeof network.survey>) => ({
        ...(await network.survey(...args)),
        uplink: sampleUplink,
      }),
    }
    const isForgotten = (other: string): boolean => ledger.node(other)?.gone !== undefined
    const service = {
      ...world.service,
      node: name,
      network: onUplink,
      contactAgeOf: (other: string) => presence.contactAgeOf(other),
      lastHeardOf: (other: string) => heard.ageOf(other),
      refusal: () => presence.refusal(),
      liveness: (attachment: Parameters<typeof attachmentLiveness>[0]) =>
        attachmentLiveness(
          attachment,
          name,
          'boot-1',
          other => this.api.get(other) ?? 'unknown',
          isForgotten,
        ),
      isForgotten,
    }
    const node: SiteNode = {
      name,
      world: Object.assign(world, { service }),
      engine,
      ledger,
      presence,
      terms,
      way: 'well',
    }
    t.teardown(() => presence.stop())
    this.nodes.push(node)
    await presence.start()
    return node
  }

  /** Changes the way between a node and its engine; resolves when the node has found that out. */
  async turn(node: SiteNode, way: SiteNode['way']): Promise<void> {
    node.engine.turn({ away: way === 'cut' ? 'refuses' : false, deaf: way === 'deaf' })
    node.way = way
    if (way === 'cut') await node.presence.wake()
    else await until('the engine is back', () => node.ledger.storeStatus()?.state === 'ready', 5000)
    await this.heard(node)
  }

  /** Minutes go by, in each of which every node of the list (default: all) tells of itself and looks at the others. */
  async pass(minutes: number, nodes: readonly SiteNode[] = this.nodes): Promise<void> {
    for (let passed = 0; passed < minutes; passed++) {
      this.clock += minute
      for (const { presence } of nodes) {
        await presence.wake()
        // What one has told reaches the others.
        for (const node of nodes) await this.heard(node)
      }
    }
  }

  /** Waits until a node knows of each node's record what the engine has, if it hears anything. */
  async heard({ ledger, way }: SiteNode): Promise<void> {
    if (way !== 'well') return
    for (const { name } of this.nodes) {
      const text = this.engine.get('node', name)?.text
      await until(
        `the record of ${name}`,
        () => JSON.stringify(ledger.node(name)) === JSON.stringify(text && JSON.parse(text)),
        5000,
      )
    }
  }
}
