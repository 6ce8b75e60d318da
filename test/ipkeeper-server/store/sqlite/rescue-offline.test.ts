import { copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import type { HistoryEvent } from '../../../../ipkeeper-server/ipam/records/history-entry.ts'
import type { LeaseRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { lastChangePath } from '../../../../ipkeeper-server/store/sqlite/last-change.ts'
import { rescueOffline } from '../../../../ipkeeper-server/store/sqlite/rescue-offline.ts'
import { SqliteStore } from '../../../../ipkeeper-server/store/sqlite/sqlite-store.ts'
import { walFrames } from '../../../../ipkeeper-server/store/sqlite/wal-frames.ts'
import { lease, putLease } from '../../../rigs/records.ts'
import { fillLedger } from '../../../rigs/filled-ledger.ts'
import { addressOfLease, makeKilledLedger, readLedger } from '../../../rigs/killed-ledger.ts'
import { toOldLayout } from '../../../rigs/old-layout.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

/** Within the tenures of fillLedger. */
const now = Date.parse('2026-01-01T00:01:00Z')

/** Every address that is not free. */
const taken = (records: ReadonlyMap<string, string>): ReadonlySet<string> =>
  new Set(
    [...records.keys()].flatMap(id => /^(?:lease|reservation) \["default","([^"]+)"\]$/.exec(id)?.[1] ?? []),
  )

t.test('flipped bytes in the database: no address comes free', async t => {
  const path = tempFolder(t).file('leases.db')
  await fillLedger(path, 60)
  const wanted = taken(await readLedger(path))
  const clean = readFileSync(path)
  let [rescued, reserved] = [0, 0]
  for (let at = 4096; at < clean.length; at += 1499) {
    const copy = Buffer.from(clean)
    copy.fill(0xff, at, at + 1 + (at % 40))
    writeFileSync(path, copy)
    rmSync(`${path}-wal`, { force: true })
    const isSound = await readLedger(path).then(
      () => true,
      () => false,
    )
    if (isSound) continue
    const report = await rescueOffline(path, now, false)
    rescued++
    reserved += report.reserved.length
    if (report.faults.length === 0) t.fail(`bytes from ${at}: nothing is said to be wrong`)
    const found = taken(await readLedger(path))
    const free = [...wanted].filter(address => !found.has(address))
    if (free.length > 0) t.fail(`bytes from ${at}: ${free.join(', ')} are free: ${report.faults.join('; ')}`)
    for (const aside of report.aside) rmSync(aside)
  }
  t.ok(rescued > 60 && reserved > 20, `${rescued} ledgers, ${reserved} reserved addresses`)
})

t.test('flipped bytes in the log: what stands behind them is saved, too', async t => {
  const path = tempFolder(t).file('leases.db')
  const ledger = await makeKilledLedger(path, 60)
  const wanted = Array.from({ length: 60 }, (_, index) => addressOfLease(index))
  for (let at = 32 + 24 + 700; at < ledger.log.length; at += 20_011) {
    const log = Buffer.from(ledger.log)
    log.fill(0xff, at, at + 16)
    ledger.lay({ log })
    const isSound = await ledger.read().then(
      () => true,
      () => false,
    )
    if (isSound) continue
    const refused = await thrownProblem(() => ledger.read())
    if (!/^addresses concerned: /.test(refused.details))
      t.fail(`byte ${at}: ${refused.message} ${refused.details}`)
    const { reserved } = await rescueOffline(path, now, false)
    const found = taken(await ledger.read())
    const free = wanted.filter(address => !found.has(address))
    if (free.length > 1 || reserved.length > 1) t.fail(`byte ${at}: ${free.join(', ')} are free`)
  }
  t.pass('at most the one lease whose row was hit')
})

t.test('a ledger that is fine stays as it is', async t => {
  const path = tempFolder(t).file('leases.db')
  await fillLedger(path, 5)
  const before = await readLedger(path)
  const dry = await rescueOffline(path, now, true)
  t.match(dry, { faults: [], reserved: [], aside: [], unknown: 0, kinds: { reservation: 2 } })
  const report = await rescueOffline(path, now, false)
  t.match(report, { faults: [], reserved: [], unknown: 0 })
  t.strictSame(await readLedger(path), before)
  const store = SqliteStore.open(path)
  t.ok((await store.history({ limit: 100 })).length > 10, 'the history is there')
  await store.close()
})

t.test('a lease that is gone is reserved', async t => {
  const path = tempFolder(t).file('leases.db')
  await fillLedger(path, 5)
  const database = new DatabaseSync(path)
  const key = '["default","10.22.7.7"]'
  database.prepare(`DELETE FROM record WHERE kind = 'lease' AND key = ?`).run(key)
  database.close()
  const { reserved } = await rescueOffline(path, now, false)
  t.strictSame(reserved, [{ segment: 'default', address: '10.22.7.7', by: 'the record of its holder' }])
  t.match(JSON.parse((await readLedger(path)).get(`reservation ${key}`) ?? '{}'), {
    kind: 'external',
    name: 'rescue',
    note: 'its lease was lost; the record of its holder',
  })
})

t.test('changes of which nothing is known are counted', async t => {
  const path = tempFolder(t).file('leases.db')
  const ledger = await makeKilledLedger(path, 10)
  const [eighth] = [...walFrames(ledger.log)].filter(frame => frame.commits > 0).slice(7)
  ledger.lay({ log: ledger.log.subarray(0, (eighth?.offset ?? 0) + 24 + 4096) })
  t.equal((await thrownProblem(() => ledger.read())).code, 'IPK_STORE_DAMAGED')
  t.match(await rescueOffline(path, now, true), { unknown: 1 }, 'the last one stands beside the ledger')
  await rescueOffline(path, now, false)
  t.strictSame([...taken(await ledger.read())].length, 9)
})

for (const layout of [1, 2, 3] as const) {
  t.test(`a ledger of layout ${layout}`, async t => {
    const path = tempFolder(t).file('leases.db')
    await fillLedger(path, 20)
    const before = await readLedger(path)
    toOldLayout(path, layout)
    rmSync(lastChangePath(path))
    const dry = await rescueOffline(path, now, true)
    t.strictSame([dry.faults, dry.reserved], [[], []], 'nothing is wrong')
    t.match(dry.kinds, { lease: 44, reservation: 2 })
    t.equal(dry.history > 20, layout > 1)
    const database = new DatabaseSync(path)
    const key = '["default","10.22.7.7"]'
    database.exec(`DELETE FROM record WHERE key = '${key}' OR body LIKE '%"10.22.7.7"%'`)
    database.close()
    const { reserved, history } = await rescueOffline(path, now, false)
    const known = [{ segment: 'default', address: '10.22.7.7', by: 'the history: bound' }]
    t.strictSame(reserved, layout > 1 ? known : [])
    const after = await readLedger(path)
    t.equal(after.has(`reservation ${key}`), layout > 1)
    for (const [id, text] of before) if (!text.includes('"10.22.7.7"')) t.equal(after.get(id), text, id)
    t.equal(history, dry.history)
  })
}

t.test('of many faults a few are told', async t => {
  const path = tempFolder(t).file('leases.db')
  await fillLedger(path, 200)
  const database = new DatabaseSync(path)
  database.exec('UPDATE record SET sum = sum + 1; UPDATE history SET sum = sum + 1 WHERE id > 1')
  database.close()
  const { faults, reserved } = await rescueOffline(path, now, true)
  t.equal(faults.length, 101)
  t.match(faults.at(-1), /^and \d{4} more$/)
  t.equal(reserved.length, 406, 'and each address is kept')
})

t.test('all that the last change wrote is made once more', async t => {
  const path = tempFolder(t).file('leases.db')
  const store = SqliteStore.open(path)
  const [first, last] = [lease('10.0.0.2'), lease('10.0.0.3')]
  const bound = (of: LeaseRecord, at: number): HistoryEvent => {
    const { segment, address, pool, holder, podUid, node, source } = of
    const what = { segment, address, pool, holder, podUid, node, source }
    return { ...what, at, event: 'bound', containerId: 'c1', until: null }
  }
  await store.commit(
    [putLease(first, null)],
    [bound(first, 1)],
    [
      { kind: 'owed', key: 'a', text: '"told since"' },
      { kind: 'owed', key: 'b', text: '"of old"' },
    ],
  )
  const files = [path, `${path}-wal`].map(file => [file, readFileSync(file)] as const)
  await store.commit(
    [putLease(last, null)],
    [bound(last, 2), { ...bound(first, 3), event: 'moved' }],
    [
      { kind: 'owed', key: 'a', text: null },
      { kind: 'owed', key: 'b', text: '"newer"' },
      { kind: 'owed', key: 'c', text: '"new"' },
    ],
  )
  const wanted = await store.history({ limit: 10 })
  await store.close()
  for (const [file, bytes] of files) writeFileSync(file, bytes)
  t.match(await rescueOffline(path, 5, true), { unknown: 0, kinds: { lease: 2 }, notes: 2, history: 3 })
  t.match(await rescueOffline(path, 5, false), { unknown: 0, kinds: { lease: 2 }, notes: 2, history: 3 })
  const rescued = SqliteStore.open(path)
  t.teardown(() => rescued.close())
  const notes = new Map<string, string>()
  rescued.loadNotes(({ key, text }) => notes.set(key, text))
  t.strictSame(Object.fromEntries(notes), { b: '"newer"', c: '"new"' })
  t.strictSame(await rescued.history({ limit: 10 }), wanted)
})

t.test('nothing can be saved', async t => {
  const path = tempFolder(t).file('leases.db')
  await fillLedger(path, 1)
  const copy = `${path}.copy`
  copyFileSync(path, copy)
  const rows: readonly (readonly [happens: () => void, message: RegExp])[] = [
    [
      () => {
        truncateSync(path)
      },
      /is empty: nothing is left in it$/,
    ],
    [
      () => {
        writeFileSync(path, 'x'.repeat(statSync(copy).size))
      },
      /file is not a database$/,
    ],
    [
      () => {
        writeFileSync(path, 'x'.repeat(200))
      },
      /file is not a database$/,
    ],
    [
      () => {
        rmSync(path)
      },
      /there is no store/,
    ],
  ]
  for (const [happens, message] of rows) {
    copyFileSync(copy, path)
    happens()
    t.match(await thrownProblem(() => rescueOffline(path, now, false)), { message, hint: /restore/ })
  }
})
