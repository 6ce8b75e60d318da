import { join } from 'node:path'
import t, { type Test } from 'tap'
import { describeTransfer } from '../../../../ipkeeper-server/cli/commands/migrate.ts'
import { SqliteStore } from '../../../../ipkeeper-server/store/sqlite/sqlite-store.ts'
import type { HistoryEntry } from '../../../../ipkeeper-server/ipam/records/history-entry.ts'
import { copyLedger, type LedgerCopy } from '../../../../ipkeeper-server/migrate/transfer/ledger-copy.ts'
import {
  moveLedger,
  type MoveOptions,
  type Target,
} from '../../../../ipkeeper-server/migrate/transfer/move-ledger.ts'
import { TestService } from '../../leases/test-service.ts'

/** A ledger of two pods on n1, whose history comes in pages of one entry. */
async function ledger(): Promise<LedgerCopy> {
  const story = await TestService.open()
  await story.add({ pod: 'web-0', container: 'c0' })
  await story.add({ pod: 'web-1', container: 'c1' })
  const { records, history } = await copyLedger(story.store)
  return {
    records,
    async *history() {
      for await (const page of history()) for (const entry of page) yield [entry]
    },
  }
}

async function entriesOf({ history }: Pick<LedgerCopy, 'history'>): Promise<readonly HistoryEntry[]> {
  const entries: HistoryEntry[] = []
  for await (const page of history()) entries.push(...page)
  return entries
}

const options: MoveOptions = {
  ...{ dryRun: false, othersAreFine: true, withHistory: true, signal: undefined },
  onProgress: () => undefined,
}

/** An embedded store that has these entries of a history and nothing else. */
async function target(
  t: Test,
  entries: readonly HistoryEntry[],
): Promise<Target & { look(): Promise<object> }> {
  const path = join(t.testdir(), 'target.db')
  const open = (): SqliteStore => SqliteStore.open(path)
  const first = open()
  await first.adoptHistory(entries)
  await first.close()
  let used: SqliteStore | undefined
  return {
    open: () => Promise.resolve((used = open())),
    close: store => store.close(),
    look: async () => {
      await used?.close()
      const store = open()
      const there = await copyLedger(store)
      const ids = (await entriesOf(there)).map(({ id }) => id)
      await store.close()
      return { records: there.records.length, ids }
    },
  }
}

t.test('a history that differs in its oldest entry is refused before anything is written', async t => {
  const copy = await ledger()
  const all = await entriesOf(copy)
  const oldest = all.at(-1)!
  t.ok(all.length > 1)
  for (const dryRun of [true, false]) {
    await t.test(`dry run: ${String(dryRun)}`, async t => {
      const to = await target(t, [{ ...oldest, at: oldest.at + 1 }])
      await t.rejects(moveLedger(copy, to, { ...options, dryRun }), { code: 'IPK_STORE_OCCUPIED' })
      t.strictSame(await to.look(), { records: 0, ids: [oldest.id] })
    })
  }
  const to = await target(t, [{ ...oldest, at: oldest.at + 1 }])
  t.match(await moveLedger(copy, to, { ...options, withHistory: false }), { verified: true, history: 0 })
})

t.test('a history that is there in part is filled up', async t => {
  const copy = await ledger()
  const all = await entriesOf(copy)
  const to = await target(t, all.slice(1))
  t.match(await moveLedger(copy, to, { ...options, dryRun: true }), { interrupted: false, conflicts: [] })
  t.match(await moveLedger(copy, to, options), { verified: true, history: all.length })
  t.match(await to.look(), { ids: all.map(({ id }) => id) })
})

t.test('whoever interrupts the history ends it after a page', async t => {
  const copy = await ledger()
  const rows = [
    [0, []],
    [1, []],
    // Both have been compared, and one is written.
    [3, [2]],
  ] as const
  for (const [pages, ids] of rows) {
    await t.test(`${pages} pages`, async t => {
      const stop = new AbortController()
      let given = 0
      if (pages === 0) stop.abort()
      const history = async function* (): AsyncGenerator<readonly HistoryEntry[]> {
        for await (const page of copy.history()) {
          yield page
          if (++given >= pages) stop.abort()
        }
      }
      const to = await target(t, [])
      const report = await moveLedger({ ...copy, history }, to, { ...options, signal: stop.signal })
      t.match(report, { interrupted: true, written: 0, verified: false })
      t.strictSame(await to.look(), { records: 0, ids })
    })
  }
})

t.test('what is bound on another node does not go into the store of one node', async t => {
  const copy = await ledger()
  const rows: readonly (readonly [node: string | undefined, dryRun: boolean, kinds: readonly string[]])[] = [
    ['n1', false, []],
    ['n2', false, ['attachment', 'holder', 'lease']],
    ['n2', true, ['attachment', 'holder', 'lease']],
    // A restore, which says so itself.
    [undefined, false, []],
  ]
  for (const [node, dryRun, kinds] of rows) {
    await t.test(`to ${node ?? 'any'}, dry run: ${String(dryRun)}`, async t => {
      const to = await target(t, [])
      const report = await moveLedger(copy, to, {
        ...options,
        dryRun,
        ...(node !== undefined && { isOwn: (name: string) => name === node }),
      })
      t.strictSame([...new Set(report.conflicts.map(({ kind }) => kind))].sort(), kinds)
      t.ok(report.conflicts.every(({ boundOn }) => boundOn === 'n1'))
      t.equal(report.verified, kinds.length === 0)
      if (kinds.length > 0) {
        t.strictSame(await to.look(), { records: 0, ids: [] })
        t.match(
          describeTransfer(report, 'again'),
          /lease .* bound on n1\n[^]*would never release what is bound on other nodes/,
        )
      }
    })
  }
})

t.test('what other nodes keep or let go of may come along', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'db-0', container: 'c0', retain: 'forever' })
  await story.add({ pod: 'web-0', container: 'c1' })
  await story.del('c0')
  await story.del('c1')
  const to = await target(t, [])
  t.match(await moveLedger(await copyLedger(story.store), to, { ...options, isOwn: name => name === 'n2' }), {
    verified: true,
  })
})
