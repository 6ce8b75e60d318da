/**
 * Every problem ipkeeper can report: the one place that fixes code, CNI code, HTTP status, whether waiting helps, and
 * the default hint. docs/reference/errors.generated.md is made from these rows.
 *
 * `cniCode` follows the CNI specification: 1-8 and 11 as defined there, 50/51 for STATUS, 100 and up are ours.
 * `fixedText` marks rows whose message and details are worded by the reference library and matched by its users; the
 * hint then stays out of the CNI error document.
 */
export interface ProblemRow {
  readonly cniCode: number
  readonly httpStatus: number
  readonly retryable: boolean
  readonly fixedText?: true
  readonly summary: string
  readonly hint: string
}

export const catalogue = {
  IPK_VERSION_INCOMPATIBLE: {
    cniCode: 1,
    httpStatus: 400,
    retryable: false,
    fixedText: true,
    summary: 'The configuration asks for a CNI version, or for a verb that its version does not have.',
    hint: 'set "cniVersion" to one of the versions that `CNI_COMMAND=VERSION ipkeeper` prints',
  },
  IPK_UNSUPPORTED: {
    cniCode: 2,
    httpStatus: 400,
    retryable: false,
    summary: 'A field is understood, but this version of ipkeeper cannot do what it asks.',
    hint: 'remove the field, or upgrade ipkeeper',
  },
  IPK_ENVIRONMENT: {
    cniCode: 4,
    httpStatus: 400,
    retryable: false,
    fixedText: true,
    summary: 'A CNI_* environment variable is missing or not valid.',
    hint: 'the runtime sets these; when running by hand, see docs/operations/running-by-hand.md',
  },
  IPK_INPUT_UNREADABLE: {
    cniCode: 5,
    httpStatus: 400,
    retryable: false,
    fixedText: true,
    summary: 'The network configuration could not be read from stdin.',
    hint: 'pass the configuration of one plugin as JSON on stdin',
  },
  IPK_CONFIG_UNDECODABLE: {
    cniCode: 6,
    httpStatus: 400,
    retryable: false,
    summary: 'The network configuration is not one JSON object, or its name or version is not a string.',
    hint: 'correct the file in /etc/cni/net.d; line and column are those of stdin, which the runtime makes from that file',
  },
  IPK_NETWORK_NAME: {
    cniCode: 7,
    httpStatus: 400,
    retryable: false,
    fixedText: true,
    summary: 'The network name is missing or not valid.',
    hint: 'give the conflist a "name" of letters, digits, "_", "." and "-"',
  },
  IPK_CONFIG_INVALID: {
    cniCode: 7,
    httpStatus: 400,
    retryable: false,
    summary: 'The network configuration decodes but is not valid, or a value has the wrong type.',
    hint: 'correct the conflist in /etc/cni/net.d at the key that the message names',
  },
  IPK_POOL_OVERLAP: {
    cniCode: 7,
    httpStatus: 409,
    retryable: false,
    summary: 'The ranges overlap those of another pool of the same segment that has leases.',
    hint: 'to share the addresses, name that pool in the network ("pool" in "ipam", without ranges); else use disjoint ranges, or another "ipam.segment" if the two really are separate L2/L3 domains',
  },
  IPK_POOLS_ORPHAN: {
    cniCode: 7,
    httpStatus: 409,
    retryable: false,
    summary:
      "A change of the daemon's pools would leave addresses in use outside of them; the pools stay as they were.",
    hint: 'keep these addresses in the ranges of their pool; or delete their pods (see: ipkeeperctl leases), release what is kept (ipkeeperctl release --pool POOL), then: systemctl reload-or-restart ipkeeper',
  },
  IPK_ARGS_INVALID: {
    cniCode: 7,
    httpStatus: 400,
    retryable: false,
    summary:
      'CNI_ARGS cannot be parsed, names an unknown key without IgnoreUnknown, or names a Nomad allocation in a way that cannot be believed.',
    hint: 'CNI_ARGS is KEY=VALUE pairs joined by ";"; add IgnoreUnknown=1 when it carries keys of other plugins',
  },
  IPK_NETNS_IS_HOST: {
    cniCode: 8,
    httpStatus: 400,
    retryable: false,
    fixedText: true,
    summary: 'CNI_NETNS is the network namespace the plugin itself runs in.',
    hint: 'pods with hostNetwork need no CNI call; otherwise name the namespace of the container',
  },
  IPK_DAEMON_UNREACHABLE: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary: 'The daemon does not answer on its socket.',
    hint: 'systemctl restart ipkeeper, then see: ipkeeperctl status',
  },
  IPK_DAEMON_TIMEOUT: {
    cniCode: 11,
    httpStatus: 504,
    retryable: true,
    summary: 'The daemon took the request but did not answer in time.',
    hint: 'look at the log of ipkeeper-server; the timeout is "ipam.timeout" in the conflist (seconds)',
  },
  IPK_DAEMON_REPLY_INVALID: {
    cniCode: 11,
    httpStatus: 502,
    retryable: true,
    summary: 'What answered on the socket is not a reply of ipkeeper-server, or only part of one.',
    hint: "check that ipkeeper and ipkeeper-server are of the same version and that the socket is the daemon's own",
  },
  IPK_STATE_DIR_MISMATCH: {
    cniCode: 7,
    httpStatus: 409,
    retryable: false,
    summary: 'Plugin and daemon use different state folders.',
    hint: 'set "stateDir" in the conflist, or --state-dir of the daemon, so that both name the same folder',
  },
  IPK_INTERRUPTED: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary: 'The plugin was stopped before the outcome was known; an ADD in progress is undone.',
    hint: 'nothing to do: the runtime will retry',
  },
  IPK_NOT_AVAILABLE: {
    cniCode: 50,
    httpStatus: 503,
    retryable: true,
    summary: 'STATUS: an ADD could not be served now.',
    hint: 'systemctl restart ipkeeper, then see: ipkeeperctl status',
  },
  IPK_FILE_HANGS: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary:
      'A file that a request or its configuration names does not answer, because its file system hangs; nothing was done.',
    hint: 'see which file system it is on: cat /proc/mounts; repair it, or unmount it: umount -l MOUNTPOINT',
  },
  IPK_STORE_FAILED: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary: 'The store of leases could not write or read; nothing was changed.',
    hint: 'check disk space and permissions of the state folder',
  },
  IPK_STORE_AWAY: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary:
      'The engine that the nodes share leases in cannot be reached, and the request could conflict with a change of another node.',
    hint: 'restore the connection to the engine; pods that have their address on this node keep running. See: ipkeeperctl status',
  },
  IPK_STORE_INCOMPLETE: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary:
      'The engine that the nodes share leases in has lost records, and not every node has reported again what it holds: an address that looks free may be in use.',
    hint: 'see which nodes it waits for: ipkeeperctl status; start their daemons; for a node that is gone for good: ipkeeperctl forget-node NAME',
  },
  IPK_STORE_LOST: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary:
      'The ledger file was removed, replaced or truncated while the daemon runs: what is written now would be lost.',
    hint: 'nothing is lost while the daemon runs, so do not restart it: ipkeeperctl rescue',
  },
  IPK_STORE_DAMAGED: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary: 'The ledger file does not have what was written to it; an address in use could look free.',
    hint: 'restore a backup, or save what can be read: ipkeeperctl rescue; see docs/operations/rescue.md',
  },
  IPK_STORE_MISSING: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary:
      'There is no ledger, although this node shows that there was one; in a new one, addresses in use would look free.',
    hint: 'put the file back, or restore a backup: ipkeeperctl restore FILE; see docs/operations/rescue.md',
  },
  IPK_NODE_NAME_TAKEN: {
    cniCode: 11,
    httpStatus: 409,
    retryable: true,
    summary:
      'Another running machine has claimed the name of this node in the store that nodes share, or uses a copy of its state folder.',
    hint: 'give each machine a name ("node" in the configuration) and a state folder of its own: docs/operations/node-identity.md',
  },
  IPK_STORE_CONFLICT: {
    cniCode: 11,
    httpStatus: 409,
    retryable: true,
    summary: 'Another writer changed the same records first, repeatedly.',
    hint: 'retry; if it persists, look for a second daemon on the same store',
  },
  IPK_HOLDER_LIVE: {
    cniCode: 11,
    httpStatus: 409,
    retryable: true,
    summary: 'The address belongs to this pod name, but an older pod of that name still runs with it.',
    hint: 'wait until the old pod has stopped; for a Deployment set strategy Recreate or maxSurge 0',
  },
  IPK_ADDRESS_KEPT: {
    cniCode: 11,
    httpStatus: 409,
    retryable: true,
    summary: 'The address is kept for its holder until a known time.',
    hint: 'wait until then, or choose another address; see: ipkeeperctl leases',
  },
  IPK_ADDRESS_HELD: {
    cniCode: 101,
    httpStatus: 409,
    retryable: false,
    summary: 'The requested address belongs to another holder.',
    hint: 'choose another address or delete the holder; see: ipkeeperctl leases',
  },
  IPK_ADDRESS_RESERVED: {
    cniCode: 102,
    httpStatus: 409,
    retryable: false,
    summary: 'The requested address is reserved for another holder.',
    hint: 'choose another address; see: ipkeeperctl reservations',
  },
  IPK_ADDRESS_INVALID: {
    cniCode: 103,
    httpStatus: 400,
    retryable: false,
    summary: 'A requested value is not an IP address.',
    hint: 'write an address such as 10.22.0.50, or one per family: 10.22.0.50,fd00:22::50',
  },
  IPK_ADDRESS_OUTSIDE: {
    cniCode: 104,
    httpStatus: 400,
    retryable: false,
    summary: 'A requested address is outside every range of the network.',
    hint: 'choose an address inside the ranges; see: ipkeeperctl pools',
  },
  IPK_ADDRESS_UNUSABLE: {
    cniCode: 105,
    httpStatus: 400,
    retryable: false,
    summary: 'A requested address is the network, broadcast or gateway address, or excluded.',
    hint: 'choose another address inside the ranges; see: ipkeeperctl pools',
  },
  IPK_PREFIX_MISMATCH: {
    cniCode: 106,
    httpStatus: 400,
    retryable: false,
    summary: 'A requested address names a prefix length that is not the one of its subnet.',
    hint: 'remove the "/prefix": the pool knows it',
  },
  IPK_ANNOTATION_INVALID: {
    cniCode: 107,
    httpStatus: 400,
    retryable: false,
    summary: 'An annotation that asks for addresses is unknown, empty or has no valid value.',
    hint: 'correct the annotation; the keys are ipkeeper.io/ip, ipkeeper.io/ips, ipkeeper.io/pool, ipkeeper.io/retain and ipkeeper.io/mac, each also with ".IFNAME"',
  },
  IPK_REQUESTS_DISAGREE: {
    cniCode: 108,
    httpStatus: 400,
    retryable: false,
    summary:
      'Two channels or annotations ask for different addresses of one family, or for other things that differ.',
    hint: 'ask in one place only',
  },
  IPK_POOL_FULL: {
    cniCode: 109,
    httpStatus: 409,
    retryable: true,
    summary: 'No address of a range set is free.',
    hint: 'enlarge the ranges or free addresses; see: ipkeeperctl pools, ipkeeperctl leases',
  },
  IPK_POOL_DRAINING: {
    cniCode: 182,
    httpStatus: 409,
    retryable: false,
    summary: 'No new pod gets an address of this range, since it is being emptied.',
    hint: 'use another pool or range, or take "draining" out of this one; who still has addresses: ipkeeperctl leases',
  },
  IPK_ALREADY_ADDED: {
    cniCode: 110,
    httpStatus: 409,
    retryable: false,
    summary:
      'This interface of this container already has an address; a second ADD without a DEL is an error.',
    hint: 'the runtime has to send DEL before it sends ADD again',
  },
  IPK_LEASE_MISSING: {
    cniCode: 111,
    httpStatus: 404,
    retryable: false,
    summary:
      'CHECK: no lease is recorded for this interface of this container, or not the one the runtime knows.',
    hint: 'delete the pod so that it is recreated; see: ipkeeperctl leases',
  },
  IPK_FAMILY_UNSUPPORTED: {
    cniCode: 112,
    httpStatus: 400,
    retryable: false,
    summary: 'The configured CNI version cannot express the result.',
    hint: 'set "cniVersion" to 0.3.1 or later',
  },
  IPK_DEL_OVERTOOK: {
    cniCode: 113,
    httpStatus: 409,
    retryable: false,
    summary: 'A DEL of this attachment came while or after this ADD began; the ADD is void.',
    hint: 'nothing to do: the runtime has given up this sandbox',
  },
  IPK_NAMESPACE_REFUSED: {
    cniCode: 131,
    httpStatus: 403,
    retryable: false,
    summary: 'The rules of the pool do not allow the namespace of the pod.',
    hint: 'use another pool, or allow the namespace in the "namespaces" of the pool; see: ipkeeperctl pools',
  },
  IPK_POOL_UNKNOWN: {
    cniCode: 132,
    httpStatus: 400,
    retryable: false,
    summary: 'The requested pool does not exist.',
    hint: "name a pool of the daemon's configuration; see: ipkeeperctl pools",
  },
  IPK_QUOTA: {
    cniCode: 133,
    httpStatus: 409,
    retryable: true,
    summary: 'The namespace has as many addresses of the pool as it may have, kept ones included.',
    hint: 'delete a pod or release a kept address, or raise "quotaPerNamespace" of the pool; see: ipkeeperctl leases',
  },
  IPK_ORDINAL_BEYOND_LIST: {
    cniCode: 134,
    httpStatus: 400,
    retryable: false,
    summary: "The ordinal of a StatefulSet's pod is beyond the list of its candidates.",
    hint: 'list one address per replica, in the order of the ordinals',
  },
  IPK_GATEWAY_MISMATCH: {
    cniCode: 135,
    httpStatus: 400,
    retryable: false,
    summary: 'An annotation names a gateway that is not the one of the pool.',
    hint: 'remove the gateway annotation, or correct the "gateway" of the pool; see: ipkeeperctl pools',
  },
  IPK_CANDIDATES_BUSY: {
    cniCode: 11,
    httpStatus: 409,
    retryable: true,
    summary:
      'Every candidate of the pod is taken, and waiting can help: by older pods of its workload, or until a known time.',
    hint: 'for a Deployment set maxSurge 0 or strategy Recreate, or list one more address; see: ipkeeperctl leases',
  },
  IPK_CANDIDATES_TAKEN: {
    cniCode: 136,
    httpStatus: 409,
    retryable: false,
    summary: 'Every candidate of the pod is taken by other holders.',
    hint: 'add addresses to the list, or free one of them; see: ipkeeperctl leases',
  },
  IPK_NODE_REFUSED: {
    cniCode: 137,
    httpStatus: 403,
    retryable: false,
    summary: 'The rules of the pool do not allow this node.',
    hint: 'use another pool, or allow the node in the "nodes" of the pool; see: ipkeeperctl pools',
  },
  IPK_STORE_ONE_NODE: {
    cniCode: 138,
    httpStatus: 409,
    retryable: false,
    summary:
      'The cluster has several nodes, and the embedded store serves one: other nodes could assign the same address.',
    hint: 'share the leases with --store kubernetes: or etcd:URL, confine the pool to this node with its "nodes", or, where no other node assigns its addresses, set "store": { "singleNode": true }',
  },
  IPK_FACTS_MISSING: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary:
      'Something about the pod that decides its address is not known, and the Kubernetes API has not reported it.',
    hint: 'wait for the Kubernetes API, or remove what needs it; see: ipkeeperctl status',
  },
  IPK_DEL_NOT_QUEUED: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary: 'A DEL could neither be handed to the daemon nor be written to the queue for it.',
    hint: 'start ipkeeper-server on this node (its unit, or the pod of its DaemonSet); check disk space and permissions of the state folder',
  },
  IPK_ANSWER_UNMARKED: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary:
      'The plugin could not record in the state folder that it answers this ADD, or did so too late; the ADD is undone.',
    hint: 'the runtime will retry; check disk space and permissions of "answered" in the state folder',
  },
  IPK_FALLBACK_MISSING: {
    cniCode: 7,
    httpStatus: 400,
    retryable: false,
    summary: 'The plugin that "ipam.fallback" names is in no folder of CNI_PATH.',
    hint: 'install it next to ipkeeper, usually in /opt/cni/bin, or correct "ipam.fallback.type" in the conflist',
  },
  IPK_FALLBACK_FAILED: {
    cniCode: 121,
    httpStatus: 502,
    retryable: true,
    summary:
      'The plugin that "ipam.fallback" names failed for a pod that is left to it; its own code is kept.',
    hint: 'fix what that plugin reports: pods that ask ipkeeper for nothing are left to "ipam.fallback" of the conflist',
  },
  IPK_FALLBACK_CLASH: {
    cniCode: 123,
    httpStatus: 409,
    retryable: false,
    summary:
      'The plugin that "ipam.fallback" names assigned an address that ipkeeper assigns, or has assigned; the assignment was undone.',
    hint: 'make the ranges of "ipam" and of "ipam.fallback" disjoint, with "rangeStart", "rangeEnd" or "exclude"; see: ipkeeperctl leases',
  },
  IPK_TOOL_MISSING: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary: 'A program that the daemon needs to wire pods is not installed where it runs.',
    hint: 'apt-get install iproute2 nftables iputils-arping util-linux',
  },
  IPK_WIRING_FAILED: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary: 'The kernel refused a step of wiring or unwiring a pod; what was done before it is undone.',
    hint: 'see: ip -d link; the message is what the kernel said',
  },
  IPK_INTERFACE_EXISTS: {
    cniCode: 142,
    httpStatus: 409,
    retryable: false,
    summary: 'The pod already has an interface of the requested name.',
    hint: 'give the second network another interface name, or remove the plugin that made the first one from the conflist',
  },
  IPK_LINK_CONFLICT: {
    cniCode: 143,
    httpStatus: 409,
    retryable: false,
    summary:
      'A link of the host that the configuration names is missing, of another kind, or has another address.',
    hint: 'see: ip -d address show; then correct the conflist, or the link',
  },
  IPK_ADDRESS_DUPLICATE: {
    cniCode: 144,
    httpStatus: 409,
    retryable: true,
    summary:
      'Another machine on the network answered for the address that the pod was to get; it is set aside.',
    hint: 'find the machine with that MAC address; the address is not assigned for `preferFor`',
  },
  IPK_ADDRESS_OF_NODE: {
    cniCode: 148,
    httpStatus: 409,
    retryable: false,
    summary: 'The node itself has the address that a pod asks for, or that is kept for it.',
    hint: 'give the pod another address; "exclude" it in the pool so that no pod can ask for it',
  },
  IPK_MAC_TAKEN: {
    cniCode: 149,
    httpStatus: 409,
    retryable: false,
    summary:
      'The MAC address that a pod asks for is that of a live pod, of the node, of the gateway or of another node, or the one that another address has by default.',
    hint: 'choose another MAC address for this pod, or none, so that it gets one of its own',
  },
  IPK_MAC_BUSY: {
    cniCode: 11,
    httpStatus: 409,
    retryable: true,
    summary: 'An older pod of the same workload has the MAC address that a pod asks for.',
    hint: 'wait until that pod is gone; one MAC address is for one pod at a time, so set maxSurge 0 or strategy Recreate, and replicas 1',
  },
  IPK_MAC_REFUSED: {
    cniCode: 152,
    httpStatus: 403,
    retryable: false,
    summary: 'A pod asks for a MAC address, and its pool does not let pods choose one.',
    hint: 'remove the request for a MAC address from the pod, or "allowMac: false" from the pool',
  },
  IPK_WIRING_DIFFERS: {
    cniCode: 145,
    httpStatus: 409,
    retryable: false,
    summary: 'CHECK: what the kernel has of a pod is not what its ADD made.',
    hint: 'delete the pod, so that its network is set up again; the log of the node may show what changed it',
  },
  IPK_NETNS_INVALID: {
    cniCode: 8,
    httpStatus: 400,
    retryable: false,
    summary: 'CNI_NETNS is not a network namespace that the daemon can see, or is that of the host.',
    hint: 'a daemon in a container needs /run/netns mounted with HostToContainer propagation',
  },
  IPK_UPLINK_UNKNOWN: {
    cniCode: 146,
    httpStatus: 404,
    retryable: false,
    summary: 'No uplink was made a port of a bridge of this name.',
    hint: 'see: ipkeeperctl uplinks',
  },
  IPK_UPLINK_IN_USE: {
    cniCode: 147,
    httpStatus: 409,
    retryable: false,
    summary:
      'Pods are still ports of the bridge whose uplink was to be returned to the host; nothing was changed.',
    hint: 'delete its pods, or move them to another node, first; see: ipkeeperctl attachments, ipkeeperctl uplinks',
  },
  IPK_RESERVATION_MISSING: {
    cniCode: 114,
    httpStatus: 404,
    retryable: false,
    summary: 'There is no such reservation.',
    hint: 'see: ipkeeperctl reservations',
  },
  IPK_NODE_UNKNOWN: {
    cniCode: 162,
    httpStatus: 404,
    retryable: false,
    summary: 'No node of that name is known in the store.',
    hint: 'see which nodes there are: ipkeeperctl nodes',
  },
  IPK_NODE_LIVES: {
    cniCode: 163,
    httpStatus: 409,
    retryable: false,
    summary:
      'The daemon of a node that was to be declared gone for good, or to give an address up, still runs; nothing was changed.',
    hint: 'see which nodes the store waits for: ipkeeperctl status; to give this one up all the same, delete its pods and stop its daemon for good first: systemctl disable --now ipkeeper',
  },
  IPK_NODE_MAY_RUN: {
    cniCode: 190,
    httpStatus: 409,
    retryable: false,
    summary: 'An address was to be released by force whose node may still run; nothing was changed.',
    hint: 'make sure that the machine of the node is off, then add --powered-off; see how the nodes are: ipkeeperctl nodes',
  },
  IPK_ADDRESS_FREE: {
    cniCode: 124,
    httpStatus: 404,
    retryable: false,
    summary: 'The address to release has no holder, and is not kept for one.',
    hint: 'see: ipkeeperctl leases',
  },
  IPK_REQUEST_INVALID: {
    cniCode: 115,
    httpStatus: 400,
    retryable: false,
    summary: 'A request on the socket does not have the shape of /v1/openapi.json.',
    hint: 'see: curl --unix-socket /run/ipkeeper/ipkeeper.sock http://ipkeeper/v1/openapi.json',
  },
  IPK_BUSY: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary: 'Too many clients ask the daemon for the same costly thing at a time; nothing was done.',
    hint: 'retry in a moment; close pages that are open, and stop what asks in a loop',
  },
  IPK_POD_UNKNOWN: {
    cniCode: 140,
    httpStatus: 404,
    retryable: false,
    summary: 'The Kubernetes API has no pod of that name, or no address of it is known.',
    hint: 'see: kubectl get pods --all-namespaces; a pod that does not exist yet: ipkeeperctl explain --manifest FILE',
  },
  IPK_ROUTE_UNKNOWN: {
    cniCode: 116,
    httpStatus: 404,
    retryable: false,
    summary: 'There is no such path on the socket.',
    hint: 'plugin and daemon may be of different versions; see /v1/openapi.json',
  },
  IPK_DAEMON_CONFIG: {
    cniCode: 117,
    httpStatus: 500,
    retryable: false,
    summary: 'The configuration file of the daemon is not valid.',
    hint: 'correct the file until `ipkeeper-server check-config FILE` finds nothing; a file that says {} means defaults',
  },
  IPK_CONFIG_COPY: {
    cniCode: 126,
    httpStatus: 500,
    retryable: false,
    summary: 'The copy of the configuration that was last in force cannot be read or written.',
    hint: 'correct the file until `ipkeeper-server check-config FILE` finds nothing; the copy is rewritten as soon as a file is in force',
  },
  IPK_SOCKET_IN_USE: {
    cniCode: 118,
    httpStatus: 500,
    retryable: false,
    summary: 'Another daemon answers on the socket.',
    hint: 'stop the other daemon, or give this one another --socket and --state-dir',
  },
  IPK_SOCKET_FAILED: {
    cniCode: 120,
    httpStatus: 500,
    retryable: false,
    summary: 'The daemon cannot create its socket.',
    hint: 'run as root, or choose another --socket in a writable folder',
  },
  IPK_TOO_FEW_ADDRESSES: {
    cniCode: 170,
    httpStatus: 422,
    retryable: false,
    summary:
      'A workload wants more pods at once than its annotations name addresses, or than its pool has left. Reported at admission only.',
    hint: 'name an address for each pod, or ask for fewer pods; for a Deployment: strategy Recreate, or maxSurge 0',
  },
  IPK_WEBHOOK_LISTEN: {
    cniCode: 171,
    httpStatus: 500,
    retryable: false,
    summary:
      'The daemon cannot listen on the address of `webhook.listen`; it serves pods all the same, and tries again.',
    hint: 'set an address of this node and a free port in webhook.listen, or remove "webhook" from the configuration, then: systemctl restart ipkeeper',
  },
  IPK_WEBHOOK_CERTIFICATE: {
    cniCode: 200,
    httpStatus: 500,
    retryable: true,
    summary:
      'The files of `webhook.certFile` and `webhook.keyFile` make no certificate that is valid now; API servers go by their failurePolicy.',
    hint: 'put a certificate and its key there, as docs/guides/webhook.md makes them; they are read within 30 seconds',
  },
  IPK_RUNTIME_UNREACHABLE: {
    cniCode: 201,
    httpStatus: 503,
    retryable: true,
    summary:
      'A container runtime does not answer on its socket (CRI), so what it knows of dead pods is not known here. Pods are added and deleted all the same.',
    hint: 'see whether it runs: systemctl status containerd crio; where its socket is elsewhere, name it in runtime.sockets, then: systemctl restart ipkeeper',
  },
  IPK_METRICS_LISTEN: {
    cniCode: 157,
    httpStatus: 500,
    retryable: false,
    summary:
      'The daemon cannot listen on the address of `metrics.listen`; it serves pods all the same, and tries again.',
    hint: 'set an address of this node and a port above 1023 in metrics.listen, or remove the key (metrics are on the socket as well), then: systemctl restart ipkeeper',
  },
  IPK_PAGE_LISTEN: {
    cniCode: 189,
    httpStatus: 500,
    retryable: false,
    summary:
      'The daemon cannot listen on the address of `page.listen`; it serves pods all the same, and tries again.',
    hint: 'set a loopback address of this node and a port above 1023 in page.listen, or remove the key (ipkeeperctl shows the same), then: systemctl restart ipkeeper',
  },
  IPK_HISTORY_EXPORT: {
    cniCode: 208,
    httpStatus: 503,
    retryable: true,
    summary:
      'The receiver of `history.export` does not take the history. It is sent later, pods are served all the same, and nothing is lost before the history is pruned.',
    hint: 'see whether the receiver listens and can be reached from this node; how much waits: ipkeeperctl status',
  },
  IPK_USAGE: {
    cniCode: 119,
    httpStatus: 400,
    retryable: false,
    summary: 'Usage error: a command, an option or an argument is unknown or not valid.',
    hint: 'see: ipkeeperctl --help',
  },
  IPK_FLIGHTS_UNREADABLE: {
    cniCode: 122,
    httpStatus: 500,
    retryable: false,
    summary: 'The flight record cannot be read.',
    hint: 'run as root, or name the state folder of the plugin: ipkeeperctl flights --state-dir DIR',
  },
  IPK_CONFLIST_MISSING: {
    cniCode: 159,
    httpStatus: 404,
    retryable: false,
    summary: 'A folder of network configurations contains none that a runtime would load.',
    hint: 'name the file: ipkeeperctl try FILE',
  },
  IPK_CONFLIST_INVALID: {
    cniCode: 160,
    httpStatus: 400,
    retryable: false,
    summary: 'A network configuration cannot be read as a runtime reads it.',
    hint: 'correct the file; a runtime refuses it as well',
  },
  IPK_TRY_REFUSED: {
    cniCode: 161,
    httpStatus: 500,
    retryable: false,
    summary: '`ipkeeperctl try` cannot create a network namespace, or record what it is about to do.',
    hint: 'run as root, on the node itself',
  },
  IPK_CACHE_UNREADABLE: {
    cniCode: 153,
    httpStatus: 500,
    retryable: false,
    summary: 'A folder of a result cache, or of the quarantine, cannot be read.',
    hint: 'run as root, or name the folder: ipkeeperctl cache scan --dir DIR',
  },
  IPK_CACHE_OCCUPIED: {
    cniCode: 154,
    httpStatus: 409,
    retryable: false,
    summary: 'Another file is now in the place of the one to restore from quarantine.',
    hint: 'compare the two; see: ipkeeperctl cache restore',
  },
  IPK_CACHE_UNRESTORED: {
    cniCode: 155,
    httpStatus: 500,
    retryable: false,
    summary: 'A file could not be restored from quarantine.',
    hint: 'see: ipkeeperctl cache restore',
  },
  IPK_CACHE_UNKNOWN: {
    cniCode: 156,
    httpStatus: 404,
    retryable: false,
    summary: 'The requested cached result cannot be written from the records.',
    hint: 'see: ipkeeperctl attachments; the conflist of the network has to be in the folder of conflist.directory',
  },
  IPK_IMPORT_SOURCE: {
    cniCode: 185,
    httpStatus: 400,
    retryable: false,
    summary: 'What another IPAM has assigned cannot be read where it was expected.',
    hint: 'name where it is: ipkeeperctl import SOURCE --help',
  },
  IPK_BACKUP_INVALID: {
    cniCode: 186,
    httpStatus: 400,
    retryable: false,
    summary: 'The file is not a complete backup of a ledger; nothing was read from it.',
    hint: 'name an earlier backup; where the ledger still exists, write a new one: ipkeeperctl backup FILE',
  },
  IPK_STORE_OCCUPIED: {
    cniCode: 187,
    httpStatus: 409,
    retryable: false,
    summary:
      'The store that a ledger was to be restored into already has other records; they were not changed.',
    hint: 'name a store that is empty, or has only part of the same ledger',
  },
  IPK_KUBERNETES_CONFIG: {
    cniCode: 125,
    httpStatus: 500,
    retryable: false,
    summary: 'The configured access to the Kubernetes API cannot be used.',
    hint: 'correct "kubernetes" in the configuration of the daemon, or the file that it names; "mode": "off" works without the API',
  },
  IPK_CONF_DIR_UNREADABLE: {
    cniCode: 150,
    httpStatus: 500,
    retryable: false,
    summary: 'The folder of network configurations does not exist or cannot be read.',
    hint: 'run as root, or name the folder of the runtime (conf_dir in its configuration): ipkeeperctl lint DIR',
  },
  IPK_FIX_REFUSED: {
    cniCode: 151,
    httpStatus: 500,
    retryable: false,
    summary: 'A network configuration could not be fixed; it was not changed.',
    hint: 'see what is wrong with it: ipkeeperctl lint FILE',
  },
  IPK_INSTALL_FAILED: {
    cniCode: 180,
    httpStatus: 500,
    retryable: false,
    summary:
      'The plugin or a network configuration could not be put in place; what was there was not changed.',
    hint: 'run as root, and name writable folders: ipkeeper-server install --bin-dir DIR --conf-dir DIR',
  },
  IPK_UNINSTALL_REFUSED: {
    cniCode: 181,
    httpStatus: 409,
    retryable: false,
    summary: 'The plugin stays installed, because pods cannot be deleted without it.',
    hint: 'see which: ipkeeperctl attachments',
  },
  IPK_INTERNAL: {
    cniCode: 199,
    httpStatus: 500,
    retryable: false,
    summary: 'A bug in ipkeeper.',
    hint: 'please report it, with the log lines of this request and the file that this writes: ipkeeperctl bundle FILE',
  },
} as const satisfies Record<`IPK_${string}`, ProblemRow>

export type ProblemCode = keyof typeof catalogue

/** The row of a code; rows are typed as ProblemRow so that optional columns can be read. */
export function problemRow(code: ProblemCode): ProblemRow {
  return catalogue[code]
}
