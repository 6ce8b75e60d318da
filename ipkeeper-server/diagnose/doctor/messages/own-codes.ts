import { catalogue, problemRow, type ProblemCode } from '../../../../shared/problem/catalogue.ts'
import * as type from './advice.ts'
import type { Advice, Captures, KnownText, TextGroup } from './text-group.ts'

interface OwnText {
  /** As the runtime shows it, hint and code included; with `fixedText` without them. */
  readonly example: string
  /** Other texts of the same code. */
  readonly others?: readonly string[]
  /** What the hint of the code leaves unsaid: sentences. */
  readonly note?: string
  /** Of texts that carry no code. */
  readonly templates?: readonly [string, ...string[]]
  readonly mend: (captures: Captures) => readonly Advice[]
}

const ofConflist = (): readonly Advice[] => [type.lintAll]
const ofDaemon = (): readonly Advice[] => [type.showStatus, type.restartDaemon, type.daemonLog]
const ofDisk = (): readonly Advice[] => [type.freeSpace, type.doctor]
const ofPools = (captures: Captures): readonly Advice[] => [type.pools, type.explain(captures)]
const ofPod = (captures: Captures): readonly Advice[] => [type.explain(captures)]
const ofHolder = (captures: Captures): readonly Advice[] => [type.who(captures), type.leases]
const ofRun = (captures: Captures): readonly Advice[] => [type.flights(captures)]
const ofLinks = (captures: Captures): readonly Advice[] => [type.links, type.flights(captures)]

/** One example of each code; a code that is not here is known by its brackets, and shown with its summary. */
const ownTexts: Partial<Record<ProblemCode, OwnText>> = {
  IPK_VERSION_INCOMPATIBLE: {
    example:
      'plugin type="ipkeeper" failed (add): incompatible CNI versions; config is "1.2.0", plugin supports ["0.1.0" "0.2.0" "0.3.0" "0.3.1" "0.4.0" "1.0.0" "1.1.0"]',
    templates: [
      'incompatible CNI versions; config is',
      'incompatible CNI versions',
      'config version does not allow',
    ],
    mend: ofConflist,
  },
  IPK_ENVIRONMENT: {
    example: 'required env variables [CNI_NETNS,CNI_IFNAME] missing',
    templates: [
      'required env variables [',
      'invalid characters in containerID',
      'interface name is too long',
      'unknown CNI_COMMAND:',
    ],
    mend: captures => [type.flights(captures), type.tryConflist],
  },
  IPK_INPUT_UNREADABLE: {
    example: 'error reading from stdin: nothing came for 10 s',
    templates: ['error reading from stdin:'],
    mend: captures => [type.flights(captures), type.tryConflist],
  },
  IPK_NETWORK_NAME: {
    example: 'missing network name',
    templates: ['missing network name', 'invalid characters found in network name'],
    mend: ofConflist,
  },
  IPK_NETNS_IS_HOST: {
    example: "plugin's netns and netns from CNI_NETNS should not be the same",
    templates: ["plugin's netns and netns from CNI_NETNS should not be the same"],
    mend: ofRun,
  },
  IPK_UNSUPPORTED: {
    example: '"vlan": this kernel cannot filter VLANs: Operation not supported [IPK_UNSUPPORTED]',
    mend: ofConflist,
  },
  IPK_CONFIG_UNDECODABLE: {
    example:
      'error unmarshall network config: trailing comma before "}" at line 2 column 16; [IPK_CONFIG_UNDECODABLE]',
    mend: ofConflist,
  },
  IPK_CONFIG_INVALID: {
    example:
      'ipam: unknown key "fallbak"; did you mean "fallback"?; [IPK_CONFIG_INVALID, request 9dc703913ef1]',
    mend: ofConflist,
  },
  IPK_POOL_OVERLAP: {
    example:
      'the ranges of network other (10.22.1.1-10.22.1.254) overlap those of network fixed (10.22.0.1-10.22.255.254), which has leases; [IPK_POOL_OVERLAP, request 9dc703913ef1]',
    mend: () => [type.pools, type.lintAll],
  },
  IPK_POOLS_ORPHAN: {
    example: 'nothing of the file is put in force [IPK_POOLS_ORPHAN]',
    mend: () => [type.leases, type.checkConfiguration],
  },
  IPK_ARGS_INVALID: { example: 'ARGS: unknown args ["FOO=bar"]; [IPK_ARGS_INVALID]', mend: ofRun },
  IPK_DAEMON_UNREACHABLE: {
    example:
      'plugin type="bridge" failed (add): cannot reach ipkeeper-server on /run/ipkeeper/ipkeeper.sock: there is no such socket; systemctl restart ipkeeper, then see: ipkeeperctl status; [IPK_DAEMON_UNREACHABLE]',
    note: 'The daemon does not run, or listens on another socket, which a restart does not change. An ADD has tried for 10 s. If the socket file is deleted, the daemon recreates it.',
    mend: ofDaemon,
  },
  IPK_DAEMON_TIMEOUT: {
    example:
      'ipkeeper-server on /run/ipkeeper/ipkeeper.sock did not answer within 10 s; [IPK_DAEMON_TIMEOUT]',
    mend: ofDaemon,
  },
  IPK_DAEMON_REPLY_INVALID: {
    example:
      'ipkeeper-server on /run/ipkeeper/ipkeeper.sock broke off: the reply is cut off; [IPK_DAEMON_REPLY_INVALID]',
    mend: ofDaemon,
  },
  IPK_STATE_DIR_MISMATCH: {
    example:
      'state folders differ: the plugin uses /var/lib/ipkeeper, ipkeeper-server on /run/ipkeeper/ipkeeper.sock uses /run/srv; [IPK_STATE_DIR_MISMATCH]',
    others: [
      "state folders differ: /var/lib/ipkeeper is another folder for ipkeeper-server on /run/ipkeeper/ipkeeper.sock; is it mounted into the daemon's container?; [IPK_STATE_DIR_MISMATCH]",
    ],
    note: 'Where it asks for a mount, the daemon runs in a container that has the folder of the socket and not the state folder: mount that at the same path.',
    mend: () => [type.showStatus, type.lintAll],
  },
  IPK_INTERRUPTED: {
    example:
      'interrupted by SIGTERM before the outcome was known; nothing to do: the runtime will retry; [IPK_INTERRUPTED]',
    mend: ofRun,
  },
  IPK_NOT_AVAILABLE: {
    example:
      'cannot reach ipkeeper-server on /run/ipkeeper/ipkeeper.sock: nothing listens on the socket; [IPK_NOT_AVAILABLE]',
    mend: ofDaemon,
  },
  IPK_STORE_FAILED: {
    example:
      'store /var/lib/ipkeeper/leases.db: database or disk is full; [IPK_STORE_FAILED, request 9dc703913ef1]',
    others: [
      'the file system of /var/lib/ipkeeper is full (ENOSPC): pods are deleted, and none is added until there is room again (kept for DELs: 3.8 of 4.0 MiB); [IPK_STORE_FAILED, request 9dc703913ef1]',
      'state folder /var/lib/ipkeeper is in use by another ipkeeper-server [IPK_STORE_FAILED]',
    ],
    note: 'A full disk: docs/operations/full-disk.md. The same text reports a used up quota (EDQUOT), a read-only file system (EROFS) and a disk that fails (EIO). A daemon whose state folder is in use by another one does not start.',
    mend: ofDisk,
  },
  IPK_STORE_LOST: {
    example:
      'what is written to store /var/lib/ipkeeper/leases.db would be lost: /var/lib/ipkeeper/leases.db is gone; [IPK_STORE_LOST, request 9dc703913ef1]',
    mend: () => [type.rescue, type.doctor],
  },
  IPK_STORE_DAMAGED: {
    example:
      'store /var/lib/ipkeeper/leases.db is damaged: lease ["default","10.22.0.7"] does not match its checksum; [IPK_STORE_DAMAGED, request 9dc703913ef1]',
    mend: () => [type.rescue, type.doctor],
  },
  IPK_STORE_MISSING: {
    example:
      'store /var/lib/ipkeeper/leases.db is missing, and there was one: last-change.leases.db; [IPK_STORE_MISSING, request 9dc703913ef1]',
    mend: () => [type.daemonLog, type.doctor],
  },
  IPK_STORE_AWAY: {
    example:
      'etcd https://10.0.0.1:2379 has been unreachable for 130 s (connect ECONNREFUSED 10.0.0.1:2379): no new address can be assigned until it is back; [IPK_STORE_AWAY, request 9dc703913ef1]',
    mend: () => [type.showStatus, type.daemonLog],
  },
  IPK_STORE_INCOMPLETE: {
    example:
      'etcd https://10.0.0.1:2379 has lost records (it has gone back from revision 812 to 640: it was restored from a snapshot): no new address is assigned until they are restored; waiting for n3 to report what is in use there; [IPK_STORE_INCOMPLETE, request 9dc703913ef1]',
    mend: () => [
      type.awaitedNodes,
      { argv: ['ipkeeperctl', 'forget-node', 'NAME'], does: 'declares a node gone for good' },
    ],
  },
  IPK_TOO_FEW_ADDRESSES: {
    example:
      'admission webhook "pods.ipkeeper.io" denied the request: annotation ipkeeper.io/ip names 1 usable address for up to 2 pods (replicas 1, maxSurge 1) at once; a rollout can stall: list more, or set maxSurge 0 or strategy Recreate [IPK_TOO_FEW_ADDRESSES]; name an address for each pod',
    mend: () => [type.pools, type.leases],
  },
  IPK_STORE_CONFLICT: {
    example: 'the records changed three times meanwhile; [IPK_STORE_CONFLICT, request 9dc703913ef1]',
    mend: () => [type.showStatus, type.daemonLog],
  },
  IPK_HOLDER_LIVE: {
    example:
      '10.22.0.50 is still held by shop/web-0 (UID u1) on node vm in container 3f2a91c0d1e2; [IPK_HOLDER_LIVE, request 9dc703913ef1]',
    mend: captures => [type.who(captures), type.stopSandbox(captures), type.removeSandbox(captures)],
  },
  IPK_ADDRESS_KEPT: {
    example:
      'annotation ipkeeper.io/ip asks for 10.22.0.50, which is held by shop/keep on node vm (kept by retention since 2026-11-21T10:25:39Z); it comes free at 2026-11-21T10:55:39Z; [IPK_ADDRESS_KEPT, request 9dc703913ef1]',
    mend: captures => [
      type.who(captures),
      { argv: ['ipkeeperctl', 'release', captures.address ?? 'ADDRESS'], does: 'releases the address now' },
    ],
  },
  IPK_ADDRESS_HELD: {
    example:
      'annotation ipkeeper.io/ip asks for 10.22.0.50, which is held by shop/web-0 on node vm (container f4f538501ce9c, since 2026-11-21T10:28:23Z); [IPK_ADDRESS_HELD, request 9dc703913ef1]',
    others: [
      'annotation ipkeeper.io/ip asks for 10.22.0.50, which is held by shop/keep on node vm (kept by retention since 2026-11-21T10:25:39Z); it is not released automatically; [IPK_ADDRESS_HELD, request 9dc703913ef1]',
    ],
    note: 'To release an address that retention keeps forever: ipkeeperctl release ADDRESS.',
    mend: ofHolder,
  },
  IPK_ADDRESS_RESERVED: {
    example:
      'annotation ipkeeper.io/ip asks for 10.22.0.77, which is reserved for shop/db-0 (licence server); [IPK_ADDRESS_RESERVED, request 9dc703913ef1]',
    mend: captures => [type.who(captures), type.reservations],
  },
  IPK_ADDRESS_INVALID: {
    example:
      'annotation ipkeeper.io/ip: "10.22.0.256" is no IP address (value "10.22.0.256"); [IPK_ADDRESS_INVALID, request 9dc703913ef1]',
    mend: ofPod,
  },
  IPK_ADDRESS_OUTSIDE: {
    example:
      'annotation ipkeeper.io/ip asks for 192.0.2.7, which is outside every range of pool fixed (10.22.0.1-10.22.255.254); [IPK_ADDRESS_OUTSIDE, request 9dc703913ef1]',
    mend: ofPools,
  },
  IPK_ADDRESS_UNUSABLE: {
    example:
      'annotation ipkeeper.io/ip asks for 10.22.0.1, which is the gateway of 10.22.0.0/16; [IPK_ADDRESS_UNUSABLE, request 9dc703913ef1]',
    mend: ofPools,
  },
  IPK_PREFIX_MISMATCH: {
    example:
      'annotation ipkeeper.io/ip asks for 10.22.0.51/24, but the prefix length of its subnet is /16; [IPK_PREFIX_MISMATCH, request 9dc703913ef1]',
    mend: ofPod,
  },
  IPK_ANNOTATION_INVALID: {
    example:
      'unknown annotation ipkeeper.io/ipp; did you mean ipkeeper.io/ip?; [IPK_ANNOTATION_INVALID, request 9dc703913ef1]',
    mend: ofPod,
  },
  IPK_REQUESTS_DISAGREE: {
    example:
      'annotation ipkeeper.io/ip (10.22.0.51) and args.cni.ips (10.22.0.60) ask for different addresses; [IPK_REQUESTS_DISAGREE, request 9dc703913ef1]',
    mend: ofPod,
  },
  IPK_POOL_FULL: {
    example:
      'failed to allocate for range 0: no IP addresses available in range set: 10.99.0.2-10.99.0.3; pool fixed is full: 2 addresses, 2 in use, 0 kept or reserved; [IPK_POOL_FULL, request 9dc703913ef1]',
    mend: () => [type.pools, type.leases, type.audit],
  },
  IPK_POOL_DRAINING: {
    example:
      'annotation ipkeeper.io/ip asks for 10.22.0.50, which is in a range of pool prod that is draining: no new pod gets an address of it; [IPK_POOL_DRAINING, request 9dc703913ef1]',
    mend: () => [type.pools, type.leases],
  },
  IPK_ALREADY_ADDED: {
    example:
      'failed to allocate for range 0: 10.22.0.50 has been allocated to 3f2a91c0d1e2, duplicate allocation is not allowed; [IPK_ALREADY_ADDED, request 9dc703913ef1]',
    mend: captures => [type.flights(captures), type.attachments],
  },
  IPK_LEASE_MISSING: {
    example:
      'Failed to find address added by container 3f2a91c0d1e2; delete the pod so that it is recreated; [IPK_LEASE_MISSING, request 9dc703913ef1]',
    mend: captures => [type.leases, type.deletePod(captures)],
  },
  IPK_FAMILY_UNSUPPORTED: {
    example:
      'CNI version 0.2.0 does not support more than 1 address per family; [IPK_FAMILY_UNSUPPORTED, request 9dc703913ef1]',
    mend: ofConflist,
  },
  IPK_DEL_OVERTOOK: {
    example: 'a DEL of this attachment came meanwhile; [IPK_DEL_OVERTOOK, request 9dc703913ef1]',
    mend: ofRun,
  },
  IPK_NAMESPACE_REFUSED: {
    example:
      'pool prod: namespace shop may not use it; its namespaces are bank; [IPK_NAMESPACE_REFUSED, request 9dc703913ef1]',
    mend: ofPools,
  },
  IPK_POOL_UNKNOWN: {
    example:
      'annotation ipkeeper.io/pool asks for pool "prd", which does not exist; did you mean "prod"?; [IPK_POOL_UNKNOWN, request 9dc703913ef1]',
    mend: ofPools,
  },
  IPK_QUOTA: {
    example:
      'namespace shop may have 10 IPv4 addresses of pool prod, and has 10; [IPK_QUOTA, request 9dc703913ef1]',
    mend: () => [type.leases, type.pools],
  },
  IPK_ORDINAL_BEYOND_LIST: {
    example:
      'pod shop/web-3 has ordinal 3, but annotation ipkeeper.io/ips lists 3 addresses (10.22.0.60-10.22.0.62); [IPK_ORDINAL_BEYOND_LIST, request 9dc703913ef1]',
    mend: ofPod,
  },
  IPK_GATEWAY_MISMATCH: {
    example:
      'annotation ipkeeper.generals.space/gateway names gateway 172.16.91.3, but the pool has 172.16.91.2; [IPK_GATEWAY_MISMATCH, request 9dc703913ef1]',
    mend: ofPools,
  },
  IPK_CANDIDATES_BUSY: {
    example:
      'annotation ipkeeper.io/ips lists 10.22.0.70, 10.22.0.71, and both are taken; [IPK_CANDIDATES_BUSY, request 9dc703913ef1]',
    mend: captures => [type.who(captures), type.explain(captures), type.leases],
  },
  IPK_CANDIDATES_TAKEN: {
    example:
      'annotation ipkeeper.io/ips lists 10.22.0.70, 10.22.0.71, and both are taken; [IPK_CANDIDATES_TAKEN, request 9dc703913ef1]',
    mend: captures => [type.explain(captures), type.leases],
  },
  IPK_NODE_REFUSED: {
    example:
      'pool prod: it is not for node worker-2; its nodes are worker-1; [IPK_NODE_REFUSED, request 9dc703913ef1]',
    mend: ofPools,
  },
  IPK_STORE_ONE_NODE: {
    example:
      'pool prod: the cluster has other nodes, and the embedded store of node worker-1 does not know what they give; [IPK_STORE_ONE_NODE, request 9dc703913ef1]',
    mend: () => [type.showStatus, type.pools],
  },
  IPK_FACTS_MISSING: {
    example:
      'pool prod: the labels of namespace shop are not known; [IPK_FACTS_MISSING, request 9dc703913ef1]',
    mend: () => [type.showStatus, type.doctor],
  },
  IPK_DEL_NOT_QUEUED: {
    example: 'the DEL cannot be queued in /var/lib/ipkeeper/deferred-dels (ENOSPC); [IPK_DEL_NOT_QUEUED]',
    others: [
      'the DEL cannot be queued in /var/lib/ipkeeper: its file system does not answer; [IPK_DEL_NOT_QUEUED]',
    ],
    note: 'The pod stays Terminating, and the runtime retries. On a full disk (ENOSPC) the space that is kept there for some hundred DELs is used up: docs/operations/full-disk.md. A file system that does not answer is away or frozen, writes wait in the kernel, and the daemon may say nothing until it is back: findmnt -T /var/lib/ipkeeper, dmesg; if it is frozen: fsfreeze -u MOUNTPOINT.',
    mend: () => [type.freeSpace, type.restartDaemon],
  },
  IPK_ANSWER_UNMARKED: {
    example:
      'that this ADD is answered cannot be noted in /var/lib/ipkeeper/answered (ENOSPC); [IPK_ANSWER_UNMARKED]',
    others: [
      'that this ADD is answered cannot be noted in /var/lib/ipkeeper: its file system does not answer; [IPK_ANSWER_UNMARKED]',
      'ipkeeper-server was restarted and has undone this ADD, because its answer did not come; [IPK_ANSWER_UNMARKED]',
    ],
    note: 'After a restart of the daemon there is nothing to do: the plugin was delayed for seconds. For full disks and file systems that do not answer, see IPK_DEL_NOT_QUEUED.',
    mend: ofDisk,
  },
  IPK_FALLBACK_MISSING: {
    example: 'failed to find fallback plugin "dhcp" in path [/opt/cni/bin]; [IPK_FALLBACK_MISSING]',
    mend: captures => [type.pluginFile({ plugin: 'PLUGIN', ...captures }), type.lintAll],
  },
  IPK_FALLBACK_FAILED: {
    example: 'fallback dhcp: error dialing DHCP daemon; [IPK_FALLBACK_FAILED]',
    mend: captures => [type.flights(captures), type.tryConflist],
  },
  IPK_FALLBACK_CLASH: {
    example:
      'fallback host-local gave 10.22.0.50, but it is held by shop/web-0; [IPK_FALLBACK_CLASH, request 9dc703913ef1]',
    mend: captures => [type.who(captures), type.lintAll],
  },
  IPK_TOOL_MISSING: {
    example:
      'nft is not installed where ipkeeper-server runs; apt-get install nftables (or add it to the image of the daemon); [IPK_TOOL_MISSING, request 9dc703913ef1]',
    mend: () => [
      {
        argv: ['apt-get', 'install', 'iproute2', 'nftables', 'iputils-arping', 'util-linux'],
        does: 'installs what the daemon runs',
      },
      type.doctor,
    ],
  },
  IPK_WIRING_FAILED: {
    example:
      'ip -batch failed: RTNETLINK answers: Operation not permitted; [IPK_WIRING_FAILED, request 9dc703913ef1]',
    mend: ofLinks,
  },
  IPK_INTERFACE_EXISTS: {
    example: 'the pod already has an interface eth0; [IPK_INTERFACE_EXISTS, request 9dc703913ef1]',
    mend: captures => [type.flights(captures), type.lintAll],
  },
  IPK_LINK_CONFLICT: {
    example: '"bridge": cni0 exists, but is a dummy; [IPK_LINK_CONFLICT, request 9dc703913ef1]',
    mend: ofLinks,
  },
  IPK_ADDRESS_DUPLICATE: {
    example: '10.22.0.50 is answered for by 02:42:ac:11:00:02; [IPK_ADDRESS_DUPLICATE, request 9dc703913ef1]',
    mend: captures => [
      type.who(captures),
      { argv: ['ip', 'neighbour', 'show'], does: 'shows which MAC addresses the node knows' },
    ],
  },
  IPK_ADDRESS_OF_NODE: {
    example:
      'annotation ipkeeper.io/ip asks for 10.22.0.50, but node worker-1 has it itself, on link lo; [IPK_ADDRESS_OF_NODE, request 9dc703913ef1]',
    note: 'The node would answer for it. If the pod must have this address, remove it from the node.',
    mend: captures => [
      { argv: ['ip', 'address', 'show'], does: 'shows which addresses the node has' },
      type.explain(captures),
    ],
  },
  IPK_MAC_TAKEN: {
    example:
      'annotation ipkeeper.io/mac asks for 02:42:ac:11:00:02, which shop/web-0 on node worker-1 (container 3f2a91c0d1e2, since 2026-01-02T03:04:05Z) has; it comes free when that pod is deleted; [IPK_MAC_TAKEN, request 9dc703913ef1]',
    mend: captures => [type.explain(captures), type.leases],
  },
  IPK_MAC_BUSY: {
    example:
      'annotation ipkeeper.io/mac asks for 02:42:ac:11:00:02, which shop/web-7d4b9c6f5-x2x5z on node worker-1 (container 3f2a91c0d1e2, since 2026-01-02T03:04:05Z) has; it comes free when that pod is deleted; [IPK_MAC_BUSY, request 9dc703913ef1]',
    mend: captures => [type.explain(captures), type.leases],
  },
  IPK_MAC_REFUSED: {
    example:
      'pool prod: annotation ipkeeper.io/mac asks for a MAC, which its pods may not choose; [IPK_MAC_REFUSED, request 9dc703913ef1]',
    mend: ofPools,
  },
  IPK_WIRING_DIFFERS: {
    example: 'eth0 has not the address 10.22.0.50/16; [IPK_WIRING_DIFFERS, request 9dc703913ef1]',
    mend: captures => [type.deletePod(captures), type.flights(captures)],
  },
  IPK_NETNS_INVALID: {
    example:
      'CNI_NETNS /var/run/netns/cni-0f1e2d3c is no network namespace; [IPK_NETNS_INVALID, request 9dc703913ef1]',
    mend: captures => [type.doctor, type.flights(captures)],
  },
  IPK_UPLINK_UNKNOWN: {
    example: 'no uplink was made a port of a bridge br0 by ipkeeper [IPK_UPLINK_UNKNOWN]',
    mend: () => [type.uplinks],
  },
  IPK_UPLINK_IN_USE: {
    example: 'bridge br0 has 3 other ports [IPK_UPLINK_IN_USE]',
    mend: () => [type.uplinks, type.attachments],
  },
  IPK_RESERVATION_MISSING: {
    example: 'error: 10.22.0.77 is not reserved [IPK_RESERVATION_MISSING]',
    mend: () => [type.reservations],
  },
  IPK_NODE_UNKNOWN: {
    example: 'error: no node n33 is known; there are n1, n2 and n3 [IPK_NODE_UNKNOWN]',
    mend: () => [type.nodes],
  },
  IPK_NODE_LIVES: {
    example:
      'error: node n3 is running: its daemon answered (ID 3f2a91c0d1e2 since 2026-11-02T08:00:00Z) [IPK_NODE_LIVES]',
    mend: () => [type.awaitedNodes],
  },
  IPK_NODE_MAY_RUN: {
    example:
      'error: node n3 may still run: 0a:58:0a:16:00:32 on the network answers for 10.22.0.50 [IPK_NODE_MAY_RUN]',
    mend: () => [type.nodes],
  },
  IPK_ADDRESS_FREE: { example: 'error: nobody has 10.22.0.77 [IPK_ADDRESS_FREE]', mend: ofHolder },
  IPK_REQUEST_INVALID: {
    example: 'error: request refused: address is missing in the body [IPK_REQUEST_INVALID]',
    mend: () => [type.showStatus],
  },
  IPK_BUSY: {
    example: 'error: 64 others wait for a map of a pool already [IPK_BUSY]',
    mend: () => [type.showStatus],
  },
  IPK_POD_UNKNOWN: {
    example: 'error: the Kubernetes API has no pod shop/web-9 [IPK_POD_UNKNOWN]',
    mend: () => [
      { argv: ['kubectl', 'get', 'pods', '--all-namespaces'], does: 'shows which pods there are' },
    ],
  },
  IPK_ROUTE_UNKNOWN: {
    example: 'error: no GET /v1/lint [IPK_ROUTE_UNKNOWN]',
    mend: () => [type.showStatus, type.doctor],
  },
  IPK_DAEMON_CONFIG: {
    example:
      'error: /etc/ipkeeper/config.yaml:3:5: unknown key "pols"; did you mean "pools"? [IPK_DAEMON_CONFIG]',
    mend: () => [type.checkConfiguration],
  },
  IPK_CONFIG_COPY: {
    example: 'the copy of the last good configuration cannot be used: it is damaged [IPK_CONFIG_COPY]',
    note: 'The daemon keeps what is in force in its state folder, for a start whose configuration file is refused. A copy that is not as it was written is not used.',
    mend: () => [type.checkConfiguration, type.showStatus],
  },
  IPK_SOCKET_IN_USE: {
    example: 'error: another daemon answers on /run/ipkeeper/ipkeeper.sock [IPK_SOCKET_IN_USE]',
    mend: () => [type.showStatus],
  },
  IPK_SOCKET_FAILED: {
    example: 'error: cannot listen on /run/ipkeeper/ipkeeper.sock (EACCES) [IPK_SOCKET_FAILED]',
    mend: () => [type.doctor],
  },
  IPK_USAGE: {
    example: 'error: unknown command "leses"; did you mean leases? [IPK_USAGE]',
    mend: () => [{ argv: ['ipkeeperctl', '--help'], does: 'lists the commands' }],
  },
  IPK_FLIGHTS_UNREADABLE: {
    example: 'error: there is no state folder /var/lib/ipkeeper [IPK_FLIGHTS_UNREADABLE]',
    mend: () => [type.doctor],
  },
  IPK_IMPORT_SOURCE: {
    example:
      'error: the Kubernetes API serves no ippools of whereabouts.cni.cncf.io/v1alpha1 [IPK_IMPORT_SOURCE]',
    mend: () => [
      {
        argv: ['ipkeeperctl', 'import', 'host-local'],
        does: 'shows what can be imported from this node itself',
      },
    ],
  },
  IPK_BACKUP_INVALID: {
    example: 'error: /root/ledger.ipkeeper: it ends before its last line [IPK_BACKUP_INVALID]',
    mend: () => [{ argv: ['ipkeeperctl', 'backup', 'FILE'], does: 'writes a new backup' }],
  },
  IPK_STORE_OCCUPIED: {
    example:
      'error: store /var/lib/ipkeeper/leases.db has 12 records that are not those of the backup [IPK_STORE_OCCUPIED]',
    mend: () => [type.showStatus, type.leases],
  },
  IPK_KUBERNETES_CONFIG: {
    example:
      'error: KUBERNETES_SERVICE_HOST is not set, so this is no pod of a cluster [IPK_KUBERNETES_CONFIG]',
    mend: () => [type.checkConfiguration],
  },
  IPK_INSTALL_FAILED: {
    example:
      'error: /opt/cni/bin/ipkeeper was not installed: EROFS: read-only file system [IPK_INSTALL_FAILED]',
    mend: () => [type.lintAll, type.doctor],
  },
  IPK_UNINSTALL_REFUSED: {
    example: 'error: /opt/cni/bin/ipkeeper stays: 3 sandboxes need it to be ended [IPK_UNINSTALL_REFUSED]',
    mend: () => [type.attachments, type.doctor],
  },
  IPK_INTERNAL: {
    example: 'internal error: an ADD without an offer; [IPK_INTERNAL, request 9dc703913ef1]',
    mend: captures => [type.daemonLog, type.flights(captures)],
  },
}

/** Brackets and all: a row of a code whose text says nothing by itself. */
function ownText(code: ProblemCode): KnownText {
  const { summary, hint, retryable } = problemRow(code)
  const own: OwnText = ownTexts[code] ?? {
    example: `error: ${summary} [${code}]`,
    mend: captures => [type.flights(captures), type.doctor],
  }
  const { example, others = [], note, templates, mend } = own
  const next = `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`
  return {
    id: code,
    examples: [example, ...others],
    templates: templates ?? [`[${code}]`, `[${code}, request`, code],
    means: summary,
    why: note === undefined ? next : `${next} ${note}`,
    affects: `ipkeeper; ${retryable ? 'waiting can help' : 'waiting does not help'}`,
    mend,
    source: `docs/reference/errors.generated.md#${code.toLowerCase()}`,
  }
}

const deferredDel: KnownText = {
  id: 'del-queued',
  examples: [
    'ipkeeper: the DEL of 3f2a91c0d1e2 is queued in /var/lib/ipkeeper: cannot reach ipkeeper-server on /run/ipkeeper/ipkeeper.sock: there is no such socket',
  ],
  templates: ['the DEL of <containerId> is queued in'],
  means: 'The daemon was not running. The DEL has succeeded, and takes effect when the daemon is back.',
  why: 'There is nothing to do, unless the daemon stays away.',
  affects: 'ipkeeper; the text is in the log of the runtime',
  mend: ofDaemon,
  source: 'docs/adr/0010-a-queue-without-a-lock.md',
}

export const ownCodes: TextGroup = {
  title: 'ipkeeper says it',
  texts: [...(Object.keys(catalogue) as ProblemCode[]).map(ownText), deferredDel],
}
