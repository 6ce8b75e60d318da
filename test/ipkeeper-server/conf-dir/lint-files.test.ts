import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import t, { type Test } from 'tap'
import { ConfDirWatch } from '../../../ipkeeper-server/conf-dir/conf-dir-watch.ts'
import { findPlugins } from '../../../ipkeeper-server/conf-dir/plugin-search.ts'
import { lintDirectory, lintFiles } from '../../../ipkeeper-server/conf-dir/lint-files.ts'
import { readMultusFiles } from '../../../ipkeeper-server/conf-dir/multus-files.ts'
import {
  readConfDir,
  readNetworkPools,
  readNetworks,
} from '../../../ipkeeper-server/conf-dir/read-conf-dir.ts'
import { readSourceFile } from '../../../ipkeeper-server/conf-dir/read-source-file.ts'
import type { LintFinding } from '../../../shared/api/lint.schema.ts'
import { until } from '../../rigs/poll.ts'
import { tempFolder, type TempFolder } from '../../rigs/temp-folder.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

const isRoot = process.getuid?.() === 0
const list = (name: string, type = 'bridge'): string =>
  `{ "cniVersion": "1.0.0", "name": "${name}", "plugins": [{ "type": "${type}" }] }`

function makeFolder(t: Test): TempFolder {
  const folder = tempFolder(t)
  return folder
}

/** A plugin that is a small shell script. */
function plugin(folder: TempFolder, name: string, body: string, mode = 0o755): void {
  writeFileSync(folder.file(name), `#!/bin/sh\n${body}\n`)
  chmodSync(folder.file(name), mode)
}

t.test('what is in the way of reading a file is said, and nothing is waited for', async t => {
  const folder = makeFolder(t)
  const elsewhere = makeFolder(t)
  writeFileSync(elsewhere.file('x'), list('x'))
  writeFileSync(folder.file('good.conflist'), list('a'))
  symlinkSync('good.conflist', folder.file('inside.conflist'))
  symlinkSync(elsewhere.file('x'), folder.file('outside.conflist'))
  symlinkSync('nowhere', folder.file('dangling.conflist'))
  symlinkSync(elsewhere.path, folder.file('folder-link.conflist'))
  execFileSync('mkfifo', [folder.file('pipe.conf')])
  writeFileSync(folder.file('large.json'), '')
  truncateSync(folder.file('large.json'), 2 * 1024 * 1024)
  mkdirSync(folder.file('sub.conflist'))
  writeFileSync(folder.file('.hidden.conflist'), '\ufeff{}')
  writeFileSync(folder.file('x.txt'), 'no')
  writeFileSync(folder.file('x.yaml'), 'kind: Deployment\n')
  const files = await readConfDir(folder.path)
  const seen = Object.fromEntries(files.map(({ name, text, fault }) => [name, text ?? fault]))
  t.match(seen, {
    'good.conflist': list('a'),
    'inside.conflist': list('a'),
    'outside.conflist': { why: /link out of the folder/, severity: 'warning', stopsRuntime: false },
    'dangling.conflist': { why: /leads nowhere/, severity: 'error', stopsRuntime: true },
    'folder-link.conflist': { why: /link out of the folder/ },
    'pipe.conf': { why: /a pipe/, severity: 'error', stopsRuntime: true },
    'large.json': { why: /more than 1024 KiB/, stopsRuntime: false },
    '.hidden.conflist': '\ufeff{}',
  })
  t.equal(files.length, 8)
  t.equal((await readSourceFile(folder.file('outside.conflist'), 'anywhere')).text, list('x'))
  t.equal((await thrownProblem(() => readConfDir(folder.file('none')))).code, 'IPK_CONF_DIR_UNREADABLE')
})

t.test('the networks of a folder', async t => {
  const folder = makeFolder(t)
  writeFileSync(folder.file('00.conflist'), '{')
  writeFileSync(folder.file('20.conflist'), list('a'))
  writeFileSync(folder.file('10.conflist'), list('b'))
  writeFileSync(folder.file('05.conflist.bak'), list('b'))
  t.match(await readNetworks(folder.path), [
    { path: folder.file('10.conflist'), name: 'b', list: list('b') },
    { path: folder.file('20.conflist'), name: 'a' },
  ])
  t.strictSame(await readNetworks(folder.file('none')), [])
})

t.test('plugins are looked for as libcni does, and asked for their versions', async t => {
  const [first, second] = [makeFolder(t), makeFolder(t)]
  const versions = '{"cniVersion":"1.0.0","supportedVersions":["0.4.0","1.0.0"]}'
  plugin(second, 'good', `test "$CNI_COMMAND" = VERSION && echo '${versions}'`)
  mkdirSync(first.file('good'))
  mkdirSync(first.file('folder'))
  plugin(first, 'plain', 'true', 0o644)
  plugin(first, 'silent', 'true')
  plugin(first, 'talk', 'echo hello')
  plugin(first, 'fails', 'exit 3')
  plugin(first, 'hangs', 'exec sleep 60')
  plugin(first, 'open', `touch ${second.file('ran')}`, 0o777)
  const binDirs = [first.path, second.path]
  const types = ['good', 'folder', 'plain', 'silent', 'talk', 'fails', 'hangs', 'open', 'none', '../good', '']
  const seen = await findPlugins(types, { binDirs, askVersions: true })
  const executable = (name: string, silence: RegExp) => ({
    kind: 'executable',
    path: first.file(name),
    silence,
    versions: undefined,
  })
  t.match(Object.fromEntries(seen), {
    good: { kind: 'executable', path: second.file('good'), versions: ['0.4.0', '1.0.0'], unsafe: undefined },
    folder: { kind: 'unusable', why: /a folder/ },
    plain: { kind: 'unusable', why: /not executable/ },
    silent: executable('silent', /printed nothing/),
    talk: executable('talk', /no JSON/),
    fails: executable('fails', /exit code 3/),
    hangs: executable('hangs', /within 2 s/),
    none: { kind: 'missing' },
  })
  t.notOk(seen.has('../good') || seen.has(''))
  if (isRoot) {
    t.match(seen.get('open'), { unsafe: /written by others/ })
    t.notOk(readdirSync(second.path).includes('ran'), 'root has not run it')
    plugin(first, 'mine', 'true')
    chownSync(first.file('mine'), 1000, 1000)
    t.match((await findPlugins(['mine'], { binDirs, askVersions: true })).get('mine'), {
      unsafe: /user 1000/,
    })
  }
})

t.test('a folder as a whole', async t => {
  const [folder, bin] = [makeFolder(t), makeFolder(t)]
  writeFileSync(folder.file('05-link.conflist'), list('a', 'gone'))
  linkSync(folder.file('05-link.conflist'), folder.file('10.conflist'))
  const node = { binDirs: [bin.path], binDirsNamed: true, maxConfNum: 1 }
  const { findings, files } = await lintDirectory(folder.path, node)
  t.strictSame(
    findings.map(({ rule }) => rule),
    ['plugin-missing', 'shadowed-file', 'duplicate-network-name', 'plugin-missing'],
  )
  t.strictSame(
    files.map(({ chosen }) => chosen),
    [true, false],
  )
  const nowhere = { ...node, binDirs: ['/nowhere/at/all'], binDirsNamed: false }
  const alone = await lintFiles([await readSourceFile(folder.file('10.conflist'), 'anywhere')], nowhere)
  t.strictSame(
    alone.findings.map(({ rule }) => rule),
    ['bin-dir-missing'],
  )
})

t.test('the watch: at the start, on changes, and only news are told', async t => {
  const [folder, bin] = [makeFolder(t), makeFolder(t)]
  const directory = folder.file('net.d')
  plugin(bin, 'bridge', `echo '{"supportedVersions":["1.0.0"]}'`)
  const news: LintFinding[] = []
  const gone: LintFinding[] = []
  const unreadable: unknown[] = []
  const watch = new ConfDirWatch({
    ...{ directory, binDirs: [bin.path], binDirsNamed: true, maxConfNum: 1 },
    onChange: (come, went) => {
      news.push(...come)
      gone.push(...went)
    },
    onUnreadable: error => unreadable.push(error),
  })
  t.teardown(() => watch.stop())
  await watch.start()
  t.strictSame(watch.current(), { findings: [], files: [] })
  t.equal(unreadable.length, 1)
  mkdirSync(directory)
  writeFileSync(`${directory}/10.conflist`, list('a'))
  await until('the folder is seen', () => watch.current().files.length === 1)
  t.strictSame([news, unreadable[1]], [[], undefined])
  writeFileSync(`${directory}/05.conflist`, '{,}')
  await until('the bad file is seen', () => news.some(({ rule }) => rule === 'extra-comma'))
  t.ok(news.some(({ rule, file }) => rule === 'broken-file-first' && file.endsWith('05.conflist')))
  const told = news.length
  writeFileSync(`${directory}/05.conflist`, list('b'))
  await until('it is mended', () => gone.some(({ rule }) => rule === 'extra-comma'))
  t.strictSame(
    news.slice(told).map(({ rule }) => rule),
    ['shadowed-file'],
  )
})

t.test('what Multus has in files', async t => {
  const [netDir, own] = [makeFolder(t), makeFolder(t)]
  writeFileSync(own.file('a.conflist'), list('lan'))
  writeFileSync(own.file('b.conf'), JSON.stringify({ cniVersion: '1.0.0', name: 'san', type: 'bridge' }))
  const multus = (config: object): void => {
    writeFileSync(netDir.file('00-multus.conf'), JSON.stringify({ name: 'm', type: 'multus', ...config }))
  }
  multus({ confDir: own.path })
  t.strictSame(await readMultusFiles(netDir.path), { folders: [own.path], networks: new Set(['lan', 'san']) })
  multus({})
  t.match(
    await readMultusFiles(netDir.path),
    { folders: ['/etc/cni/multus/net.d'] },
    'where it looks by itself',
  )
  t.equal(await readMultusFiles('/nowhere'), undefined, 'no node')
})

t.test('ranges of networks that Multus calls are known where they stand in its configuration', async t => {
  const folder = makeFolder(t)
  const ours = (subnet: string): object => ({ type: 'bridge', ipam: { type: 'ipkeeper', subnet } })
  const write = (name: string, config: object): void => {
    writeFileSync(folder.file(name), JSON.stringify({ cniVersion: '1.0.0', ...config }))
  }
  const known = async (): Promise<readonly unknown[]> => {
    const { pools, complete } = await readNetworkPools(folder.path)
    return [pools.map(({ name }) => name), complete]
  }
  write('10.conflist', { name: 'file', plugins: [ours('10.1.0.0/24')] })
  t.strictSame(await known(), [['file'], true])
  write('00.conf', { name: 'm', type: 'multus', delegates: [{ name: 'inner', ...ours('10.2.0.0/24') }] })
  t.strictSame(await known(), [['file', 'inner'], true])
  write('00.conf', { name: 'm', type: 'multus-shim', clusterNetwork: 'of-the-api' })
  t.strictSame(await known(), [['file'], false])
})
