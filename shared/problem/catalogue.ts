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
    hint: 'the runtime sets these; when running by hand, see docs/running-by-hand.md',
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
    summary: 'The network configuration is not one JSON object, or its name or version is no text.',
    hint: 'line and column are those of what came on stdin, which the runtime makes from a file in /etc/cni/net.d: correct that file',
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
    summary: 'The network configuration decodes but makes no sense, or a value is of the wrong type.',
    hint: 'correct the conflist in /etc/cni/net.d at the key that the message names',
  },
  IPK_POOL_OVERLAP: {
    cniCode: 7,
    httpStatus: 409,
    retryable: false,
    summary: 'The ranges overlap those of another pool of the same segment that has leases.',
    hint: 'use disjoint ranges, or give one network another "ipam.segment" if the two really are separate L2/L3 domains',
  },
  IPK_POOLS_ORPHAN: {
    cniCode: 7,
    httpStatus: 409,
    retryable: false,
    summary:
      "A change of the daemon's pools would leave addresses in use outside of them; the pools stay as they were.",
    hint: 'keep these addresses in the ranges of their pool; or delete their pods (see: ipkeeperctl leases), then send the daemon SIGHUP',
  },
  IPK_ARGS_INVALID: {
    cniCode: 7,
    httpStatus: 400,
    retryable: false,
    summary: 'CNI_ARGS cannot be parsed or names an unknown key without IgnoreUnknown.',
    hint: 'CNI_ARGS is KEY=VALUE pairs joined by ";"; put IgnoreUnknown=1 in it when it carries keys of other plugins',
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
    summary: 'What answered on the socket is not a reply of ipkeeper-server, or only a part of one.',
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
    summary: 'The plugin was told to stop before the outcome was known; an ADD under way is undone.',
    hint: 'the runtime will try again',
  },
  IPK_NOT_AVAILABLE: {
    cniCode: 50,
    httpStatus: 503,
    retryable: true,
    summary: 'STATUS: an ADD could not be served now.',
    hint: 'systemctl restart ipkeeper, then see: ipkeeperctl status',
  },
  IPK_STORE_FAILED: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary: 'The store of leases could not write or read; nothing was changed.',
    hint: 'check disk space and permissions of the state folder',
  },
  IPK_STORE_CONFLICT: {
    cniCode: 11,
    httpStatus: 409,
    retryable: true,
    summary: 'Somebody else changed the same records first, repeatedly.',
    hint: 'try again; if it persists, look for a second daemon on the same store',
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
    summary: 'The address is kept for its holder until a moment that is known.',
    hint: 'wait until then, or choose another address; see: ipkeeperctl leases',
  },
  IPK_ADDRESS_HELD: {
    cniCode: 101,
    httpStatus: 409,
    retryable: false,
    summary: 'The requested address belongs to somebody else.',
    hint: 'choose another address or delete the holder; see: ipkeeperctl leases',
  },
  IPK_ADDRESS_RESERVED: {
    cniCode: 102,
    httpStatus: 409,
    retryable: false,
    summary: 'The requested address is reserved for somebody else.',
    hint: 'choose another address; see: ipkeeperctl reservations',
  },
  IPK_ADDRESS_INVALID: {
    cniCode: 103,
    httpStatus: 400,
    retryable: false,
    summary: 'A requested value is no IP address.',
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
    hint: 'leave the "/prefix" away: the pool knows it',
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
    hint: 'delete the pod so that it is made anew; see: ipkeeperctl leases',
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
    hint: 'nothing to do: the runtime has given this sandbox up',
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
    summary: 'A pool is asked for that does not exist.',
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
    hint: 'for a Deployment set maxSurge 0 or strategy Recreate, or list one address more; see: ipkeeperctl leases',
  },
  IPK_CANDIDATES_TAKEN: {
    cniCode: 136,
    httpStatus: 409,
    retryable: false,
    summary: 'Every candidate of the pod is taken by somebody else.',
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
      'The cluster has several nodes, and the embedded store serves one: other nodes could give the same address.',
    hint: 'share the leases with --store kubernetes:, confine the pool to this node with its "nodes", or, where no other node gives its addresses, set "store": { "singleNode": true }',
  },
  IPK_FACTS_MISSING: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary:
      'Something about the pod that decides its address is not known, and the Kubernetes API has not told it.',
    hint: 'wait for the Kubernetes API, or do without what needs it; see: ipkeeperctl status',
  },
  IPK_DEL_NOT_QUEUED: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary: 'A DEL could neither be handed to the daemon nor be written to the queue for it.',
    hint: 'systemctl restart ipkeeper; check disk space and permissions of the state folder',
  },
  IPK_ANSWER_UNMARKED: {
    cniCode: 11,
    httpStatus: 503,
    retryable: true,
    summary:
      'The plugin could not leave its mark in the state folder that it answers this ADD, or came too late with it; the ADD is undone.',
    hint: 'the runtime will try again; check disk space and permissions of "answered" in the state folder',
  },
  IPK_FALLBACK_MISSING: {
    cniCode: 7,
    httpStatus: 400,
    retryable: false,
    summary: 'The plugin that "ipam.fallback" names is in no folder of CNI_PATH.',
    hint: 'install it beside ipkeeper, in /opt/cni/bin as a rule, or correct "ipam.fallback.type" in the conflist',
  },
  IPK_FALLBACK_FAILED: {
    cniCode: 121,
    httpStatus: 502,
    retryable: true,
    summary:
      'The plugin that "ipam.fallback" names failed for a pod that is left to it; its own code is kept.',
    hint: 'mend what that plugin complains of: pods that ask ipkeeper for nothing are left to "ipam.fallback" of the conflist',
  },
  IPK_FALLBACK_CLASH: {
    cniCode: 123,
    httpStatus: 409,
    retryable: false,
    summary:
      'The plugin that "ipam.fallback" names gave an address that ipkeeper gives, or has given; it was taken back.',
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
    hint: 'the message is what the kernel said; look at: ip -d link',
  },
  IPK_INTERFACE_EXISTS: {
    cniCode: 142,
    httpStatus: 409,
    retryable: false,
    summary: 'The pod already has an interface of the name that it is to get.',
    hint: 'give the second network another interface name, or take the plugin that made the first one out of the conflist',
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
    summary: 'Somebody on the network answered for the address that the pod was to get; it is put aside.',
    hint: 'find the machine with that MAC address; the address is left alone for `preferFor`',
  },
  IPK_WIRING_DIFFERS: {
    cniCode: 145,
    httpStatus: 409,
    retryable: false,
    summary: 'CHECK: what the kernel has of a pod is not what its ADD made.',
    hint: 'delete the pod, so that it is wired anew; see who changed it in the log of the node',
  },
  IPK_NETNS_INVALID: {
    cniCode: 8,
    httpStatus: 400,
    retryable: false,
    summary: 'CNI_NETNS names no network namespace that the daemon can see, or that of the host.',
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
    summary: 'Pods are ports of the bridge whose uplink was to be given back; nothing was changed.',
    hint: 'move its pods away first: kubectl drain, then see: ipkeeperctl uplinks',
  },
  IPK_RESERVATION_MISSING: {
    cniCode: 114,
    httpStatus: 404,
    retryable: false,
    summary: 'There is no such reservation.',
    hint: 'see: ipkeeperctl reservations',
  },
  IPK_ADDRESS_FREE: {
    cniCode: 124,
    httpStatus: 404,
    retryable: false,
    summary: 'An address was to be released that nobody has, and that is not kept for anybody.',
    hint: 'see: ipkeeperctl leases',
  },
  IPK_REQUEST_INVALID: {
    cniCode: 115,
    httpStatus: 400,
    retryable: false,
    summary: 'A request on the socket does not have the shape of /v1/openapi.json.',
    hint: 'see: curl --unix-socket /run/ipkeeper/ipkeeper.sock http://ipkeeper/v1/openapi.json',
  },
  IPK_POD_UNKNOWN: {
    cniCode: 140,
    httpStatus: 404,
    retryable: false,
    summary: 'The Kubernetes API has no pod of that name.',
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
    hint: 'correct the file until `ipkeeper-server check-config FILE` finds nothing; defaults apply when it is absent',
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
    summary: 'The daemon cannot make its socket.',
    hint: 'run as root, or choose another --socket in a folder that can be written',
  },
  IPK_METRICS_LISTEN: {
    cniCode: 157,
    httpStatus: 500,
    retryable: false,
    summary: 'The daemon cannot listen on the address of `metrics.listen`.',
    hint: 'set a loopback address of this node and a port above 1023 in metrics.listen, or take the key out: metrics are on the socket as well',
  },
  IPK_USAGE: {
    cniCode: 119,
    httpStatus: 400,
    retryable: false,
    summary: 'A command was called with words it does not know.',
    hint: 'see: ipkeeperctl --help',
  },
  IPK_FLIGHTS_UNREADABLE: {
    cniCode: 122,
    httpStatus: 500,
    retryable: false,
    summary: 'The flight record cannot be read.',
    hint: 'run as root, or name the state folder of the plugin: ipkeeperctl flights --state-dir DIR',
  },
  IPK_KUBERNETES_CONFIG: {
    cniCode: 125,
    httpStatus: 500,
    retryable: false,
    summary: 'What is configured for reaching the Kubernetes API cannot be used.',
    hint: 'correct "kubernetes" in the configuration of the daemon, or the file it names; mode: off does without the API',
  },
  IPK_INTERNAL: {
    cniCode: 199,
    httpStatus: 500,
    retryable: false,
    summary: 'A bug in ipkeeper.',
    hint: 'please report it with the log lines of this request',
  },
} as const satisfies Record<`IPK_${string}`, ProblemRow>

export type ProblemCode = keyof typeof catalogue

/** The row of a code; rows are typed as ProblemRow so that optional columns can be read. */
export function problemRow(code: ProblemCode): ProblemRow {
  return catalogue[code]
}
