import * as type from './advice.ts'
import type { TextGroup } from './text-group.ts'

const both = 'host-local, all versions; ipkeeper uses the same text and adds its own code'

/** The words of the reference IPAM plugin, which ipkeeper keeps for requests by CNI's own channels. */
export const hostLocal: TextGroup = {
  title: 'host-local, or ipkeeper in its words, gives no address',
  texts: [
    {
      id: 'range-full',
      examples: [
        'failed to allocate for range 0: no IP addresses available in range set: 10.99.0.2-10.99.0.3',
      ],
      templates: [
        'no IP addresses available in range set: <address>-',
        'no IP addresses available in range set',
      ],
      means: 'Every address of the range is taken, or its file says so.',
      why: 'host-local keeps one file per address in /var/lib/cni/networks. Files of lost DELs, and empty files after a power cut, stay there forever.',
      affects: both,
      mend: () => [type.cacheScan, type.pools, type.audit],
      source:
        'containernetworking/plugins#498, containernetworking/plugins#332, containernetworking/plugins#252',
    },
    {
      id: 'allocated-already',
      examples: [
        'failed to allocate for range 0: 10.22.0.50 has been allocated to 3f2a91c0d1e2, duplicate allocation is not allowed',
      ],
      templates: ['<address> has been allocated to <containerId>, duplicate allocation is not allowed'],
      means: 'This sandbox has an address already: the runtime sent ADD twice without DEL.',
      why: 'A DEL between the two was lost, or two networks of one name use the same records.',
      affects: both,
      mend: captures => [type.who(captures), type.flights(captures)],
      source: 'containernetworking/plugins, plugins/ipam/host-local',
    },
    {
      id: 'requested-address-taken',
      examples: [
        'failed to allocate for range 0: requested IP address 10.22.0.50 is not available in range set 10.22.0.1-10.22.255.254',
      ],
      templates: ['requested IP address <address> is not available in range set'],
      means: 'The address that was asked for by name is taken.',
      why: 'A pod has it, or the record of a former holder is still there.',
      affects: both,
      mend: captures => [type.who(captures), type.history(captures)],
      source: 'containernetworking/plugins, plugins/ipam/host-local',
    },
    {
      id: 'requested-addresses-outside',
      examples: ['failed to allocate all requested IPs: 192.0.2.7'],
      templates: ['failed to allocate all requested IPs: <address>', 'failed to allocate all requested IPs'],
      means: 'An address was asked for that is in no range of the network.',
      why: 'The request names another network, or the ranges were changed.',
      affects: both,
      mend: captures => [type.pools, type.who(captures)],
      source: 'containernetworking/plugins, plugins/ipam/host-local',
    },
    {
      id: 'requested-gateway',
      examples: [`failed to allocate for range 0: requested ip 10.22.0.1 is subnet's gateway`],
      templates: [`requested ip <address> is subnet's gateway`],
      means: 'The gateway of the range was asked for, and no pod may have it.',
      why: 'It belongs to the bridge or the router.',
      affects: both,
      mend: captures => [type.who(captures), type.pools],
      source: 'containernetworking/plugins, plugins/ipam/host-local',
    },
    {
      id: 'ranges-overlap',
      examples: ['invalid range set 1: range set 0 overlaps with 1'],
      templates: ['range set <n> overlaps with <n>'],
      means: 'Two range sets of one network share addresses.',
      why: 'Each range set gives the pod an address of its own, so they have to be disjoint.',
      affects: both,
      mend: captures => [type.lintFile(captures)],
      source: 'containernetworking/plugins, plugins/ipam/host-local',
    },
    {
      id: 'ranges-missing',
      examples: ['no IP ranges specified'],
      templates: ['no IP ranges specified'],
      means: 'The "ipam" of the conflist has neither "subnet" nor "ranges".',
      why: 'They were forgotten, or were to come from a template or the runtime.',
      affects: both,
      mend: captures => [type.lintFile(captures)],
      source: 'containernetworking/plugins, plugins/ipam/host-local',
    },
    {
      id: 'range-too-small',
      examples: ['Network 10.1.2.0/31 too small to allocate from'],
      templates: ['Network <address>/<n> too small to allocate from'],
      means: 'The range has no address for a pod.',
      why: 'Network, broadcast and gateway address take three; a /30 is the least.',
      affects: both,
      mend: captures => [type.lintFile(captures)],
      source: 'containernetworking/plugins, plugins/ipam/host-local',
    },
    {
      id: 'reservation-missing',
      examples: ['Failed to find address added by container 3f2a91c0d1e2'],
      templates: ['Failed to find address added by container <containerId>'],
      means: 'CHECK: the records have no address of this sandbox.',
      why: '/var/lib/cni/networks was emptied, or another sandbox took the address over.',
      affects: both,
      mend: captures => [type.flights(captures), type.attachments],
      source: 'containernetworking/plugins, plugins/ipam/host-local',
    },
  ],
}
