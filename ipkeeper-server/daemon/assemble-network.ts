import { describeHolder, type AttachmentRecord, type LeaseRecord } from '../ipam/records/records.ts'
import { Ledger } from '../leases/ledger/ledger.ts'
import { gatewayFacts } from '../leases/queries/gateway-facts.ts'
import { BridgeGateways } from '../network/node/bridge-gateways.ts'
import { GatewayRecords } from '../network/node/gateway-records.ts'
import { HostView } from '../network/node/host-view.ts'
import { IpMonitor } from '../network/node/ip-monitor.ts'
import { LinkWatch } from '../network/node/link-watch.ts'
import type { NewsListener, NewsMonitor } from '../network/node/news-monitor.ts'
import { UplinkBridges } from '../network/node/uplink-bridges.ts'
import type { GatewayFacts } from '../network/plan/bridge-addresses.ts'
import { loadRouteSockets } from '../network/netlink/load-route-sockets.ts'
import { NetlinkMonitor } from '../network/netlink/netlink-monitor.ts'
import { netlinkTool } from '../network/netlink/netlink-tool.ts'
import { SharedSockets } from '../network/netlink/shared-sockets.ts'
import { PodWirer, type PodWirerOptions } from '../network/pod-wirer.ts'
import { runTool } from '../network/run-tool.ts'
import { FalseAnswers } from '../reconcile/false-answers.ts'
import type { DaemonFrame } from './daemon-frame.ts'

export interface NetworkOptions {
  readonly ledger: Ledger
  /** The name of this node. */
  readonly here: string
  readonly bootId: string
  /** A pod of this node was wired. */
  readonly onWired: () => void
}

export interface AssembledNetwork {
  readonly links: LinkWatch
  readonly uplinks: UplinkBridges
  readonly gateways: BridgeGateways
  readonly network: PodWirer
  /** Pods that answered for addresses that they do not have. */
  readonly falseAnswers: FalseAnswers
}

/** What follows and changes the kernel's network: links, uplinks, pods. */
export function assembleNetwork(frame: DaemonFrame, options: NetworkOptions): AssembledNetwork {
  const { clock, stateDir, logger, stops } = frame
  const { ledger, here, bootId, onWired } = options
  const facts = gatewayFacts({ ledger, node: here, bootId })
  const netlink = sharedSockets(frame)
  const { links, host, records, gateways } = assembleBridges(
    { stateDir, logger, stops },
    { here, bootId, facts, netlink },
  )
  const wiring = {
    run: runTool,
    host,
    linksWithMac: async (mac: string): Promise<readonly string[]> => (await links.now()).withMac(mac),
    node: here,
    bootId,
    subnetsOf: (pool: string) => (ledger.pool(pool)?.ranges ?? []).flat().map(({ subnet }) => subnet),
    attachments: function* (): Iterable<readonly [AttachmentRecord, readonly LeaseRecord[]]> {
      for (const attachment of ledger.wiredAttachments()) yield [attachment, ledger.leasesOf(attachment)]
    },
  }
  const uplinks = new UplinkBridges({
    ...wiring,
    stateDir,
    // The pool of one that ipkeeper put there may be gone.
    isGateway: address => facts.isGateway(address) || records.has(address),
    now: clock.now,
    monotonic: clock.monotonic,
    onChange: (what, { bridge, uplink, moved }) => {
      const [addresses, routes] = [moved.addresses.length, moved.routes.length]
      logger.info({ bridge, uplink, addresses, routes }, `uplink ${what}`)
    },
    onProblem: (bridge, error) => {
      logger.error({ bridge, err: error }, 'an uplink could not be restored to the host; retrying')
    },
  })
  const falseAnswers = new FalseAnswers(() => performance.now())
  const network = new PodWirer({
    ...wiring,
    run: netlink ? netlinkTool({ run: runTool, netlink }) : runTool,
    ...{ uplinks, gateways, gatewayFacts: facts },
    monotonic: clock.monotonic,
    onWired,
    ...tellsOfPods(frame, falseAnswers),
  })
  stops.network.defer(() => network.idle())
  return { links, uplinks, gateways, network, falseAnswers }
}

/** Netlink in this process, unless the environment says otherwise. */
function sharedSockets({
  stateDir,
  logger,
}: Pick<DaemonFrame, 'stateDir' | 'logger'>): SharedSockets | undefined {
  if (process.env['IPK_NETLINK'] === 'off') return undefined
  return new SharedSockets({
    load: () => loadRouteSockets(stateDir),
    onLeftToIp: error => {
      logger.warn(
        { err: error },
        'netlink cannot be used; pods are wired and links are watched by ip, which takes longer',
      )
    },
  })
}

async function openMonitor(netlink: SharedSockets | undefined, listener: NewsListener): Promise<NewsMonitor> {
  const sockets = await netlink?.get()
  if (!netlink || !sockets) return new IpMonitor(listener)
  const leave = (error: unknown): void => {
    netlink.leave(error)
  }
  try {
    return new NetlinkMonitor(sockets, leave, listener)
  } catch (error) {
    leave(error)
    return new IpMonitor(listener)
  }
}

/** What is logged and counted of the wiring of pods. */
function tellsOfPods(
  { logger, registry }: Pick<DaemonFrame, 'logger' | 'registry'>,
  falseAnswers: FalseAnswers,
): Pick<PodWirerOptions, 'onUnguarded' | 'onFalseAnswer' | 'onProblem'> {
  return {
    onUnguarded: error => {
      logger.warn(
        { err: error },
        'pods of this node cannot be kept from answering the address probes of others',
      )
    },
    onFalseAnswer: ({ attachment, addresses, askedFor }) => {
      registry.count('ipkeeper_false_answers_total')
      // The first time; what goes on is a finding, and in the figures.
      const { holder, containerId, ifname, wiring } = attachment
      const link = wiring?.hostLink?.name
      if (falseAnswers.note(attachment, addresses) > 1) return
      logger.warn(
        {
          holder: describeHolder(holder),
          containerId,
          ifname,
          link,
          addresses,
          askedFor: askedFor.containerId,
        },
        'a pod answered for addresses that it was not given; the answers were ignored',
      )
    },
    onProblem: error => {
      logger.warn(
        { err: error },
        'addresses that are no longer in use could not be removed from the nft table; retrying',
      )
    },
  }
}

/** What follows the links of the node, and the addresses that its bridges have. */
function assembleBridges(
  { stateDir, logger, stops }: Pick<DaemonFrame, 'stateDir' | 'logger' | 'stops'>,
  {
    here,
    bootId,
    facts,
    netlink,
  }: Pick<NetworkOptions, 'here' | 'bootId'> & {
    readonly facts: GatewayFacts
    readonly netlink: SharedSockets | undefined
  },
) {
  const onProblem = (error: unknown): void => {
    logger.warn({ err: error }, 'which addresses of bridges ipkeeper added cannot be recorded')
  }
  const records = new GatewayRecords({ stateDir, bootId, onProblem })
  const links = new LinkWatch({
    run: runTool,
    openMonitor: listener => openMonitor(netlink, listener),
    onTrouble: why => {
      if (why !== undefined) {
        logger.warn(
          { reason: why },
          'links and addresses of the node are read for each ADD, since they cannot be watched',
        )
        return
      }
      logger.info('links and addresses of the node are watched again')
      void gateways.compare()
    },
    onAddressGone: ({ link, cidr }) => {
      gateways.gone(link, cidr)
      // Somebody may have removed what was in the way.
      host.forget(link)
    },
  })
  const host = new HostView(runTool, here, () => performance.now(), {
    portsOf: async bridge => (await links.now()).portsOf(bridge),
    gatewaysOf: bridge => records.of(bridge),
  })
  const gateways = new BridgeGateways({
    run: runTool,
    ...{ records, facts, onProblem },
    addressesOf: async bridge => (await links.now()).addressesOf(bridge),
    onRemoved: (bridge, addresses) => {
      host.forget(bridge)
      logger.info({ bridge, addresses }, 'gateways that no pod uses any more were taken from their bridge')
    },
  })
  stops.network.defer(() => records.idle())
  stops.network.defer(() => {
    links.stop()
  })
  return { links, host, records, gateways }
}
