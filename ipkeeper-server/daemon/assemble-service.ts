import type { NodeState } from '../kubernetes/cluster-view.ts'
import type { Cluster } from '../kubernetes/cluster.ts'
import type { NameClaims } from '../leases/tasks/name-claims.ts'
import { RecentAnswers, Tombstones } from '../leases/verbs/recent-verbs.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import { Serial } from '../leases/verbs/turns.ts'
import { attachmentLiveness, lostNode } from '../network/pod/attachment-liveness.ts'
import { whoAnswers } from '../network/node/link-answers.ts'
import { runTool } from '../network/run-tool.ts'
import type { OpenedLedger, StateFolder } from './assemble-ledger.ts'
import type { AssembledNetwork } from './assemble-network.ts'
import type { DaemonFrame } from './daemon-frame.ts'
import type { NodeMesh } from './node-mesh.ts'
import type { SettingsInForce } from './settings-in-force.ts'

export interface ServiceOptions {
  readonly folder: StateFolder
  readonly opened: OpenedLedger
  readonly claims: NameClaims | undefined
  /** The name of this node. */
  readonly here: string
  readonly settings: SettingsInForce
  readonly network: AssembledNetwork
  /** undefined where no API is configured. */
  readonly cluster: Cluster | undefined
  /** undefined where one daemon has the store to itself. */
  readonly mesh: NodeMesh | undefined
  readonly wasAnswered: LeaseService['wasAnswered']
  readonly useSamples: NonNullable<LeaseService['useSamples']>
}

/** What the verbs work with. */
export function assembleService({ clock, stops }: DaemonFrame, options: ServiceOptions): LeaseService {
  const { folder, opened, claims, here, settings, cluster, mesh, wasAnswered, useSamples } = options
  const { kept, bootId } = folder
  const { ledger, openedAt } = opened
  const { links, network } = options.network
  const nodeState = (name: string): NodeState => cluster?.view.node(name) ?? 'unknown'
  const isForgotten = (name: string): boolean => ledger.node(name)?.gone !== undefined
  const serial = new Serial()
  stops.verbs.defer(() => serial.idle())
  return {
    ...{ ledger, node: here, bootId, now: clock.now },
    network,
    answersOnLink: async addresses => {
      const asked = await Promise.all(
        addresses.map(async address => ({ address, mac: await whoAnswers(runTool, address) })),
      )
      return asked.flatMap(({ address, mac }) => (mac === undefined ? [] : [{ address, mac }]))
    },
    ownAddresses: async () => (await links.now()).own,
    pools: () => settings.terms().pools,
    ownerOf: (holder, uid) =>
      holder.kind === 'pod'
        ? cluster?.view.pod({ namespace: holder.namespace, name: holder.name, uid })?.owner
        : undefined,
    serial,
    tombstones: new Tombstones(),
    answers: new RecentAnswers(),
    ...{ wasAnswered, useSamples },
    monotonic: clock.monotonic,
    openedAt,
    isOurs: () => claims?.isSure() !== false,
    ...(mesh && { contactAgeOf: mesh.contactAgeOf, lastHeardOf: mesh.lastHeardOf }),
    ...(opened.store.shared?.history && { history: opened.store.shared.history }),
    refusal: () => mesh?.refusal() ?? kept.refusal(),
    liveness: attachment => attachmentLiveness(attachment, here, bootId, nodeState, isForgotten),
    lostNode: cluster ? name => lostNode(nodeState(name)) : null,
    isForgotten,
  }
}
