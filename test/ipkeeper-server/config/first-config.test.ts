import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { firstConfig } from '../../../ipkeeper-server/config/first-config.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

/** Cool-downs tell which file the parts are of that a reload takes; names of nodes the others. */
const saying = (node: string, seconds: number): string => `node: ${node}\ncooldown: ${seconds}s\n`
const kept = { text: saying('before', 5), loadedAt: 7, strict: undefined }

const rows: readonly (readonly [
  what: string,
  file: string | undefined,
  before: object | undefined,
  mustExist: boolean,
  wanted: { node: string; cooldown: number; loadedAt: number } | 'refused',
])[] = [
  ['the first start', saying('n1', 6), undefined, true, { node: 'n1', cooldown: 6, loadedAt: 99 }],
  ['without a file', undefined, undefined, false, { node: 'host', cooldown: 60, loadedAt: 99 }],
  ['without one that was named', undefined, undefined, true, 'refused'],
  ['an empty one', '', undefined, true, { node: 'host', cooldown: 60, loadedAt: 99 }],
  ['one with a fault', 'nod: n1', undefined, true, 'refused'],
  ['the same file again', kept.text, {}, true, { node: 'before', cooldown: 5, loadedAt: 99 }],
  ['another one', saying('n1', 6), {}, true, { node: 'n1', cooldown: 5, loadedAt: 7 }],
  ['one with a fault, later', 'nod: n1', {}, true, { node: 'before', cooldown: 5, loadedAt: 7 }],
  ['gone', undefined, {}, false, { node: 'before', cooldown: 5, loadedAt: 7 }],
  ['gone, though it was named', undefined, {}, true, { node: 'before', cooldown: 5, loadedAt: 7 }],
  ['empty', ' \n', {}, true, { node: 'before', cooldown: 5, loadedAt: 7 }],
  ['one after none', saying('n1', 6), { text: undefined }, true, { node: 'n1', cooldown: 60, loadedAt: 7 }],
  ['none after none', undefined, { text: undefined }, false, { node: 'host', cooldown: 60, loadedAt: 99 }],
  [
    'a copy that this version cannot read',
    saying('n1', 6),
    { text: 'nod: n1' },
    true,
    { node: 'n1', cooldown: 6, loadedAt: 99 },
  ],
  ['neither can be read', 'nod: n1', { text: 'nod: n0' }, true, 'refused'],
]
for (const [what, file, before, mustExist, wanted] of rows) {
  t.test(what, async t => {
    const path = join(t.testdir({}), 'config.yaml')
    if (file !== undefined) writeFileSync(path, file)
    const begin = () =>
      firstConfig({
        ...{ path, mustExist, standardNode: 'host', now: () => 99 },
        kept: before && { ...kept, ...before },
      })
    if (wanted === 'refused') {
      t.match(await thrownProblem(begin), { code: 'IPK_DAEMON_CONFIG' })
      return
    }
    const { config, loadedAt } = begin()
    t.strictSame({ node: config.node, cooldown: config.cooldown / 1000, loadedAt }, wanted)
  })
}

t.test('every section that is read once is of the file', t => {
  const path = join(t.testdir({}), 'config.yaml')
  const once = {
    metrics: { listen: '127.0.0.1:9478' },
    page: { listen: '127.0.0.1:7480' },
    election: { namespace: 'elsewhere' },
    webhook: { listen: '127.0.0.1:8443', certFile: '/c', keyFile: '/k' },
    runtime: { sockets: ['/run/s'] },
    conflist: { directory: '/d', binDirs: ['/b'] },
    store: { singleNode: true },
    kubernetes: { mode: 'off' },
    resultCache: { mode: 'report' },
  }
  writeFileSync(path, JSON.stringify({ node: 'n1', cooldown: '6s', ...once }))
  const site = { path, mustExist: true, standardNode: 'host', now: () => 99 }
  const { config } = firstConfig({ ...site, kept })
  const alone = firstConfig(site).config
  t.equal(config.cooldown, 5000, 'what a reload takes is of before')
  for (const key of Object.keys(once) as (keyof typeof once)[]) t.strictSame(config[key], alone[key], key)
  t.end()
})

t.test('rules of a file that was refused are of it still', t => {
  const path = join(t.testdir({}), 'config.yaml')
  mkdirSync(path)
  const site = { path, mustExist: true, standardNode: 'host', now: () => 99 }
  const { strict } = firstConfig({ ...site, kept: { ...kept, strict: saying('n1', 8) } })
  t.match(strict, { text: saying('n1', 8), config: { cooldown: 8000 } })
  t.equal(firstConfig({ ...site, kept: { ...kept, strict: 'nod: n1' } }).strict, undefined)
  t.end()
})
