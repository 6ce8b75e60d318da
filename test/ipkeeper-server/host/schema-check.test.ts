import t from 'tap'
import { schemaCheck } from '../../../ipkeeper-server/host/schema-check.ts'

const schema = {
  type: 'object',
  properties: { a: { type: 'string', doc: 'a text' }, b: { type: 'integer' } },
  additionalProperties: false,
}

t.test('a value, and what is wrong with it', t => {
  const check = schemaCheck<{ a?: string; b?: number }>(schema, { keywords: ['doc'], allErrors: true })
  t.strictSame(check.errors(), [], 'before anything was asked')
  for (const [value, paths] of [
    [{}, []],
    [{ a: 'x', b: 1 }, []],
    [{ a: 1, b: 'x' }, ['/a', '/b']],
    [[], ['']],
    [{ c: 1 }, ['']],
  ] as const) {
    t.equal(check.holds(value), paths.length === 0, JSON.stringify(value))
    t.strictSame(
      check.errors().map(({ instancePath }) => instancePath),
      paths,
    )
  }
  t.end()
})

t.test('only the first thing that is wrong, unless all are wanted', t => {
  const check = schemaCheck(schema, { keywords: ['doc'] })
  t.notOk(check.holds({ a: 1, b: 'x' }))
  t.equal(check.errors().length, 1)
  t.end()
})

t.test('nothing is compiled before the first value', t => {
  const check = schemaCheck({ type: 'no such type' })
  t.throws(() => check.holds({}))
  t.end()
})
