import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import t from 'tap'
import { leastGlibc } from '../../../ipkeeper-server/host/least-glibc.ts'
import { choosePlugin, missingLibrary } from '../../../ipkeeper-server/install/choose-plugin.ts'
import { distFolder, missing } from '../../rigs/requirements.ts'
import { makeTempFolder } from '../../rigs/temp-folder.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

const glibc = ['libc.so.6', 'libdl.so.2', 'libm.so.6', 'libpthread.so.0']
const gcc = ['libgcc_s.so.1', 'libstdc++.so.6']
/** Path of a library that the Node that runs this is linked with. */
const linkedWith = (name: string): string =>
  linkedLibraries(process.execPath).find(path => path.endsWith(`/${name}`)) ?? ''
const below = (folder: string, ...names: readonly string[]): readonly string[] =>
  names.map(name => join(folder, name))

function linkedLibraries(program: string): readonly string[] {
  const { stdout } = spawnSync('ldd', [program], { encoding: 'utf8' })
  return Array.from(stdout.matchAll(/(\/\S+) \(0x/g), ([, path = '']) => path)
}

const folder = makeTempFolder()
t.teardown(() => {
  folder.remove()
})
let hosts = 0
/** A root with these files; a name with " -> " is a link, and one with " = " names the newest version of its glibc. */
function makeHost(paths: readonly string[]): string {
  const root = folder.file(`host-${hosts++}`)
  mkdirSync(join(root, 'usr'), { recursive: true })
  for (const path of paths) {
    const [named = '', target] = path.split(' -> ')
    const [name = '', version = leastGlibc] = named.split(' = ')
    mkdirSync(join(root, dirname(name)), { recursive: true })
    const names = ['2.2.5', version].map(each => `GLIBC_${each}\0`)
    if (target === undefined) writeFileSync(join(root, name), names.join(''))
    else symlinkSync(target, join(root, name))
  }
  return root
}

type Row = readonly [what: string, arch: 'x64' | 'arm64', paths: readonly string[], missing?: string]
const rows: readonly Row[] = [
  [
    'Debian, of which /usr alone is seen',
    'x64',
    [
      'usr/lib64/ld-linux-x86-64.so.2 -> /lib/x86_64-linux-gnu/ld-linux-x86-64.so.2',
      ...below('usr/lib/x86_64-linux-gnu', ...glibc, ...gcc),
    ],
  ],
  ['Debian on arm64', 'arm64', below('usr/lib/aarch64-linux-gnu', 'ld-linux-aarch64.so.1', ...glibc, ...gcc)],
  ['Fedora', 'x64', below('usr/lib64', 'ld-linux-x86-64.so.2', ...glibc, ...gcc)],
  ['Arch', 'x64', ['usr/lib64 -> lib', ...below('usr/lib', 'ld-linux-x86-64.so.2', ...glibc, ...gcc)]],
  [
    'an older Debian, whole',
    'x64',
    [
      'lib64/ld-linux-x86-64.so.2 -> ../lib/x86_64-linux-gnu/ld-2.28.so',
      ...below('lib/x86_64-linux-gnu', ...glibc, 'libgcc_s.so.1'),
      'usr/lib/x86_64-linux-gnu/libstdc++.so.6 -> libstdc++.so.6.0.25',
    ],
  ],
  [
    'RHEL 7',
    'x64',
    [
      'usr/lib64/libc.so.6 -> libc-2.17.so',
      'usr/lib64/libc-2.17.so = 2.17',
      ...below('usr/lib64', 'ld-linux-x86-64.so.2', ...glibc.slice(1), ...gcc),
    ],
    'glibc 2.28 or newer',
  ],
  [
    'Ubuntu 18.04',
    'x64',
    below('usr/lib64', 'ld-linux-x86-64.so.2', 'libc.so.6 = 2.27', ...glibc.slice(1), ...gcc),
    'glibc 2.28 or newer',
  ],
  [
    'a C library elsewhere in the root',
    'x64',
    [
      'usr/lib64/libc.so.6 -> ../other/libc.so.6',
      'usr/other/libc.so.6',
      ...below('usr/lib64', 'ld-linux-x86-64.so.2', ...glibc.slice(1), ...gcc),
    ],
  ],
  [
    'a link to where a C library is here, of whichever version',
    'x64',
    [
      `usr/lib64/libc.so.6 -> ${linkedWith('libc.so.6')}`,
      ...below('usr/lib64', 'ld-linux-x86-64.so.2', ...glibc.slice(1), ...gcc),
    ],
    'glibc 2.28 or newer',
  ],
  ['a host with nothing', 'x64', [], 'glibc'],
  ['Talos', 'x64', ['usr/lib/modules/6.12.0/modules.dep', 'usr/bin/init'], 'glibc'],
  ['Alpine', 'x64', below('usr/lib', 'ld-musl-x86_64.so.1', ...gcc), 'glibc'],
  ['Alpine with gcompat', 'x64', below('usr/lib', 'ld-linux-x86-64.so.2', ...gcc), 'glibc'],
  ['glibc of another architecture', 'arm64', below('usr/lib64', 'ld-linux-x86-64.so.2', ...glibc), 'glibc'],
  ['glibc alone', 'x64', below('usr/lib64', 'ld-linux-x86-64.so.2', ...glibc), 'libgcc_s.so.1'],
  [
    'glibc without libstdc++',
    'x64',
    below('usr/lib64', 'ld-linux-x86-64.so.2', ...glibc, 'libgcc_s.so.1'),
    'libstdc++.so.6',
  ],
  [
    'a link that leads to where this runs',
    'x64',
    ['usr/lib64 -> /usr/lib64', 'usr/lib -> /usr/lib'],
    'glibc',
  ],
]

t.test('what a host lacks', t => {
  for (const [what, arch, paths, expected] of rows)
    t.equal(missingLibrary(makeHost(paths), arch), expected, what)
  t.end()
})

t.test('the libraries are those that the executable is linked with', { skip: missing('executables') }, t => {
  const linked = linkedLibraries(join(distFolder, 'ipkeeper')).map(path => basename(path))
  t.ok(linked.length > 0)
  const host = makeHost(below('usr/lib', ...linked))
  t.equal(missingLibrary(host), undefined)
  for (const name of linked) {
    const others = below('usr/lib', ...linked.filter(other => other !== name))
    t.ok(missingLibrary(makeHost(others)), `without ${name}`)
  }
  t.end()
})

t.test(
  'the least glibc is what the executables ask for, and koffi for no newer one',
  { skip: missing('executables') },
  t => {
    const koffi = `@koromix/koffi-linux-${process.arch}/linux_${process.arch}/koffi.node`
    const newest = (path: string): number =>
      Math.max(
        ...Array.from(readFileSync(path, 'latin1').matchAll(/GLIBC_2\.(\d+)\0/g), ([, minor]) =>
          Number(minor),
        ),
      )
    for (const name of ['ipkeeper', 'ipkeeper-server'])
      t.equal(`2.${newest(join(distFolder, name))}`, leastGlibc, name)
    t.ok(newest(join(distFolder, '..', 'node_modules', koffi)) <= newest(process.execPath))
    t.end()
  },
)

t.test('which plugin', async t => {
  const both = folder.file('both')
  mkdirSync(both)
  for (const name of ['ipkeeper', 'ipkeeper-static']) writeFileSync(join(both, name), '')
  const bare = makeHost([])
  const loader = process.arch === 'arm64' ? 'ld-linux-aarch64.so.1' : 'ld-linux-x86-64.so.2'
  const usual = makeHost(below('usr/lib', loader, ...glibc, ...gcc))
  const withNode = { plugin: join(both, 'ipkeeper') }
  const withoutNode = (note: string): object => ({ plugin: join(both, 'ipkeeper-static'), note })
  for (const [wanted, host, choice] of [
    ['auto', undefined, withNode],
    ['auto', usual, withNode],
    ['auto', bare, withoutNode('the static plugin, since this host has no glibc')],
    ['node', bare, withNode],
    ['static', usual, withoutNode('the static plugin')],
    ['/other/plugin', bare, { plugin: '/other/plugin' }],
  ] as const)
    t.strictSame(choosePlugin(wanted, host, both), choice, `${wanted} on ${host ?? 'the host it runs on'}`)

  for (const [what, host, folderOfPlugins, says] of [
    [
      'no static plugin',
      bare,
      folder.path,
      /this host has no glibc, .* and there is no .*\/ipkeeper-static$/,
    ],
    ['no root of a host', both, both, /which plugin starts on this host is not known: .* no folder usr$/],
  ] as const)
    t.match(
      await thrownProblem(() => choosePlugin('auto', host, folderOfPlugins)),
      { code: 'IPK_INSTALL_FAILED', message: says },
      what,
    )
})
