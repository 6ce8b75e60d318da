/** The contract of an engine, point by point, on a real API server. */
import t, { type Test } from 'tap'
import {
  holderKey,
  leaseKey,
  type HolderRecord,
  type LeaseRecord,
  type NodeRecord,
  type PoolRecord,
  type ReservationRecord,
} from '../../ipkeeper-server/ipam/records/records.ts'
import { StoreConflict } from '../../ipkeeper-server/store/lease-store.ts'
import {
  type Engine,
  type EngineRecord,
  type EngineWrite,
} from '../../ipkeeper-server/store/shared/engine.ts'
import { holderRecord, lease, podHolder, reservationRecord } from '../rigs/records.ts'
import { startCluster, type Cluster } from '../rigs/cluster.ts'
import { installCustomResources, openEngine, type EngineSettings } from '../rigs/custom-resources.ts'
import { followEngine, type HeardRecords } from '../rigs/followed-engine.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing('cluster')

const root = '/apis/ipkeeper.io/v1alpha1'

function putLease(record: LeaseRecord, base: number | null = null): EngineWrite {
  return { kind: 'lease', key: leaseKey(record), base, text: JSON.stringify(record) }
}

const holderOf = (name: string, patch: Partial<HolderRecord> = {}): HolderRecord =>
  holderRecord({
    holder: podHolder(name),
    sandbox: { node: 'n1', podUid: 'u1', since: 1_700_000_000_000 },
    ...patch,
  })

function putHolder(record: HolderRecord, base: number | null = null): EngineWrite {
  return { kind: 'holder', key: holderKey(record.holder), base, text: JSON.stringify(record) }
}

const reservation = (address: string, patch: Partial<ReservationRecord> = {}): ReservationRecord =>
  reservationRecord(address, 'web-0', { since: 1_700_000_000_000, ...patch })

function putReservation(record: ReservationRecord, base: number | null = null): EngineWrite {
  return { kind: 'reservation', key: leaseKey(record), base, text: JSON.stringify(record) }
}

const remove = ({ kind, key }: EngineWrite, base: number): EngineWrite => ({ kind, key, base, text: null })

async function open(
  t: Test,
  cluster: Cluster,
  settings: EngineSettings = {},
): Promise<{ engine: Engine; heard: HeardRecords; lines: readonly Record<string, unknown>[] }> {
  const { engine, lines } = openEngine(t, cluster, settings)
  const heard = followEngine(engine)
  await until('the first list', () => heard.lists > 0)
  return { engine, heard, lines }
}

const ofHeard = (
  heard: HeardRecords,
  { kind, key }: Pick<EngineWrite, 'kind' | 'key'>,
): EngineRecord | undefined => heard.records.get(`${kind} ${key}`)

t.test('an engine on a real API server', { skip }, async t => {
  const cluster = await startCluster(t)
  await installCustomResources(cluster)
  await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  const one = await open(t, cluster)
  const two = await open(t, cluster)
  let last = 1
  /** A lease of an address that no other test has. */
  const fresh = (patch: Partial<LeaseRecord> = {}): LeaseRecord =>
    lease(`10.9.${last >> 8}.${last++ & 255}`, 1, patch)

  await t.test('1: commit resolves with the revisions, and everybody hears of it', async t => {
    const writes = [putLease(fresh()), putHolder(holderOf('web-1')), putLease(lease('fd00::1'))]
    const revisions = await one.engine.commit(writes)
    for (const [index, write] of writes.entries()) {
      t.match(await two.engine.read(write.kind, write.key), {
        revision: revisions[index],
        kind: write.kind,
        key: write.key,
      })
      for (const { heard } of [one, two]) {
        await until('the news', () => ofHeard(heard, write)?.revision === revisions[index])
        t.strictSame(JSON.parse(ofHeard(heard, write)?.text ?? ''), JSON.parse(write.text ?? ''))
      }
    }
    t.strictSame(
      await two.engine.commit(writes.map((write, index) => remove(write, revisions[index] ?? 0))),
      [null, null, null],
    )
    for (const write of writes) {
      t.equal(await one.engine.read(write.kind, write.key), undefined)
      for (const { heard } of [one, two]) await until('it is gone', () => !ofHeard(heard, write))
    }
  })

  await t.test('1: a conflict takes back what was written', async t => {
    const [mine, theirs, kept] = [fresh(), fresh(), fresh()]
    await two.engine.commit([putLease(theirs)])
    const before = holderOf('web-2', { leases: [{ segment: 'default', address: kept.address }] })
    const [holderStamp = 0, keptStamp = 0] = (await one.engine.commit([
      putHolder(before),
      putLease(kept),
    ])) as number[]
    const after = { ...before, generation: 2, leases: [] }
    await t.rejects(
      one.engine.commit([
        putHolder(after, holderStamp),
        putLease(mine),
        putLease({ ...kept, generation: 2, state: 'held' }, keptStamp),
        putLease(theirs),
      ]),
      StoreConflict,
    )
    t.equal(await one.engine.read('lease', leaseKey(mine)), undefined)
    for (const [kind, key, wanted] of [
      ['holder', holderKey(before.holder), before],
      ['lease', leaseKey(kept), kept],
      ['lease', leaseKey(theirs), theirs],
    ] as const) {
      const now = await one.engine.read(kind, key)
      t.strictSame(JSON.parse(now?.text ?? ''), wanted, `${kind} ${key} is as before`)
      for (const { heard } of [one, two])
        await until('all hear so', () => ofHeard(heard, { kind, key })?.revision === now?.revision)
    }
    for (const { heard } of [one, two]) await until('nothing is left', () => !ofHeard(heard, putLease(mine)))
  })

  await t.test('1: deletions that met a conflict are taken back as well', async t => {
    const [first, second] = [fresh(), fresh()]
    const [a = 0, b = 0] = (await one.engine.commit([putLease(first), putLease(second)])) as number[]
    await two.engine.commit([putLease({ ...second, generation: 2 }, b)])
    await t.rejects(
      one.engine.commit([remove(putLease(first), a), remove(putLease(second), b)]),
      StoreConflict,
    )
    t.strictSame(JSON.parse((await one.engine.read('lease', leaseKey(first)))?.text ?? ''), first)
  })

  await t.test('1: a revision never comes again', async t => {
    const record = fresh()
    const [revision = 0] = (await one.engine.commit([putLease(record)])) as number[]
    await two.engine.commit([remove(putLease(record), revision)])
    const [again = 0] = (await two.engine.commit([putLease(record)])) as number[]
    t.not(again, revision)
    await t.rejects(one.engine.commit([putLease({ ...record, generation: 2 }, revision)]), StoreConflict)
    await t.rejects(one.engine.commit([remove(putLease(record), revision)]), StoreConflict)
    t.match(await one.engine.read('lease', leaseKey(record)), { revision: again })
    for (const { heard } of [one, two])
      await until('the second one is heard of', () => ofHeard(heard, putLease(record))?.revision === again)
  })

  await t.test('1: what people have written on an object stays', async t => {
    const record = fresh()
    const [revision = 0] = (await one.engine.commit([putLease(record)])) as number[]
    const name = `default-${record.address
      .split('.')
      .map(part => part.padStart(3, '0'))
      .join('-')}`
    const edited = await cluster.request('PATCH', `${root}/ipleases/${name}`, {
      metadata: { labels: { team: 'shop' }, annotations: { why: 'because' } },
    })
    await t.rejects(one.engine.commit([putLease({ ...record, generation: 2 }, revision)]), StoreConflict)
    const now = Number(edited['metadata'].resourceVersion)
    await one.engine.commit([putLease({ ...record, generation: 2 }, now)])
    t.match(await cluster.request('GET', `${root}/ipleases/${name}`), {
      metadata: { labels: { team: 'shop' }, annotations: { why: 'because' } },
      spec: { generation: 2 },
    })
  })

  await t.test('1: what is not kept is forgotten, and nothing is written for nothing', async t => {
    t.strictSame(await one.engine.commit([]), [])
    t.strictSame(await one.engine.commit([{ kind: 'quota', key: 'q', base: 7, text: '{}' }]), [0])
    t.equal(await one.engine.read('quota', 'q'), undefined)
    t.strictSame(one.engine.ignores, ['quota', 'mac', 'ending'])
  })

  await t.test('of many at once, one is the first', async t => {
    const many = await Promise.all(Array.from({ length: 6 }, () => open(t, cluster)))
    const record = fresh()
    const outcomes = await Promise.allSettled(
      many.flatMap(({ engine }, index) =>
        Array.from({ length: 5 }, (_, turn) =>
          engine.commit([
            putHolder(holderOf(`storm-${index}-${turn}`)),
            putLease({ ...record, podUid: `u-${index}-${turn}` }),
          ]),
        ),
      ),
    )
    const won = outcomes.filter(({ status }) => status === 'fulfilled')
    t.equal(won.length, 1)
    for (const outcome of outcomes) if (outcome.status === 'rejected') t.type(outcome.reason, StoreConflict)
    const { items } = await cluster.request('GET', `${root}/ipholders`)
    const storm = (items as { spec: { holder: { name: string } } }[]).filter(({ spec }) =>
      spec.holder.name.startsWith('storm-'),
    )
    t.equal(storm.length, 1, 'of the others nothing is left')
    for (const { heard } of many) t.strictSame(heard.faults, [])
  })

  await t.test('a chain of changes by many', async t => {
    const record = fresh()
    await one.engine.commit([putLease(record)])
    const key = leaseKey(record)
    let conflicts = 0
    const add = async (engine: Engine): Promise<void> => {
      for (let left = 5; left > 0;) {
        const now = await engine.read('lease', key)
        const before = JSON.parse(now?.text ?? '') as LeaseRecord
        try {
          await engine.commit([
            putLease({ ...before, generation: before.generation + 1 }, now?.revision ?? null),
          ])
          left--
        } catch (error) {
          if (!(error instanceof StoreConflict)) throw error
          conflicts++
        }
      }
    }
    await Promise.all([one, two, one, two].map(({ engine }) => add(engine)))
    t.match(JSON.parse((await one.engine.read('lease', key))?.text ?? ''), { generation: 21 })
    t.ok(conflicts > 0, 'they did meet')
  })

  await t.test('reservations: several addresses of one object', async t => {
    await cluster.create({
      apiVersion: 'ipkeeper.io/v1alpha1',
      kind: 'IPReservation',
      metadata: { name: 'web', namespace: 'shop' },
      spec: {
        owner: { kind: 'StatefulSet', name: 'web' },
        addresses: ['10.9.200.1', '10.9.200.2', 'fd00:9::1'],
        note: 'for the shop',
      },
    })
    const keys = ['10.9.200.1', '10.9.200.2', 'fd00:9::1'].map(address =>
      leaseKey({ segment: 'default', address }),
    )
    await until('all are heard of', () => keys.every(key => ofHeard(one.heard, { kind: 'reservation', key })))
    const [first = ''] = keys
    const found = await one.engine.read('reservation', first)
    t.match(JSON.parse(found?.text ?? ''), {
      namespace: 'shop',
      kind: 'StatefulSet',
      name: 'web',
      note: 'for the shop',
    })
    t.equal(found?.revision, ofHeard(one.heard, { kind: 'reservation', key: first })?.revision)
    await one.engine.commit([{ kind: 'reservation', key: first, base: found?.revision ?? null, text: null }])
    t.match(await cluster.request('GET', `${root}/namespaces/shop/ipreservations/web`), {
      spec: { addresses: ['10.9.200.2', 'fd00:9::1'], owner: { kind: 'StatefulSet', name: 'web' } },
    })
    for (const { heard } of [one, two])
      await until('one is gone', () => !ofHeard(heard, { kind: 'reservation', key: first }))
    t.ok(ofHeard(one.heard, { kind: 'reservation', key: keys[1] ?? '' }))
    for (const key of keys.slice(1)) {
      const now = await two.engine.read('reservation', key)
      await two.engine.commit([{ kind: 'reservation', key, base: now?.revision ?? null, text: null }])
    }
    await t.rejects(cluster.request('GET', `${root}/namespaces/shop/ipreservations/web`), /404/)
  })

  await t.test('reservations: as ipkeeperctl makes them', async t => {
    const pod = reservation('10.9.201.1', { note: 'one' })
    const printer = reservation('10.9.201.2', { namespace: '', kind: 'external', name: 'printer-3' })
    const revisions = await one.engine.commit([putReservation(pod), putReservation(printer)])
    t.match(await cluster.request('GET', `${root}/namespaces/shop/ipreservations/default-010-009-201-001`), {
      spec: { owner: { pod: 'web-0' } },
    })
    t.match(
      await cluster.request('GET', `${root}/namespaces/default/ipreservations/default-010-009-201-002`),
      {
        spec: { owner: { external: 'printer-3' } },
      },
    )
    for (const [index, record] of [pod, printer].entries()) {
      const found = await two.engine.read('reservation', leaseKey(record))
      t.strictSame(JSON.parse(found?.text ?? ''), record)
      t.equal(found?.revision, revisions[index])
    }
    await t.rejects(one.engine.commit([putReservation(pod)]), StoreConflict)
    const changed = { ...pod, generation: 2, note: 'two' }
    await until('the other one knows', () => two.heard.records.has(`reservation ${leaseKey(pod)}`))
    const [second = 0] = (await two.engine.commit([
      putReservation(changed, revisions[0] ?? null),
    ])) as number[]
    t.match(await one.engine.read('reservation', leaseKey(pod)), { revision: second, text: /two/ })
    await t.rejects(
      one.engine.commit([putReservation(reservation('10.9.201.3', { namespace: 'nowhere' }))]),
      { code: 'IPK_STORE_FAILED', message: /nowhere/ },
    )
  })

  await t.test('reservations: two that promise one address', async t => {
    const manifest = (name: string, pod: string) => ({
      apiVersion: 'ipkeeper.io/v1alpha1',
      kind: 'IPReservation',
      metadata: { name, namespace: 'shop' },
      spec: { owner: { pod }, addresses: ['10.9.202.1'] },
    })
    const key = leaseKey({ segment: 'default', address: '10.9.202.1' })
    await cluster.create(manifest('b-first', 'first'))
    // Times of the API are whole seconds.
    await until('a second is over', async () => {
      const { metadata } = await cluster.request('GET', `${root}/namespaces/shop/ipreservations/b-first`)
      return Date.now() - Date.parse(metadata.creationTimestamp as string) > 1100
    })
    await cluster.create(manifest('a-second', 'second'))
    await until('somebody is told', () => one.lines.some(line => line['counts'] === 'shop/b-first'))
    t.match(await one.engine.read('reservation', key), { text: /"first"/ })
    await cluster.request('DELETE', `${root}/namespaces/shop/ipreservations/b-first`)
    for (const { heard } of [one, two])
      await until(
        'the other one counts',
        () => ofHeard(heard, { kind: 'reservation', key })?.text.includes('second') === true,
      )
    const now = await one.engine.read('reservation', key)
    await one.engine.commit([{ kind: 'reservation', key, base: now?.revision ?? null, text: null }])
    await until('none is left', () => !ofHeard(two.heard, { kind: 'reservation', key }))
  })

  await t.test('pools: of networks, and of people', async t => {
    const record: PoolRecord = {
      generation: 1,
      name: 'Fixed_Net',
      segment: 'default',
      ranges: [
        [
          {
            subnet: '10.8.0.0/24',
            rangeStart: '10.8.0.1',
            rangeEnd: '10.8.0.254',
            gateway: '10.8.0.1',
            exclude: [['10.8.0.1', '10.8.0.1']],
          },
        ],
      ],
    }
    const write: EngineWrite = { kind: 'pool', key: record.name, base: null, text: JSON.stringify(record) }
    await one.engine.commit([write])
    await until('the news', () => ofHeard(two.heard, write) !== undefined)
    t.equal(ofHeard(two.heard, write)?.text, JSON.stringify(record), 'in the same order, too')
    await cluster.create({
      apiVersion: 'ipkeeper.io/v1alpha1',
      kind: 'IPPool',
      metadata: { name: 'prod' },
      spec: { subnet: '10.7.0.0/24', rangeEnd: '10.7.0.9', namespaces: ['shop'] },
    })
    await until('the news', () => one.heard.records.has('pool prod'))
    const prod = await one.engine.read('pool', 'prod')
    t.match(JSON.parse(prod?.text ?? ''), {
      name: 'prod',
      segment: 'default',
      ranges: [[{ subnet: '10.7.0.0/24', rangeStart: '10.7.0.1', rangeEnd: '10.7.0.9' }]],
    })
    await t.rejects(
      one.engine.commit([{ kind: 'pool', key: 'prod', base: prod?.revision ?? null, text: null }]),
      {
        code: 'IPK_STORE_FAILED',
      },
    )
  })

  await t.test('nodes', async t => {
    const record = (name: string, patch: Partial<NodeRecord> = {}): EngineWrite => ({
      kind: 'node',
      key: name,
      base: null,
      text: JSON.stringify({
        name,
        generation: 1,
        addresses: ['192.0.2.1'],
        since: 1_700_000_000_000,
        ...patch,
      }),
    })
    const write = record('worker-1')
    const [revision = null] = await one.engine.commit([write])
    await until('the news', () => ofHeard(two.heard, write)?.revision === revision)
    t.match(await two.engine.read('node', 'worker-1'), { revision, text: /"addresses":\["192.0.2.1"\]/ })
    t.match(await cluster.request('GET', `${root}/ipnodes/worker-1`), { spec: { name: 'worker-1' } })
    await t.rejects(two.engine.commit([write]), StoreConflict)
    await t.rejects(two.engine.commit([{ ...write, base: (revision ?? 0) - 1 }]), StoreConflict)
    // A name that no object can have.
    const odd = record('Worker_2')
    await one.engine.commit([odd])
    t.match(await two.engine.read('node', 'Worker_2'), { key: 'Worker_2', text: /"name":"Worker_2"/ })
    await two.engine.commit([{ ...write, base: revision, text: null }])
    await until('it is gone', () => !ofHeard(one.heard, write))
    t.equal(one.engine.lacks, undefined)
  })

  await t.test('what is newer than this version is neither read nor changed', async t => {
    const record = fresh()
    const [revision = 0] = (await one.engine.commit([putLease(record)])) as number[]
    const name = `default-${record.address
      .split('.')
      .map(part => part.padStart(3, '0'))
      .join('-')}`
    await cluster.request('PATCH', `${root}/ipleases/${name}`, { spec: { schema: 2 } })
    for (const { heard } of [one, two])
      await until('it is passed over', () => !ofHeard(heard, putLease(record)))
    await t.rejects(one.engine.read('lease', leaseKey(record)), {
      code: 'IPK_STORE_FAILED',
      message: /written by a newer ipkeeper \(schema 2; this one knows 1\): update this node/,
    })
    await t.rejects(one.engine.commit([putLease(record)]), StoreConflict)
    await t.rejects(one.engine.commit([putLease(record, revision)]), StoreConflict)
    t.ok(one.lines.some(line => line['name'] === name && /newer/.test(String(line['reason']))))
  })

  await t.test('a probe changes nothing', async t => {
    const count = async (): Promise<number> =>
      (await cluster.request('GET', `${root}/ipholders`))['items'].length as number
    const before = await count()
    await one.engine.probe()
    t.equal(await count(), before)
  })

  for (const { heard } of [one, two]) t.strictSame(heard.faults, [])
})
