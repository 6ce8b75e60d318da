import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const folder = join(import.meta.dirname, '..', '..', 'plugin', 'edges', 'node')

t.test('main.ts imports it before anything else: until then a signal ends the plugin without a word', t => {
  const source = readFileSync(join(folder, 'main.ts'), 'utf8')
  t.equal(/^import .*? from '(.*?)'$/m.exec(source)?.[1], './interruption.ts')
  const own = readFileSync(join(folder, 'interruption.ts'), 'utf8')
  t.notMatch(own, /^import /m, 'which itself has nothing to wait for')
  t.end()
})
