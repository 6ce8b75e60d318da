import {
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import type { HistoryEvent } from '../../../../ipkeeper-server/ipam/records/history-entry.ts'
import { holderKey, type Change, type LeaseRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { Ledger } from '../../../../ipkeeper-server/leases/ledger/ledger.ts'
import { lastChangePath, readLastChange } from '../../../../ipkeeper-server/store/sqlite/last-change.ts'
import { migrations } from '../../../../ipkeeper-server/store/sqlite/migrations.ts'
import { rescueOffline } from '../../../../ipkeeper-server/store/sqlite/rescue-offline.ts'
import { recordSum } from '../../../../ipkeeper-server/store/sqlite/row-sum.ts'
import { SqliteStore } from '../../../../ipkeeper-server/store/sqlite/sqlite-store.ts'
import { walFrames } from '../../../../ipkeeper-server/store/sqlite/wal-frames.ts'
import { copyLedger } from '../../../../ipkeeper-server/migrate/transfer/ledger-copy.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { holderRecord, lease, putLease } from '../../../rigs/records.ts'
import { fillLedger } from '../../../rigs/filled-ledger.ts'
import { makeKilledLedger, readLedger } from '../../../rigs/killed-ledger.ts'
import { toOldLayout } from '../../../rigs/old-layout.ts'
import { until } from '../../../rigs/poll.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

/** Changes rows behind the back of the store; seal and checksums stay as they are. */
function tamper(path: string, sql: string): void {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

const event = (address: string): HistoryEvent => {
  const { segment, pool, holder, podUid, node, source } = lease(address)
  const what = { segment, address, pool, holder, podUid, node, source }
  return { ...what, at: 1, event: 'bound', containerId: 'c1', until: null }
}

const putHolder = (address: string): Change[number] => {
  const { holder, attachment } = lease(address)
  const record = holderRecord({ holder, attachment, leases: [{ segment: 'default', address }] })
  return { kind: 'holder', key: holderKey(holder), expect: null, record }
}

t.test('one flipped bit in the database: all records, or a refusal', async t => {
  const path = tempFolder(t).file('leases.db')
  await fillLedger(path, 60)
  const wanted = await readLedger(path)
  const clean = readFileSync(path)
  const outcomes = new Map<string, number>()
  for (let at = 0; at < clean.length; at += at < 108 ? 3 : 601) {
    const copy = Buffer.from(clean)
    copy[at] = (copy[at] ?? 0) ^ (1 << ((at * 7 + 3) % 8))
    writeFileSync(path, copy)
    for (const other of [`${path}-wal`, lastChangePath(path)]) rmSync(other, { force: true })
    let outcome
    try {
      const records = await readLedger(path)
      const same = records.size === wanted.size && [...wanted].every(([id, text]) => records.get(id) === text)
      outcome = same ? 'all' : 'other records'
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      outcome = error.code
    }
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    if (outcome === 'other records') t.fail(`byte ${at}`)
  }
  t.ok((outcomes.get('IPK_STORE_DAMAGED') ?? 0) > 100, JSON.stringify([...outcomes]))
})

interface Mishap {
  readonly name: string
  readonly happens: (path: string) => void
  readonly refused: { readonly message: RegExp; readonly details?: RegExp }
}

const mishaps: readonly Mishap[] = [
  {
    name: 'a lease under another address',
    happens: path => {
      tamper(path, `UPDATE record SET key = replace(key, '10.0.0.3', '10.0.0.9') WHERE kind = 'lease'`)
    },
    refused: {
      message: /lease \["default","10\.0\.0\.9"\] does not match its checksum$/,
      details: /^addresses concerned: 10\.0\.0\.9, 10\.0\.0\.3$/,
    },
  },
  {
    name: 'another generation',
    happens: path => {
      tamper(path, `UPDATE record SET generation = 2 WHERE key LIKE '%10.0.0.3%'`)
    },
    refused: { message: /does not match its checksum$/, details: /10\.0\.0\.3/ },
  },
  {
    name: 'a lease that is gone',
    happens: path => {
      tamper(path, `DELETE FROM record WHERE kind = 'lease' AND key LIKE '%10.0.0.3%'`)
    },
    refused: {
      message: /it has 3 records, and 4 were written$/,
      details: /^addresses concerned: 10\.0\.0\.3$/,
    },
  },
  {
    name: 'a row of old in the place of the newest',
    happens: path => {
      const database = new DatabaseSync(path)
      const { key, record } = putLease({ ...lease('10.0.0.3'), mac: '02:00:00:00:00:01' }, null)
      const body = JSON.stringify(record)
      database
        .prepare(`UPDATE record SET body = ?, sum = ? WHERE kind = 'lease' AND key = ?`)
        .run(body, recordSum('lease', key, 1, body), key)
      database.close()
    },
    refused: { message: /its records are not those that were written last$/ },
  },
  {
    name: 'a seal that is not as it was written',
    happens: path => {
      tamper(path, 'UPDATE seal SET records = 3')
    },
    refused: { message: /its seal does not match its checksum$/ },
  },
  {
    name: 'an index that is not the one that was made',
    happens: path => {
      tamper(path, 'DROP INDEX history_of_address; CREATE INDEX history_of_address ON history (address)')
    },
    refused: { message: /its table or index history_of_address is not as it was made$/ },
  },
  {
    name: 'no bytes at all',
    happens: path => {
      truncateSync(path)
    },
    refused: { message: /is damaged: it is empty \(0 bytes\), as no ledger ever is$/ },
  },
  {
    name: 'half of it',
    happens: path => {
      truncateSync(path, statSync(path).size / 2)
    },
    refused: { message: /is damaged/ },
  },
  {
    name: 'a log without its database',
    happens: path => {
      writeFileSync(`${path}-wal`, 'some frames')
      rmSync(path)
    },
    refused: { message: /is damaged: it is gone, and its log \S+-wal is there$/ },
  },
]

for (const { name, happens, refused } of mishaps) {
  t.test(`refused: ${name}`, async t => {
    const path = tempFolder(t).file('leases.db')
    const store = SqliteStore.open(path)
    await store.commit([putLease(lease('10.0.0.2'), null), putLease(lease('10.0.0.4'), null)])
    await store.commit([putLease(lease('10.0.0.3'), null), putHolder('10.0.0.3')], [event('10.0.0.3')])
    await store.close()
    happens(path)
    const problem = await thrownProblem(() => readLedger(path))
    t.match(problem, { code: 'IPK_STORE_DAMAGED', ...refused })
    t.match(problem.hint, `ipkeeperctl rescue --store sqlite:${path}`)
    t.equal((await thrownProblem(() => readLedger(path))).code, 'IPK_STORE_DAMAGED', 'and again')
  })
}

t.test('a record that is damaged while the daemon runs', async t => {
  const path = tempFolder(t).file('leases.db')
  const before = SqliteStore.open(path)
  await before.commit([putLease(lease('10.0.0.2'), null)])
  await before.close()
  tamper(path, `UPDATE record SET generation = 7`)
  const store = SqliteStore.open(path)
  t.teardown(() => store.close())
  const problem = await thrownProblem(() => store.read('lease', putLease(lease('10.0.0.2'), null).key))
  t.match(problem, { code: 'IPK_STORE_DAMAGED', message: /10\.0\.0\.2"\] does not match its checksum$/ })
})

t.test('a record that matches its checksum and is none', async t => {
  const path = tempFolder(t).file('leases.db')
  const before = SqliteStore.open(path)
  const broken = { ...lease('10.0.0.3'), holder: undefined } as unknown as LeaseRecord
  await before.commit([putLease(lease('10.0.0.2'), null), putLease(broken, null)])
  await before.close()
  const open = async (): Promise<number> => {
    const store = SqliteStore.open(path)
    try {
      return [...(await Ledger.open(store)).leases()].length
    } finally {
      await store.close()
    }
  }
  t.match(await thrownProblem(open), {
    code: 'IPK_STORE_DAMAGED',
    message: /is damaged: lease \["default","10\.0\.0\.3"\] is not as ipkeeper writes it$/,
    details: /^addresses concerned: 10\.0\.0\.3$/,
    hint: `save what can be read: ipkeeperctl rescue --store sqlite:${path};`,
  })
  t.match(await rescueOffline(path, 0, false), { reserved: [{ address: '10.0.0.3' }] })
  t.equal(await open(), 1, 'as the hint says')
})

t.test('a note that is damaged', async t => {
  const path = tempFolder(t).file('journal.db')
  const before = SqliteStore.open(path)
  await before.commit([], [], [{ kind: 'owed', key: 'k', text: '{"want":null}' }])
  await before.close()
  const read = async (): Promise<number> => {
    const store = SqliteStore.open(path)
    let notes = 0
    try {
      store.loadNotes(() => notes++)
    } finally {
      await store.close()
    }
    return notes
  }
  t.equal(await read(), 1)
  tamper(path, `UPDATE note SET body = '{"want":"x"}'`)
  t.match(await thrownProblem(read), { code: 'IPK_STORE_DAMAGED', message: /note owed k does not match/ })
  tamper(path, `DELETE FROM note`)
  t.match(await thrownProblem(read), { code: 'IPK_STORE_DAMAGED', message: /0 notes, and 1 were written/ })
})

t.test('an entry of the history that is damaged keeps no pod from starting', async t => {
  const path = tempFolder(t).file('leases.db')
  const before = SqliteStore.open(path)
  await before.commit([putLease(lease('10.0.0.2'), null)], [event('10.0.0.2')])
  await before.close()
  tamper(path, `UPDATE history SET at = 7`)
  const store = SqliteStore.open(path)
  t.teardown(() => store.close())
  t.strictSame(await store.file.verify(), ['entry 1 of the history does not match its checksum'])
  t.strictSame(store.file.findings(), ['entry 1 of the history does not match its checksum'])
  t.equal(store.file.fault(), undefined, 'no lease is concerned')
  t.match(await thrownProblem(() => store.history({ limit: 10 })), {
    code: 'IPK_STORE_DAMAGED',
    message: /entry 1 of the history/,
    hint: /ipkeeperctl rescue$/,
  })
  t.match(await thrownProblem(() => copyLedger(store)), { code: 'IPK_STORE_DAMAGED', message: /entry 1/ })
  await store.commit([putLease(lease('10.0.0.2', 2), 1)], [{ ...event('10.0.0.2'), at: 9, event: 'moved' }])
  t.match(await store.history({ limit: 1 }), [{ at: 9, since: 9 }])
})

t.test('a layout from before there were checksums', async t => {
  const folder = tempFolder(t)
  const fill = (path: string, address: string): void => {
    const old = new DatabaseSync(path)
    const layout3 = migrations
      .slice(0, 3)
      .flat()
      .filter(part => typeof part === 'string')
    old.exec(`${layout3.join(';')}; PRAGMA user_version = 3`)
    const { key, record } = putLease(lease('10.0.0.2'), null)
    old
      .prepare('INSERT INTO record (kind, key, generation, body) VALUES (?, ?, ?, ?)')
      .run('lease', key.replace('10.0.0.2', address), 1, JSON.stringify(record))
    old.close()
  }
  fill(folder.file('good.db'), '10.0.0.2')
  t.equal((await readLedger(folder.file('good.db'))).size, 1)
  t.equal((await readLedger(folder.file('good.db'))).size, 1, 'and again')
  const store = SqliteStore.open(folder.file('good.db'))
  t.equal(store.file.isUnused(), false)
  await store.close()
  fill(folder.file('bad.db'), '10.0.0.9')
  const problem = await thrownProblem(() => readLedger(folder.file('bad.db')))
  t.match(problem, {
    code: 'IPK_STORE_DAMAGED',
    message: /lease \["default","10\.0\.0\.9"\] is not as ipkeeper writes it$/,
  })
  const layout = new DatabaseSync(folder.file('bad.db')).prepare('PRAGMA user_version').get()?.[
    'user_version'
  ]
  t.equal(layout, 3, 'what is wrong gets no checksums that say it is right')
})

t.test('an entry of the history that was no entry before there were checksums', async t => {
  const path = tempFolder(t).file('leases.db')
  await SqliteStore.open(path).close()
  const bodies = ['{"event":"bound"', '{"event":"bound"}', 'null', '{"event":"lost","since":1,"until":null}']
  toOldLayout(path, 3)
  const old = new DatabaseSync(path)
  const add = old.prepare('INSERT INTO history (segment, address, at, ends, body) VALUES (?, ?, ?, ?, ?)')
  for (const [index, body] of bodies.entries()) add.run('default', `10.0.0.${index + 2}`, 1, null, body)
  old.close()
  const store = SqliteStore.open(path)
  t.teardown(() => store.close())
  t.equal((await store.file.verify()).length, bodies.length, 'it is told of')
  for (const index of bodies.keys()) {
    const address = `10.0.0.${index + 2}`
    await store.commit([putLease(lease(address), null)], [{ ...event(address), at: 9 }])
    t.match(await store.history({ limit: 1 }), [{ address, since: 9 }], 'and keeps nobody from the address')
  }
})

t.test('a new ledger is whole or not there', async t => {
  const path = tempFolder(t).file('leases.db')
  writeFileSync(`${path}.unfinished`, 'of a process that was killed')
  const store = SqliteStore.open(path)
  t.equal(store.file.isUnused(), true)
  await store.probe()
  t.equal(store.file.isUnused(), true, 'a probe is no use of it')
  await store.commit([putLease(lease('10.0.0.2'), null)])
  t.equal(store.file.isUnused(), false)
  await store.close()
  t.equal(existsSync(`${path}.unfinished`), false)
})

t.test('at rest nothing stands in the log', async t => {
  const path = tempFolder(t).file('leases.db')
  const store = SqliteStore.open(path, { guarded: true })
  t.teardown(() => store.close())
  await store.commit([putLease(lease('10.0.0.2'), null)])
  t.ok(statSync(`${path}-wal`).size > 0)
  await until('the log is empty', () => statSync(`${path}-wal`).size === 0)
  await store.commit([putLease(lease('10.0.0.3'), null)])
  copyFileSync(path, `${path}-copy`)
  t.equal((await readLedger(`${path}-copy`)).size, 1, 'and the database has it')
})

const openAfterReboot = async (path: string): Promise<readonly [records: number, notes: string[]]> => {
  const notes: string[] = []
  const store = SqliteStore.open(path, { boot: 'another', onNote: text => notes.push(text) })
  let records = 0
  await store.load(() => records++)
  await store.close()
  return [records, notes]
}

t.test('the last change after the end of a boot: an older file took the place of the ledger', async t => {
  const path = tempFolder(t).file('leases.db')
  const ledger = await makeKilledLedger(path, 10)
  t.match(readLastChange(path), { seal: { commits: 10, records: { rows: 10 } } })
  const ends = [...walFrames(ledger.log)].filter(({ commits }) => commits > 0).map(({ offset }) => offset)
  const upTo = (commits: number): Buffer => ledger.log.subarray(0, (ends[commits - 1] ?? 0) + 24 + 4096)
  for (const commits of [0, 1, 8]) {
    ledger.lay({ log: commits === 0 ? Buffer.alloc(0) : upTo(commits) })
    for (const time of ['once', 'and again'])
      t.match(
        await thrownProblem(() => openAfterReboot(path)),
        {
          code: 'IPK_STORE_DAMAGED',
          message: new RegExp(`is damaged: ${10 - commits} acknowledged changes are missing: `),
          hint: new RegExp(`if this older ledger is meant: rm ${lastChangePath(path)};`),
        },
        time,
      )
  }
  rmSync(lastChangePath(path))
  t.strictSame(await openAfterReboot(path), [8, []], 'as the hint says')
})

t.test('the last change after the end of a boot: what a power cut may take', async t => {
  const path = tempFolder(t).file('leases.db')
  const ledger = await makeKilledLedger(path, 10)
  const [last] = [...walFrames(ledger.log)].filter(({ commits }) => commits > 0).slice(8)
  const log = ledger.log.subarray(0, (last?.offset ?? 0) + 24 + 4096)
  const beside = readFileSync(lastChangePath(path))
  ledger.lay({ log })
  t.match(await openAfterReboot(path), [10, [/the last change .* was made once more$/]])
  ledger.lay({ log })
  writeFileSync(lastChangePath(path), beside.fill('x', beside.indexOf('\n') + 1))
  t.match(await openAfterReboot(path), [
    9,
    [/an acknowledged change did not survive the end of the machine's/],
  ])
})

t.test('the last change says nothing of another folder, nor of another ledger', async t => {
  const folder = tempFolder(t)
  const path = folder.file('leases.db')
  await makeKilledLedger(path, 10)
  copyFileSync(lastChangePath(path), lastChangePath(folder.file('copy.db')))
  t.equal(readLastChange(folder.file('copy.db')), undefined)
  rmSync(path)
  t.equal((await readLedger(path)).size, 0, 'a new one is another one')
})

t.test('nothing is wrong with the files of a store that was closed', async t => {
  const path = tempFolder(t).file('leases.db')
  const store = SqliteStore.open(path, { guarded: true })
  await store.commit([putLease(lease('10.22.0.50'), null)])
  await store.close()
  t.equal(store.file.fault(), undefined, 'SQLite removes its log with the last connection')
})
