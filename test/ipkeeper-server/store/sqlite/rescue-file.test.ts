import { join } from 'node:path'
import t from 'tap'
import { LedgerFile } from '../../../../ipkeeper-server/store/sqlite/ledger-file.ts'
import { writeLedger } from '../../../../ipkeeper-server/store/sqlite/rescue-file.ts'

function* noHistory(): Generator<never, readonly string[]> {
  yield* []
  return []
}

t.test(
  'a ledger that is written without any record is no new one: the next start asks for nothing',
  async t => {
    const path = join(t.testdir(), 'leases.db')
    t.same(await writeLedger(path, { records: [], notes: [], history: noHistory() }), {
      ...{ kinds: {}, notes: 0, history: 0, unreadable: [] },
    })
    const file = LedgerFile.open(path)
    t.equal(file.isUnused, false)
    file.close()
  },
)
