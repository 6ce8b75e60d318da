/** The daemon compiles its schemas without looking whether they are valid (ipkeeper-server/host/schema-check.ts): here that is done. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import t from 'tap'

const root = join(import.meta.dirname, '..', '..')
const files = globSync('{shared,ipkeeper-server}/**/*.schema.ts', { cwd: root }).sort()

const isSchema = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && ['type', 'anyOf', '$ref'].some(key => key in value)

/** Keywords that only documents and Kubernetes read. */
const sayNothing = [
  'doc',
  ...['validations', 'int-or-string', 'list-type', 'list-map-keys', 'preserve-unknown-fields'].map(
    name => `x-kubernetes-${name}`,
  ),
]

/** One schema may stand in another one more than once. */
const withoutIds = (schema: object): object =>
  JSON.parse(JSON.stringify(schema, (key, value: unknown) => (key === '$id' ? undefined : value))) as object

t.test('every schema is valid, and has no keyword that says nothing to a check', async t => {
  let count = 0
  for (const file of files) {
    for (const [name, value] of Object.entries((await import(join(root, file))) as Record<string, unknown>)) {
      if (!isSchema(value)) continue
      count++
      const ajv = new Ajv({ strict: true }).addVocabulary(sayNothing)
      for (const format of ['date-time', 'int32', 'int64']) ajv.addFormat(format, true)
      t.doesNotThrow(() => ajv.compile(withoutIds(value)), `${file}: ${name}`)
    }
  }
  t.ok(count >= 100, `${count} schemas in ${files.length} files`)
})

t.test('one that is not is refused', t => {
  const ajv = new Ajv({ strict: true })
  t.throws(() => ajv.compile({ type: 'integer', minimum: 'one' }))
  t.throws(() => ajv.compile({ type: 'string', minimun: 1 }))
  t.end()
})
