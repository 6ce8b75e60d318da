import t from 'tap'
import { readValue, writeValue } from '../../../../ipkeeper-server/store/etcd/etcd-values.ts'

const record = '{"generation":1,"note":"\\"record\\":"}'
const newer = 'written by a newer ipkeeper (schema 2; this one knows 1): update this node'
const strange = 'no record of ipkeeper: it has no "v" and "record"'

const values: readonly (readonly [value: string, read: ReturnType<typeof readValue>])[] = [
  [writeValue('x.1', record), { text: record, by: 'x.1' }],
  [`{ "v": 1, "record": ${record} }`, { text: record, by: '' }],
  [`{"by":"x.1","record":${record},"v":1}`, { text: record, by: '' }],
  ['{"v":2,"by":"x.1","record":{}}', { unreadable: newer }],
  ['{"v":2}', { unreadable: newer }],
  ['{"v":"2"}', { unreadable: strange }],
  ['{"v":0,"record":{}}', { unreadable: strange }],
  ['{"v":1,"by":"x.1","record":null}', { unreadable: strange }],
  ['{"v":1,"by":"x.1","record":{"generation":1}', { unreadable: 'no record of ipkeeper: not JSON' }],
  ['{"v":1,"by":"x.1","record":{"generation":', { unreadable: 'no record of ipkeeper: not JSON' }],
  ['', { unreadable: 'no record of ipkeeper: not JSON' }],
  ['[]', { unreadable: strange }],
  ['hello', { unreadable: 'no record of ipkeeper: not JSON' }],
]

for (const [value, read] of values)
  t.test(value, t => {
    t.strictSame(readValue(value), read)
    t.end()
  })
