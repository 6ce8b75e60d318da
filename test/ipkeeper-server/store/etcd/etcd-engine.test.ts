import t, { type Test } from 'tap'
import { StoreConflict } from '../../../../ipkeeper-server/store/lease-store.ts'
import type { EtcdEngine } from '../../../../ipkeeper-server/store/etcd/etcd-engine.ts'
import type { SharedKind, EngineWrite } from '../../../../ipkeeper-server/store/shared/engine.ts'
import { startEtcdCluster } from '../../../rigs/etcd.ts'
import { until } from '../../../rigs/poll.ts'
import { missing } from '../../../rigs/requirements.ts'
import { startTcpRelay } from '../../../rigs/tcp-relay.ts'
import { connectEtcd, Heard, type ConnectOptions } from './heard.ts'

const skip = missing('etcd')

const lease = (address: string): string => JSON.stringify(['default', address])

const text = (generation: number, note = ''): string => JSON.stringify({ generation, note })

const put = (key: string, base: number | null, to: string): EngineWrite => ({
  kind: 'lease',
  key,
  base,
  text: to,
})

const remove = (key: string, base: number | null): EngineWrite => ({ kind: 'lease', key, base, text: null })

t.test('the engine on one member', { skip }, async t => {
  const etcd = await startEtcdCluster(t)
  let ledgers = 0

  /** Nodes of a ledger of its own. */
  const ledger = () => {
    const prefix = `/ledger-${++ledgers}/`
    return {
      prefix,
      connect: (t: Test, options: ConnectOptions = {}): EtcdEngine =>
        connectEtcd(t, etcd.urls, { prefix, ...options }),
    }
  }
  const follow = async (engine: EtcdEngine): Promise<Heard> => {
    const heard = new Heard()
    engine.start(heard)
    await until('the first list', () => heard.replaced > 0)
    return heard
  }

  t.test('1: revisions are those that the records have then', async t => {
    const engine = ledger().connect(t)
    const [a, b] = await engine.commit([put('a', null, text(1)), put('b', null, text(1))])
    t.equal(a, b, 'one transaction')
    t.strictSame(await engine.read('lease', 'a'), { kind: 'lease', key: 'a', text: text(1), revision: a })
    const [changed, gone] = await engine.commit([put('a', a ?? 0, text(2)), remove('b', b ?? 0)])
    t.ok((changed ?? 0) > (a ?? 0))
    t.equal(gone, null)
    t.equal(await engine.read('lease', 'b'), undefined)
    t.strictSame(await engine.commit([]), [])
    t.strictSame(await engine.commit([remove('never there', null)]), [null])
  })

  t.test('1: what is in the way is named, and nothing is written', async t => {
    const engine = ledger().connect(t)
    const [revision = 0] = await engine.commit([put('there', null, text(1))])
    const rows: readonly (readonly [what: string, writes: readonly EngineWrite[], named: string])[] = [
      ['create what is there', [put('new', null, text(1)), put('there', null, text(1))], 'there'],
      [
        'change another version',
        [put('new', null, text(1)), put('there', (revision ?? 0) - 1, text(2))],
        'there',
      ],
      ['delete another version', [remove('there', (revision ?? 0) - 1), put('new', null, text(1))], 'there'],
      ['change what is not there', [put('gone', 7, text(2)), put('there', revision, text(2))], 'gone'],
      ['delete what is not there', [put('there', revision, text(2)), remove('gone', 7)], 'gone'],
    ]
    for (const [what, writes, key] of rows) {
      await t.rejects(engine.commit(writes), new StoreConflict('lease', key), what)
      t.match(await engine.read('lease', 'there'), { text: text(1), revision }, what)
      t.equal(await engine.read('lease', 'new'), undefined, what)
    }
  })

  t.test('1: a record that was deleted and made anew with an equal text is another one', async t => {
    const engine = ledger().connect(t)
    const [first = 0] = await engine.commit([put('a', null, text(1))])
    await engine.commit([remove('a', first)])
    const [second = 0] = await engine.commit([put('a', null, text(1))])
    await t.rejects(engine.commit([put('a', first, text(2))]), StoreConflict)
    await engine.commit([put('a', second, text(2))])
  })

  t.test('1: of two that want the same, one has it', async t => {
    const { connect } = ledger()
    const nodes = [connect(t), connect(t), connect(t)]
    for (let round = 0; round < 20; round++) {
      const writes = [put(`a${round}`, null, text(1)), put(`b${round}`, null, text(1))]
      const outcomes = await Promise.allSettled(
        nodes.map((node, index) => node.commit(index === 1 ? [...writes].reverse() : writes)),
      )
      t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
      for (const outcome of outcomes) if (outcome.status === 'rejected') t.type(outcome.reason, StoreConflict)
    }
  })

  t.test('1: a change that is too large for a transaction says so', async t => {
    const engine = ledger().connect(t)
    const writes = Array.from({ length: 128 }, (_, index) => put(`a${index}`, null, text(1)))
    await t.rejects(engine.commit(writes), {
      code: 'IPK_STORE_FAILED',
      message: /too many operations/,
      hint: /--max-txn-ops/,
    })
    await engine.commit(writes.slice(0, 127))
  })

  t.test('3: everything is heard, in order, whoever wrote it', async t => {
    const { connect } = ledger()
    const [one, two, listener] = [connect(t), connect(t), connect(t)]
    await one.commit([put('before', null, text(1))])
    const heard = await follow(listener)
    t.strictSame(heard.log, ['replace 1'])
    const ownHeard = await follow(one)
    let revision: number | null = null
    for (let generation = 1; generation <= 50; generation++) {
      const writer = generation % 2 === 0 ? one : two
      ;[revision = null] = await writer.commit([put('a', revision, text(generation))])
    }
    await one.commit([remove('a', revision)])
    await until('the end', () => heard.log.at(-1) === 'remove a' && ownHeard.log.at(-1) === 'remove a')
    const told = Array.from({ length: 50 }, (_, index) => `put a ${text(index + 1)}`)
    t.strictSame(heard.log.slice(1, -1), told)
    t.strictSame(heard.troubles, [])
    // What its own commit told already is not told in an older version; what comes after is.
    const places = ownHeard.log.slice(1, -1).map(line => told.indexOf(line))
    t.strictSame(
      places,
      [...places].sort((a, b) => a - b),
    )
    t.notOk(places.includes(-1))
  })

  t.test('3: what this node deleted or changed does not come back', async t => {
    const { connect } = ledger()
    const [one, two] = [connect(t), connect(t)]
    const heard = await follow(two)
    for (let round = 0; round < 40; round++) {
      const key = `a${round}`
      const [revision = null] = await one.commit([put(key, null, text(1))])
      await two.commit([remove(key, revision)])
      const since = heard.log.length
      await two.commit([
        put('mark', round === 0 ? null : ((await two.read('lease', 'mark'))?.revision ?? null), text(round)),
      ])
      await until('the mark', () => heard.text('lease', 'mark') === text(round))
      t.notOk(heard.log.slice(since).some(line => line.startsWith(`put ${key} `)))
      t.notOk(heard.records.has(`lease ${key}`))
    }
  })

  t.test('3: what a caller is told has been heard before', async t => {
    const { connect } = ledger()
    const [one, two] = [connect(t), connect(t)]
    const heard = await follow(two)
    for (let round = 0; round < 30; round++) {
      const key = `a${round}`
      // What it was before is news that may come while the answer is on its way.
      const [other = null] = await one.commit([put(key, null, text(1))])
      await one.commit([remove(key, other)])
      const [revision = null] = await two.commit([put(key, null, text(2))])
      t.equal(heard.text('lease', key), text(2), 'created')
      const [changed = null] = await one.commit([put(key, revision, text(3))])
      await two.read('lease', key)
      t.equal(heard.text('lease', key), text(3), 'read')
      await two.commit([remove(key, changed)])
      t.equal(heard.text('lease', key), undefined, 'deleted')
      await one.commit([put(key, null, text(4))])
      await two.read('lease', key)
      t.equal(heard.text('lease', key), text(4), 'read again')
    }
    const last = (key: string): string | undefined => heard.log.findLast(line => line.split(' ')[1] === key)
    await one.commit([put('end', null, text(1))])
    await until('the end', () => heard.text('lease', 'end') !== undefined)
    for (let round = 0; round < 30; round++) t.equal(last(`a${round}`), `put a${round} ${text(4)}`)
  })

  t.test('3: every kind of record under its own key', async t => {
    const { connect, prefix } = ledger()
    const engine = connect(t, { node: 'n0' })
    const keys: readonly (readonly [SharedKind, string])[] = [
      ['lease', lease('10.22.0.50')],
      ['holder', '["pod","net","shop","web-0","eth0"]'],
      ['reservation', lease('10.22.0.50')],
      ['pool', 'prod'],
      ['quota', '["prod","shop",4]'],
      ['mac', '["default",2]'],
    ]
    await engine.commit(keys.map(([kind, key]) => ({ kind, key, base: null, text: text(1, kind) })))
    const heard = await follow(connect(t))
    for (const [kind, key] of keys) t.equal(heard.text(kind, key), text(1, kind))
    t.strictSame(
      [...(await etcd.all(prefix)).keys()].map(key => key.slice(prefix.length)),
      [
        'fences/n0',
        'holders/pod/net/shop/web-0/eth0',
        'leases/default-010-022-000-050',
        'macs/default/#2',
        'pools/prod',
        'quotas/prod/shop/#4',
        'reservations/default/10.22.0.50',
      ],
    )
  })

  t.test('3: what others keep under the prefix is let be', async t => {
    const { connect, prefix } = ledger()
    await etcd.put(`${prefix}notes/a`, 'hello')
    const heard = await follow(connect(t))
    await etcd.put(`${prefix}notes/b`, 'hello')
    await etcd.put(`${prefix}pools/p`, `{"v":1,"record":${text(1)}}`)
    await until('the pool', () => heard.log.length === 2)
    t.strictSame(heard.log, ['replace 0', `put p ${text(1)}`])
    t.strictSame(heard.troubles, [])
  })

  t.test('3: thousands of records, by pages', async t => {
    const { connect } = ledger()
    const engine = connect(t)
    const keys = Array.from({ length: 2_500 }, (_, index) => lease(`10.0.${index >> 8}.${index & 255}`))
    for (let at = 0; at < keys.length; at += 125)
      await engine.commit(keys.slice(at, at + 125).map(key => put(key, null, text(1, 'x'.repeat(500)))))
    const heard = await follow(connect(t))
    t.equal(heard.records.size, keys.length)
  })

  t.test('2: a reading waits until the feed has come as far', async t => {
    const { connect } = ledger()
    const [one, two] = [connect(t), connect(t)]
    const heard = await follow(two)
    for (let round = 1; round <= 30; round++) {
      await one.commit([
        put(`lease-${round}`, null, text(1)),
        { kind: 'quota', key: `guard-${round}`, base: null, text: text(1) },
      ])
      t.match(await two.read('quota', `guard-${round}`), { text: text(1) })
      t.equal(heard.text('lease', `lease-${round}`), text(1))
    }
  })

  t.test('4: versions that are forgotten', async t => {
    const { connect } = ledger()
    const [one, two] = [connect(t), connect(t)]
    const heard = await follow(two)
    const [revision = 0] = await one.commit([put('a', null, text(1)), put('b', null, text(1))])
    await until('both', () => heard.records.size === 2)
    // Frozen, it cannot hear of what happens; the connection breaks when it is ended.
    const [member] = etcd.members
    await member?.kill()
    await until('trouble', () => heard.reason !== undefined)
    await member?.start()
    await one.commit([put('a', revision, text(2)), remove('b', revision), put('c', null, text(1))])
    await etcd.compact()
    await until('all of it', () => heard.text('lease', 'a') === text(2) && !heard.records.has('lease b'))
    await until('no trouble', () => heard.reason === undefined)
    t.equal(heard.text('lease', 'c'), text(1))
  })

  t.test('4 and 5: a member that is away, and comes back', async t => {
    const { connect } = ledger()
    const engine = connect(t, { deadlineMs: 1_000 })
    const heard = await follow(engine)
    const [revision = 0] = await engine.commit([put('a', null, text(1))])
    const [member] = etcd.members
    await member?.kill()
    const began = performance.now()
    await t.rejects(engine.commit([put('a', revision, text(2))]), {
      name: 'EngineAway',
      message: /^etcd: http:.*ECONN/,
    })
    await t.rejects(engine.read('lease', 'a'), { name: 'EngineAway' })
    await t.rejects(engine.probe(), { name: 'EngineAway' })
    t.ok(performance.now() - began < 1_000, 'at once')
    await until('trouble', () => heard.reason !== undefined)
    t.match(heard.reason, /ECONNREFUSED|ECONNRESET/)
    await member?.start()
    await until(
      'it takes writes',
      async () =>
        await engine.probe().then(
          () => true,
          () => false,
        ),
    )
    await engine.commit([put('a', revision, text(2))])
    t.equal(heard.text('lease', 'a'), text(2))
    await until('the watch', () => heard.reason === undefined)
  })

  t.test('5: a member that is frozen', async t => {
    const { connect } = ledger()
    const engine = connect(t, { deadlineMs: 500, watch: { silence: 300, pauses: [50, 200] } })
    const heard = await follow(engine)
    const [revision = 0] = await engine.commit([put('a', null, text(1))])
    const [member] = etcd.members
    member?.freeze()
    try {
      for (const call of [
        async () => {
          await engine.commit([put('a', revision, text(2))])
        },
        async () => {
          await engine.read('lease', 'a')
        },
        () => engine.probe(),
      ]) {
        const began = performance.now()
        await t.rejects(call, { name: 'EngineAway', message: /Deadline exceeded/ })
        t.ok(performance.now() - began < 700)
      }
      await until('the silence is noticed', () => heard.reason !== undefined)
    } finally {
      member?.thaw()
    }
    await until('it is heard again', () => heard.reason === undefined)
    await until(
      'it takes writes',
      async () =>
        await engine.probe().then(
          () => true,
          () => false,
        ),
    )
    const present = await engine.read('lease', 'a')
    t.ok([text(1), text(2)].includes(present?.text ?? ''), 'as it could not be told')
    await engine.commit([put('a', present?.revision ?? 0, text(3))])
    await until('the news', () => heard.text('lease', 'a') === text(3))
  })

  t.test('a watch of nothing but silence stays', async t => {
    const { connect } = ledger()
    const one = connect(t)
    const heard = await follow(connect(t, { watch: { silence: 100, pauses: [50, 200] } }))
    const began = performance.now()
    await until('some signs of life', () => performance.now() - began > 1_000)
    await one.commit([put('a', null, text(1))])
    await until('the news', () => heard.records.size === 1)
    t.strictSame(heard.troubles, [])
    t.equal(heard.replaced, 1)
  })

  t.test('1: a commit whose answer was lost on the way', async t => {
    const { connect, prefix } = ledger()
    const other = connect(t)
    const [url = ''] = etcd.urls
    const { hostname, port } = new URL(url)
    const relay = await startTcpRelay(t, { host: hostname, port: Number(port) })
    const [one = null, two = null] = await other.commit([
      put('one', null, text(1)),
      put('two', null, text(1)),
    ])
    const [alone = null] = await other.commit([put('alone', null, text(1))])
    const rows: readonly (readonly [
      what: string,
      writes: readonly EngineWrite[],
      outcome: 'done' | 'EngineAway' | 'StoreConflict',
    ])[] = [
      ['a new record', [put('new', null, text(1))], 'done'],
      ['a change and a deletion', [put('one', one, text(2)), remove('two', two)], 'done'],
      ['a deletion alone: nothing says whose it was', [remove('alone', alone)], 'EngineAway'],
      ['a real conflict', [put('one', one, text(3)), put('newer', null, text(1))], 'StoreConflict'],
    ]
    for (const [what, writes, outcome] of rows) {
      relay.open()
      // Asks through the relay first.
      const through = connectEtcd(t, [`http://127.0.0.1:${relay.port}`, url], {
        prefix,
        deadlineMs: 1_000,
        random: () => 0,
      })
      await through.fence()
      relay.mute()
      if (outcome === 'done') {
        const revisions = await through.commit(writes)
        for (const [index, { key, text: written }] of writes.entries()) {
          const present = await other.read('lease', key)
          t.equal(revisions[index], present?.revision ?? null, what)
          t.equal(present?.text ?? null, written, what)
        }
      } else if (outcome === 'EngineAway') await t.rejects(through.commit(writes), { name: outcome }, what)
      else await t.rejects(through.commit(writes), StoreConflict, what)
    }
    t.equal(await other.read('lease', 'newer'), undefined)
  })

  t.test('1: a commit that arrives when its record has gone again', async t => {
    const { connect, prefix } = ledger()
    const other = connect(t)
    const [url = ''] = etcd.urls
    const { hostname, port } = new URL(url)
    const relay = await startTcpRelay(t, { host: hostname, port: Number(port) })
    const slow = `http://127.0.0.1:${relay.port}`
    const options = { prefix, node: 'slow', deadlineMs: 1_000, random: () => 0 }
    const rows: readonly (readonly [
      what: string,
      urls: readonly string[],
      meanwhile: (done: Promise<readonly (number | null)[]>) => Promise<unknown>,
    ])[] = [
      [
        'it was repeated elsewhere, and then deleted',
        [slow, url],
        async done => {
          const [revision = null] = await done
          await other.commit([remove('late', revision)])
        },
      ],
      [
        'nobody could tell, and the next run of the daemon asks',
        [slow],
        async done => {
          await t.rejects(done, { name: 'EngineAway' })
          await connectEtcd(t, [url], options).fence()
          t.equal(await other.read('lease', 'late'), undefined)
        },
      ],
    ]
    for (const [what, urls, meanwhile] of rows) {
      relay.open()
      const through = connectEtcd(t, urls, options)
      await through.fence()
      const held = relay.hold()
      const done = through.commit([put('late', null, text(1))])
      done.catch(() => undefined)
      await until('the request is on its way', () => held() > text(1).length)
      const { deliver } = relay.stopHolding()
      await meanwhile(done)
      const said = deliver()
      await until('it is answered', () => said() > 100)
      t.equal(await other.read('lease', 'late'), undefined, what)
    }
  })

  t.test('records of a newer ipkeeper', async t => {
    const { connect, prefix } = ledger()
    const engine = connect(t)
    const [revision = 0] = await engine.commit([put('a', null, text(1)), put('b', null, text(1))])
    const heard = await follow(engine)
    const newer = '{"v":2,"what":"nobody here knows"}'
    const refused = {
      code: 'IPK_STORE_FAILED',
      message: /leases\/=b is written by a newer ipkeeper \(schema 2; this one knows 1\): update this node/,
    }
    await etcd.put(`${prefix}leases/=b`, newer)
    await until('trouble', () => heard.reason !== undefined)
    t.match(heard.reason, refused.message)
    t.equal(heard.text('lease', 'b'), text(1), 'what it was stays, so that it is not free')
    await t.rejects(engine.read('lease', 'b'), refused)
    await t.rejects(engine.commit([put('new', null, text(1))]), refused, 'no claims')
    await t.rejects(engine.commit([put('b', revision, text(2))]), refused, 'it is not overwritten')
    await t.rejects(engine.commit([remove('b', revision)]), refused, 'nor deleted')
    t.equal((await etcd.all(prefix)).get(`${prefix}leases/=b`), newer)
    t.match(await engine.read('lease', 'a'), { text: text(1) }, 'the rest is read')
    await engine.commit([put('a', revision, text(2))])
    const other = connect(t)
    const seen = await follow(other)
    await until('trouble there, too', () => seen.reason !== undefined)
    t.match(seen.reason, refused.message)
    await t.rejects(other.commit([put('new', null, text(1))]), refused)
    await etcd.remove(`${prefix}leases/=b`)
    await until('no trouble', () => heard.reason === undefined && seen.reason === undefined)
    await other.commit([put('new', null, text(1))])
  })

  t.test('after its end', async t => {
    const engine = ledger().connect(t)
    await follow(engine)
    const under = engine.commit([put('a', null, text(1))]).catch((error: unknown) => error)
    await engine.stop()
    await under
    await t.rejects(engine.read('lease', 'a'), { name: 'EngineAway' })
    await engine.stop()
  })
})

t.test('the engine on three members', { skip }, async t => {
  const etcd = await startEtcdCluster(t, { members: 3 })

  /** Writes until told to stop; nothing of it may fail, and every record is what was last told of it. */
  async function whileWriting(t: Test, what: () => Promise<void>): Promise<void> {
    const prefix = `/${t.name.replaceAll(' ', '-')}/`
    const writers = Array.from({ length: 4 }, (_, index) =>
      connectEtcd(t, etcd.urls, { prefix, random: () => index / 4 }),
    )
    const heard = new Heard()
    const listener = connectEtcd(t, etcd.urls, { prefix, watch: { silence: 300, pauses: [50, 500] } })
    listener.start(heard)
    await until('the first list', () => heard.replaced > 0)
    let going = true
    const last = new Map<string, string>()
    const work = writers.map(async (engine, index) => {
      const key = `w${index}`
      let revision: number | null = null
      for (let generation = 1; going; generation++) {
        ;[revision = null] = await engine.commit([put(key, revision, text(generation))])
        last.set(key, text(generation))
      }
    })
    try {
      await until('some writes', () => last.size === writers.length)
      await what()
    } finally {
      going = false
    }
    await Promise.all(work)
    await until('all is heard', () => [...last].every(([key, to]) => heard.text('lease', key) === to))
    t.ok(last.size === writers.length)
  }

  t.test('a member is killed', async t => {
    const [member] = etcd.members
    await whileWriting(t, async () => {
      await member?.kill()
      await t.resolves(connectEtcd(t, etcd.urls).probe())
    })
    await member?.start()
  })

  t.test('the leader is killed', async t => {
    const leader = await etcd.leader()
    await whileWriting(t, async () => {
      await leader.kill()
      await t.resolves(connectEtcd(t, etcd.urls).probe())
    })
    await leader.start()
  })

  t.test('a member is frozen', async t => {
    const leader = await etcd.leader()
    const member = etcd.members.find(other => other !== leader)
    await whileWriting(t, async () => {
      member?.freeze()
      const began = performance.now()
      for (let index = 0; index < 3; index++)
        await connectEtcd(t, etcd.urls, { random: () => index / 3 }).probe()
      t.ok(performance.now() - began < 5_000)
      member?.thaw()
    })
  })

  t.test('a guard that the watch is behind of is not heard of before what stands behind it', async t => {
    const leader = await etcd.leader()
    const member = etcd.members.find(other => other !== leader)
    const at = etcd.members.findIndex(other => other === member) / etcd.members.length
    const [prefix, guard] = ['/behind/', 'guard']
    const one = connectEtcd(t, [leader.url], { prefix })
    const heard = new Heard()
    const two = connectEtcd(t, etcd.urls, {
      ...{ prefix, deadlineMs: 8_000, random: () => at },
      watch: { silence: 60_000, pauses: [50, 500] },
    })
    two.start(heard)
    await until('the first list', () => heard.replaced > 0)
    member?.freeze()
    try {
      await one.commit([put('lease', null, text(1)), { kind: 'mac', key: guard, base: null, text: text(1) }])
      await t.rejects(two.read('mac', guard), { name: 'EngineAway', message: /its watch lags behind/ })
      t.strictSame([heard.text('lease', 'lease'), heard.text('mac', guard)], [undefined, undefined])
    } finally {
      member?.thaw()
    }
    await until('both', () => heard.records.size === 2)
    t.match(await two.read('mac', guard), { text: text(1) })
  })

  t.test('a majority is away', async t => {
    const engine = connectEtcd(t, etcd.urls, { deadlineMs: 1_000 })
    const [, ...others] = etcd.members
    for (const member of others) await member.kill()
    const began = performance.now()
    await t.rejects(engine.commit([put('nobody', null, text(1))]), { name: 'EngineAway' })
    t.ok(performance.now() - began < 1_300)
    await Promise.all(others.map(member => member.start()))
    await until(
      'it takes writes',
      async () =>
        await engine.probe().then(
          () => true,
          () => false,
        ),
    )
  })
})
