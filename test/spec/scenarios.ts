/** One of the forty stories that come first, told by the cases of these rows. */
export interface Scenario {
  readonly title: string
  /** Rows whose cases tell it. */
  readonly rows?: readonly string[]
  /** Test files that tell it. */
  readonly elsewhere?: readonly string[]
  readonly notTested?: string
}

const bridge = 'test/privileged/bridge.test.ts'
const chained =
  'ipkeeper is no plugin that lives in a chain only; as IPAM delegate it never works on a prevResult'

/** In the order and by the numbers of the catalogue; the first is number 1. */
export const scenarios: readonly Scenario[] = [
  { title: 'ADD in each version', rows: ['D5', 'E1'] },
  { title: 'ADD and CHECK without one of their variables', rows: ['B1'] },
  { title: 'ADD without three of them', rows: ['B1'] },
  { title: 'DEL without namespace and CNI_ARGS', rows: ['B1'] },
  { title: 'GC and STATUS with CNI_PATH alone', rows: ['B1', 'B7'] },
  { title: 'VERSION without anything', rows: ['A11', 'D1', 'D2'] },
  { title: 'container IDs that are none', rows: ['B2'] },
  { title: 'interface names that are none, and the longest', rows: ['B3'] },
  { title: 'no cniVersion', rows: ['C5'] },
  { title: 'versions that nobody speaks', rows: ['D3'] },
  { title: 'verbs that the version does not have', rows: ['D4'] },
  { title: 'CHECK, GC and STATUS with a version that is none', rows: ['D4'] },
  { title: 'network names that are none', rows: ['C3'] },
  { title: 'stdin that is no configuration', rows: ['C2'] },
  { title: 'commands that are none', rows: ['B5'] },
  { title: 'no command', rows: ['A15'] },
  { title: 'stdin that cannot be read', rows: ['C1'] },
  { title: 'a failure of our own: its code, and no result', rows: ['A6', 'F codes'] },
  { title: 'one allocation in three versions', rows: ['E1'] },
  { title: 'no address at all', rows: ['E1', 'H9'] },
  { title: 'two addresses of a family in the old shape', rows: ['E1'] },
  {
    title: 'interface number 0',
    elsewhere: ['test/ipkeeper-server/network/plan/plan-wiring.test.ts', 'test/shared/cni/result.test.ts'],
  },
  { title: 'prevResult is passed on in its version', notTested: chained },
  { title: 'a chained plugin without prevResult', notTested: chained },
  { title: 'addresses of prevResult without interface', rows: ['G7'] },
  { title: 'DEL in a chain, with what later plugins changed', rows: ['H1'] },
  { title: 'DEL with a broken cache', rows: ['G3'] },
  { title: 'DEL twice and three times', rows: ['G3'] },
  { title: 'DEL of what was never added', rows: ['G3'] },
  { title: 'DEL where the namespace is gone, a file, or the own one', rows: ['B9', 'G3'] },
  { title: 'CHECK after ADD, without prevResult, after DEL', rows: ['G7'] },
  { title: 'GC with every form of its list', rows: ['C6', 'G10'] },
  { title: 'STATUS with the daemon away, and with a full pool', rows: ['G14', 'G15'] },
  { title: 'one container, two interfaces, two networks', rows: ['G1'] },
  { title: 'ADD twice, and another container', rows: ['E9'] },
  { title: 'requested addresses, given and refused', rows: ['I5'] },
  { title: 'requests by three channels', rows: ['C6', 'I4'] },
  { title: 'CNI_ARGS in every form', rows: ['I1', 'I2'] },
  { title: 'under the real bridge, which fails later', elsewhere: [bridge] },
  {
    title: 'ADD killed, DEL at once, a new sandbox',
    rows: ['A10'],
    elsewhere: ['test/packaged/daemon-crash.test.ts'],
  },
]
