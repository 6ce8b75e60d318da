import t from 'tap'
import { canonicalJson, ordered } from '../../../../ipkeeper-server/ipam/records/canonical-json.ts'

const rows: readonly (readonly [name: string, value: unknown, text: string])[] = [
  ['keys that are in order', { a: 2, b: 1, c: 0 }, '{"a":2,"b":1,"c":0}'],
  ['keys in one order', { b: 1, a: 2 }, '{"a":2,"b":1}'],
  ['also those further inside', { a: { d: 1, c: [{ f: 1, e: 2 }] } }, '{"a":{"c":[{"e":2,"f":1}],"d":1}}'],
  ['a list keeps its order', [2, 1], '[2,1]'],
  ['null is no object', { a: null }, '{"a":null}'],
  ['a text', 'b', '"b"'],
]
for (const [name, value, text] of rows) t.equal(canonicalJson(value), text, name)

t.strictSame(ordered({ b: 1, a: 2 }), { a: 2, b: 1 }, 'and nothing else is changed')
