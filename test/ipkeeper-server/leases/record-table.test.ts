import t from 'tap'
import { RecordTable } from '../../../ipkeeper-server/leases/record-table.ts'

t.test('what was loaded as text reads as a record', t => {
  const table = new RecordTable<{ readonly name: string }>()
  table.setText('a', '{"name":"one"}')
  table.set('b', { name: 'two' })
  t.equal(table.size, 2)
  t.ok(table.has('a'))
  t.strictSame(table.get('a'), { name: 'one' })
  t.equal(table.get('a'), table.get('a'), 'parsed once')
  t.strictSame([...table.values()], [{ name: 'one' }, { name: 'two' }])
  table.delete('a')
  t.equal(table.get('a'), undefined)
  t.notOk(table.has('a'))
  t.end()
})
