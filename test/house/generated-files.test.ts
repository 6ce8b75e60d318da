/** What is generated and checked in is what its sources make of it. */
import t from 'tap'
import { isStale } from '../../scripts/write-generated.ts'
import { generatedFiles } from '../../scripts/generated-files.ts'

t.test('generated files are fresh', async t => {
  for (const file of generatedFiles) t.equal(await isStale(file), false, `${file.path} (make generate)`)
})

t.test('another text is stale, and so is none', async t => {
  t.equal(await isStale({ path: 'package.json', generate: () => '' }), true)
  t.equal(await isStale({ path: 'no/such/file', generate: () => '' }), true)
})
