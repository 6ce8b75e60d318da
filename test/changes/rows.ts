/**
 * What an administrator changes, and what becomes of addresses. docs/operations/changes.md has the same table, made of this one.
 *
 * Before each change, 10.22.0.10 and .50 are bound, .20 kept, .30 cooling down and .40 reserved.
 */
import type { Configuration, Outcomes, Row } from './row.ts'

const subnet = '10.22.0.0/24'
const gone = '10.23.0.0/24'
const small = { subnet, rangeStart: '10.22.0.100', rangeEnd: '10.22.0.120' }

/** A pool of the file that the conflist names. */
const inFile = (keys: object, name = 'prod'): Configuration => ({
  pools: [{ name, ...keys }],
  ipam: { pool: name },
})
const inConflist = (keys: object): Configuration => ({ ipam: { ranges: [[keys]] } })

const asBefore: Outcomes = { fresh: 'any', live: 'same', kept: 'same', cooling: 'same', reserved: 'same' }
const outside: Outcomes = {
  ...{ fresh: 'any', live: 'IPK_ADDRESS_OUTSIDE', kept: 'other' },
  ...{ cooling: 'IPK_ADDRESS_OUTSIDE', reserved: 'other' },
}
const none = (code: `IPK_${string}`): Outcomes => ({
  ...{ fresh: code, live: code, kept: code, cooling: code, reserved: code },
})
const refused = 'IPK_POOLS_ORPHAN'
const named =
  /10\.22\.0\.10 \(shop\/live\), 10\.22\.0\.20 \(kept for shop\/kept\), 10\.22\.0\.50 \(shop\/leaving\)/
const wait =
  '`ipkeeperctl leases --pool prod`; set `draining: true`, delete or release what is listed, then change it'

const fileRows: readonly Row[] = [
  {
    ...{ what: 'the subnet of a pool', where: 'file', always: ['sqlite ipam'] },
    ...{ before: inFile({ subnet }), after: inFile({ subnet: gone }) },
    ...{ refused, says: named, gets: asBefore, type: wait },
  },
  {
    ...{
      what: 'the range of a pool, to a smaller one',
      where: 'file',
      always: ['etcd ipam', 'kubernetes main'],
    },
    ...{ before: inFile({ subnet }), after: inFile(small) },
    ...{ refused, says: named, gets: asBefore, type: wait },
  },
  ...(
    [
      ['a bound address', '10.22.0.10', true],
      ['a kept address', '10.22.0.20', true],
      ['an address that is cooling down', '10.22.0.30', false],
      ['a reserved address', '10.22.0.40', false],
    ] as const
  ).map(([what, address, isRefused]): Row => ({
    ...{ what: `\`exclude\`: ${what}`, where: 'file' },
    ...{ before: inFile({ subnet }), after: inFile({ subnet, exclude: [address] }) },
    ...(isRefused && { refused, says: new RegExp(address) }),
    gets: {
      ...asBefore,
      ...(address === '10.22.0.30' && { cooling: 'IPK_ADDRESS_UNUSABLE' }),
      ...(address === '10.22.0.40' && { reserved: 'other' }),
    },
    type: isRefused ? wait : 'nothing',
  })),
  {
    ...{ what: 'a pool away', where: 'file', always: ['sqlite ipam, stopped'] },
    ...{ before: inFile({ subnet }), after: { pools: [], ipam: { pool: 'prod' } } },
    allWrong: /^IPK_POOL_UNKNOWN$/,
    onShared: { gets: none('IPK_POOL_UNKNOWN') },
    ...{ refused, says: named, gets: asBefore, type: wait },
  },
  {
    ...{ what: 'the name of a pool', where: 'both', always: ['etcd ipam, stopped'] },
    ...{ before: inFile({ subnet }), after: inFile({ subnet }, 'shop') },
    ...{ refused, says: named, gets: none('IPK_POOL_UNKNOWN'), type: wait },
  },
  {
    ...{ what: 'the gateway of a pool', where: 'file', always: ['sqlite main', 'kubernetes main'] },
    ...{ before: inFile({ subnet }), after: inFile({ subnet, gateway: '10.22.0.254' }) },
    gets: asBefore,
    inMain: {
      ...{ fresh: 'IPK_LINK_CONFLICT', kept: 'IPK_LINK_CONFLICT' },
      ...{ cooling: 'IPK_LINK_CONFLICT', reserved: 'IPK_LINK_CONFLICT' },
    },
    type: 'delete the pods of the node that have the old gateway, as the error names them',
  },
  {
    ...{ what: 'the segment of a pool', where: 'file' },
    ...{ before: inFile({ subnet }), after: inFile({ subnet, segment: 'lab' }) },
    ...{ refused, says: named, gets: asBefore, type: wait },
  },
  {
    ...{ what: 'the MTU of a pool', where: 'file' },
    ...{ before: inFile({ subnet }), after: inFile({ subnet, mtu: 1400 }) },
    ...{ gets: asBefore, type: 'nothing; pods have it from their next sandbox on' },
  },
]

const conflistRows: readonly Row[] = [
  {
    ...{ what: 'the subnet of a network', where: 'conflist', always: ['sqlite ipam'] },
    ...{ before: inConflist({ subnet }), after: inConflist({ subnet: gone }) },
    ...{ gets: outside, type: 'change `ipkeeper.io/ip` of pods, and reservations, to the new subnet' },
  },
  {
    ...{ what: 'the range of a network, to a smaller one', where: 'conflist', always: ['sqlite main'] },
    ...{ before: inConflist({ subnet }), after: inConflist(small) },
    ...{ gets: outside, type: 'change `ipkeeper.io/ip` of pods, and reservations, to the new range' },
  },
  {
    ...{ what: '`exclude`: all four addresses', where: 'conflist' },
    before: inConflist({ subnet }),
    after: inConflist({ subnet, exclude: ['10.22.0.10', '10.22.0.20', '10.22.0.30', '10.22.0.40'] }),
    gets: {
      ...{ fresh: 'any', live: 'IPK_ADDRESS_UNUSABLE', kept: 'other' },
      ...{ cooling: 'IPK_ADDRESS_UNUSABLE', reserved: 'other' },
    },
    type: 'change `ipkeeper.io/ip` of pods, and reservations',
  },
  {
    ...{ what: 'the gateway of a network', where: 'conflist' },
    ...{ before: inConflist({ subnet }), after: inConflist({ subnet, gateway: '10.22.0.254' }) },
    gets: asBefore,
    inMain: {
      ...{ fresh: 'IPK_LINK_CONFLICT', kept: 'IPK_LINK_CONFLICT' },
      ...{ cooling: 'IPK_LINK_CONFLICT', reserved: 'IPK_LINK_CONFLICT' },
    },
    type: 'delete the pods of the node that have the old gateway, as the error names them',
  },
  {
    ...{ what: 'the segment of a network', where: 'conflist', always: ['sqlite ipam'] },
    before: inConflist({ subnet }),
    after: { ipam: { ranges: [[{ subnet }]], segment: 'lab' } },
    gets: none('IPK_POOLS_ORPHAN'),
    type: '`ipkeeperctl leases`; delete or release what is listed, then change it',
  },
  {
    ...{ what: 'the name of a network with ranges of its own', where: 'conflist', always: ['sqlite ipam'] },
    before: inConflist({ subnet }),
    after: { network: 'net2', ...inConflist({ subnet }) },
    ...{ gets: none('IPK_POOL_OVERLAP'), swept: true },
    type: '`ipkeeperctl leases`; delete or release what is listed, then change it',
  },
  {
    what: 'the name of a network with a pool of the file',
    ...{ where: 'conflist', always: ['sqlite main', 'kubernetes main'] },
    before: inFile({ subnet }),
    after: { ...inFile({ subnet }), network: 'net2' },
    ...{ gets: { ...asBefore, kept: 'other' }, swept: true },
    type: '`ipkeeperctl release` what was kept under the old name',
  },
  {
    ...{ what: 'ranges of the conflist, to a pool of the file named as the network', where: 'both' },
    before: inConflist({ subnet }),
    ...{ after: inFile({ subnet }, 'net'), gets: asBefore, type: 'the file first, then the conflist' },
  },
  {
    ...{
      what: 'ranges of the conflist, to a pool of the file of another name',
      where: 'both',
      always: ['sqlite ipam'],
    },
    ...{ before: inConflist({ subnet }), after: inFile({ subnet }) },
    ...{ refused: 'IPK_POOL_OVERLAP', says: /10\.22\.0\.10/, gets: none('IPK_POOL_UNKNOWN') },
    type: 'name the pool as the network',
  },
  {
    ...{ what: 'a pool of the file named as the network, to ranges of the conflist', where: 'both' },
    before: inFile({ subnet }, 'net'),
    after: { pools: [], ...inConflist({ subnet }) },
    ...{
      refused,
      says: named,
      gets: asBefore,
      type: 'the conflist; take the pool out of the file when it is empty',
      onShared: { gets: asBefore },
    },
  },
  {
    ...{ what: 'the mode, from `bridge` to `ptp`', where: 'conflist' },
    before: { ...inConflist({ subnet }), settings: { mode: 'bridge' } },
    after: { ...inConflist({ subnet }), settings: { mode: 'ptp' } },
    ...{ gets: asBefore, type: 'nothing; pods have it from their next sandbox on' },
    without: { ipam: 'the mode is a key of the main plugin' },
  },
  {
    ...{ what: 'the MTU of a network', where: 'conflist' },
    before: inConflist({ subnet }),
    after: { ...inConflist({ subnet }), settings: { mtu: 1400 } },
    ...{ gets: asBefore, type: 'nothing; pods have it from their next sandbox on' },
    without: { ipam: 'the MTU belongs to the plugin that wires' },
  },
]

const daemonRows: readonly Row[] = ([1, 3] as const).map(layout => ({
  what: `the version of the daemon, from one with layout ${layout} of the ledger`,
  ...{ where: 'neither', layout, ...(layout === 1 && { always: ['sqlite ipam, stopped', 'etcd main'] }) },
  ...{ before: inFile({ subnet }), after: inFile({ subnet }) },
  ...{ gets: asBefore, type: 'nothing; see [upgrade.md](upgrade.md)' },
}))

export const rows: readonly Row[] = [...fileRows, ...conflistRows, ...daemonRows]

/** Changes that are not played here, and which test has something of them. */
export const elsewhere: readonly (readonly [what: string, why: string])[] = [
  ['an IPPool, with the ledger in the Kubernetes API', 'test/cluster/pool-changes.test.ts'],
  ['a pool, from the conflist to the file to an IPPool and back', 'test/cluster/pool-moves.test.ts'],
  ['the version of the daemon and back, with pods that talk', 'test/packaged/upgrade.test.ts'],
]
