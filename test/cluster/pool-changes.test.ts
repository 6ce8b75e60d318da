/**
 * What becomes of addresses when an IPPool changes: the table of test/changes, for pools that people make in the Kubernetes API, with
 * the ledger there as well. All rows are played at once, each in a pool of its own.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { ApiObject } from '../rigs/cluster-client.ts'
import { startClusterNode, type ClusterNode } from '../rigs/cluster-node.ts'
import type { Cluster } from '../rigs/cluster.ts'
import { until } from '../rigs/poll.ts'
import { giveStandings, standings, startPreparedCluster, type Standing } from '../rigs/prepared-cluster.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing('cluster', 'executables')
const root = '/apis/ipkeeper.io/v1alpha1/ippools'

type Outcome = 'same' | 'other' | `IPK_${string}`

/** The last number of each address, by how it stands before the change. */
const hosts: Readonly<Record<Standing, number>> = { live: 10, kept: 20, cooling: 30, reserved: 40 }

interface Row {
  readonly what: string
  /** Of the pool whose network this is, such as "10.50.0"; null: it is deleted. */
  readonly spec: (network: string) => object | null
  /** By which the object is refused; absent: it is put in force. */
  readonly refused?: string
  /** What the next sandbox gets where that is not the address of before. */
  readonly gets?: Partial<Record<Standing, Outcome>>
}

const refused = 'AddressesInUse'
const rows: readonly Row[] = [
  { what: 'the subnet', spec: network => ({ subnet: `${network.replace('10.', '11.')}.0/24` }), refused },
  {
    what: 'the range, to a smaller one',
    spec: network => ({ rangeStart: `${network}.100`, rangeEnd: `${network}.120` }),
    refused,
  },
  { what: '`exclude`: a bound address', spec: network => ({ exclude: [`${network}.10`] }), refused },
  { what: '`exclude`: a kept address', spec: network => ({ exclude: [`${network}.20`] }), refused },
  {
    what: '`exclude`: an address that is cooling down',
    spec: network => ({ exclude: [`${network}.30`] }),
    gets: { cooling: 'IPK_ADDRESS_UNUSABLE' },
  },
  {
    what: '`exclude`: a reserved address',
    spec: network => ({ exclude: [`${network}.40`] }),
    gets: { reserved: 'other' },
  },
  { what: 'the gateway', spec: network => ({ gateway: `${network}.254` }) },
  { what: 'the MTU', spec: () => ({ mtu: 1400 }) },
  { what: 'the segment', spec: () => ({ segment: 'lab' }), refused },
  { what: 'the pool away', spec: () => null },
]

const poolOf = (row: Row): string => `pool-${rows.indexOf(row)}`
const networkOf = (row: Row): string => `10.50.${rows.indexOf(row)}`
const addressOf = (row: Row, standing: Standing): string => `${networkOf(row)}.${hosts[standing]}`
const podOf = (row: Row, name: Standing | 'fresh' | 'first'): string => `${name}-${rows.indexOf(row)}`

const conditionOf = ({ status }: ApiObject, type: string): ApiObject | undefined =>
  (status?.conditions as ApiObject[] | undefined)?.find(one => one['type'] === type)

/** Addresses that stand in every way, in the pool of a row. */
async function prepare(cluster: Cluster, node: ClusterNode, row: Row): Promise<() => Promise<void>> {
  const metadata = { name: poolOf(row) }
  const spec = { subnet: `${networkOf(row)}.0/24` }
  await cluster.create({ apiVersion: 'ipkeeper.io/v1alpha1', kind: 'IPPool', metadata, spec })
  await cluster.until(`${root}/${poolOf(row)}`, found => conditionOf(found, 'Ready') !== undefined)
  const addresses = Object.fromEntries(
    standings.map(standing => [standing, addressOf(row, standing)]),
  ) as Record<Standing, string>
  return await giveStandings(cluster, node, addresses, {
    podOf: name => podOf(row, name),
    annotations: { 'ipkeeper.io/pool': poolOf(row) },
  })
}

/** Changes the object, and waits until it is in force, or refused. */
async function change(cluster: Cluster, row: Row): Promise<void> {
  const path = `${root}/${poolOf(row)}`
  const spec = row.spec(networkOf(row))
  if (!spec) {
    await cluster.request('DELETE', path)
    return
  }
  await cluster.request('PATCH', path, { spec })
  await cluster.until(path, found =>
    row.refused === undefined
      ? found['status']?.inForce?.generation === 2
      : conditionOf(found, 'Refused')?.['reason'] === row.refused,
  )
}

/** What the next ADD of a pod gets: an address, or the code of an error. */
async function foretell(node: ClusterNode, pod: string): Promise<string> {
  const [explained] = await node.explain(`shop/${pod}`)
  const { error, addresses } = explained as { error: { code: string } | null; addresses: readonly string[] }
  return error?.code ?? (addresses[0] ?? '').replace(/\/.*/, '')
}

async function judge(
  t: Test,
  node: ClusterNode,
  row: Row,
  when: string,
  gets: Row['gets'] = row.gets,
): Promise<void> {
  for (const standing of standings) {
    const got = await foretell(node, podOf(row, standing))
    const outcome = got.startsWith('IPK_') ? got : got === addressOf(row, standing) ? 'same' : 'other'
    const expected = gets?.[standing] ?? 'same'
    t.equal(outcome, expected, `${row.what}, ${when}: ${standing} gets ${got}`)
  }
  const fresh = await foretell(node, podOf(row, 'fresh'))
  t.ok(fresh.startsWith(`${networkOf(row)}.`), `${row.what}, ${when}: a new pod gets ${fresh}`)
  for (const standing of standings) t.not(fresh, addressOf(row, standing), `${row.what}, ${when}: it is free`)
}

t.test('an IPPool that changes', { skip, timeout: 600_000 }, async t => {
  const cluster = await startPreparedCluster(t, { resources: true })
  const node = await startClusterNode(t, cluster, {
    ...{ args: ['--store', 'kubernetes:'], ipam: { pool: 'pool-0' } },
    config: { cooldown: '1h', preferFor: '1h' },
  })
  const ends = new Map<Row, () => Promise<void>>()
  for (const row of rows) ends.set(row, await prepare(cluster, node, row))
  for (const row of rows) await change(cluster, row)
  for (const row of rows) await judge(t, node, row, 'at once')
  await node.restart()
  for (const row of rows) await judge(t, node, row, 'after a restart')

  await t.test('another name of the network', async t => {
    const [row] = rows.filter(({ what }) => what === 'the MTU')
    if (!row) return
    // The pod that lives is another holder until its sandbox is gone, and what is kept is kept for the old name.
    const gets = { live: 'IPK_ADDRESS_HELD', kept: 'other' } as const
    const written = readFileSync(node.conflist, 'utf8')
    writeFileSync(node.conflist, written.replace('"name":"fixed"', '"name":"renamed"'))
    await judge(t, node, row, 'renamed', gets)
    await node.restart()
    await judge(t, node, row, 'renamed, after a restart', gets)
    writeFileSync(node.conflist, written)
  })

  await t.test('is changed when nobody is in the way any more', async t => {
    for (const row of rows.filter(({ refused }) => refused !== undefined)) {
      await ends.get(row)?.()
      const { exit, stderr } = await node.daemon.control('release', '--pool', poolOf(row), '--yes')
      t.equal(exit, 0, `${row.what}: ${stderr}`)
      await cluster.until(`${root}/${poolOf(row)}`, ({ status }) => status?.inForce?.generation === 2)
    }
    const deleted = rows.find(({ spec }) => spec('') === null) ?? rows[0]
    if (!deleted) return
    await ends.get(deleted)?.()
    await node.daemon.control('release', '--pool', poolOf(deleted), '--yes')
    await until('it is gone', async () => {
      const { items } = await cluster.request('GET', root)
      return (items as ApiObject[]).every(({ metadata }) => metadata.name !== poolOf(deleted))
    })
  })
})
