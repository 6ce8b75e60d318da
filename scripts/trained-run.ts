/**
 * One run of the plugin in training (scripts/train-code-cache.ts): runs the wrapped bundle with the cache of the runs before
 * it, and leaves V8's cache of what is compiled at its end. The plugin itself comes from the bundle and knows nothing of it.
 *
 *   node OPTIONS scripts/trained-run.ts BUNDLE CACHE
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Script } from 'node:vm'

const [, , bundle = '', cache = ''] = process.argv
const cachedData = existsSync(cache) ? readFileSync(cache) : undefined
const script = new Script(readFileSync(bundle, 'latin1'), {
  filename: 'ipkeeper.cjs',
  ...(cachedData && { cachedData }),
})
if (script.cachedDataRejected === true) throw new Error('V8 does not take the cache of the run before')
process.on('exit', () => {
  writeFileSync(cache, script.createCachedData())
})
// A run that has to wait for the processor would go other ways, such as not to believe the daemon any more, and leave another cache.
const now = process.hrtime.bigint()
process.hrtime.bigint = () => now
process.argv.splice(2)
const start = script.runInThisContext() as (require: NodeJS.Require) => void
start(createRequire(import.meta.url))
