import t from 'tap'
import { RecordTable } from '../../../../ipkeeper-server/leases/ledger/record-table.ts'

t.test('what was loaded as text reads as a record', t => {
  const table = new RecordTable<{ readonly name: string }>()
  table.setText('a', '{"name":"one"}')
  table.set('b', { name: 'two' })
  t.equal(table.size, 2)
  t.ok(table.has('a'))
  t.strictSame(table.get('a'), { name: 'one' })
  t.equal(table.get('a'), table.get('a'), 'parsed once')
  t.strictSame([...table.values()], [{ name: 'one' }, { name: 'two' }])
  t.strictSame([...table.walk()], [{ name: 'one' }, { name: 'two' }])
  table.delete('a')
  t.equal(table.get('a'), undefined)
  t.notOk(table.has('a'))
  t.end()
})

t.test('what is only looked at stays text', t => {
  const table = new RecordTable<{ readonly name: string }>()
  table.setText('a', '{"name":"one"}')
  t.strictSame(table.peek('a'), { name: 'one' })
  t.not(table.peek('a'), table.peek('a'), 'parsed each time')
  const [walked] = table.walk()
  t.not(walked, table.peek('a'))
  t.equal(table.get('a'), table.peek('a'), 'what was asked for is there for all')
  table.setText('a', '{"name":"two"}')
  t.strictSame(table.get('a'), { name: 'two' }, 'newer text takes the place of the record')
  const record = { name: 'three' }
  table.set('a', record)
  t.equal(table.peek('a'), record)
  t.equal(table.peek('b'), undefined)
  t.end()
})

t.test('a record is as it was at one moment, whatever becomes of it', t => {
  const table = new RecordTable<{ readonly name: string }>()
  t.equal(table.asItIs('a'), undefined)
  table.setText('a', '{"name":"one"}')
  const asText = table.asItIs('a')
  table.set('a', { name: 'two' })
  const asObject = table.asItIs('a')
  table.delete('a')
  t.strictSame(asText?.(), { name: 'one' })
  t.strictSame(asObject?.(), { name: 'two' })
  t.equal(table.asItIs('a'), undefined)
  t.end()
})
