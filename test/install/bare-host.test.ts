/** What docs/install/host.md says of hosts without glibc: the plugin in a root that holds nothing else, then ever more. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import t from 'tap'
import { leastGlibc } from '../../ipkeeper-server/host/least-glibc.ts'
import { isStaticPlugin, missing, testedPlugin } from '../rigs/requirements.ts'
import { runProgram } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const plugin = testedPlugin

t.test('hosts without glibc', { skip: missing('namespaces', 'executables') }, async t => {
  const folder = tempFolder(t)
  const place = (path: string): void => {
    mkdirSync(folder.file(dirname(path)), { recursive: true })
    copyFileSync(path, folder.file(path))
  }
  mkdirSync(folder.file('opt'))
  copyFileSync(plugin, folder.file('opt', 'ipkeeper'))
  const libraries = Array.from(
    spawnSync('ldd', [plugin], { encoding: 'utf8' }).stdout.matchAll(/(\/\S+) \(0x/g),
    ([, path = '']) => path,
  )
  const [loader = ''] = libraries.filter(path => path.includes('/ld-linux'))
  const [standard = ''] = libraries.filter(path => path.includes('libstdc++'))
  type Row = readonly [there: string, put: readonly string[], exit: number, words: RegExp]
  const answers: Row = ['nothing', [], 0, /"supportedVersions"/]
  const withNode: readonly Row[] = [
    ['nothing', [], 127, /No such file or directory/],
    ['the loader alone', [loader], 127, /error while loading shared libraries: libdl\.so\.2/],
    [
      'glibc without libstdc++',
      libraries.filter(path => path !== standard),
      127,
      /error while loading shared libraries: libstdc\+\+\.so\.6/,
    ],
    ['both, and neither /proc nor /dev', [standard], 0, /"supportedVersions"/],
  ]
  const says = async (there: string, exit: number, words: RegExp): Promise<void> => {
    const end = await runProgram('chroot', [folder.path, '/opt/ipkeeper'], {
      env: { CNI_COMMAND: 'VERSION', PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
    })
    t.equal(end.exit, exit, there)
    t.match(end.stdout + end.stderr, words, there)
  }
  for (const [there, put, exit, words] of isStaticPlugin ? [answers] : withNode) {
    for (const path of put) place(path)
    await says(there, exit, words)
  }
  if (isStaticPlugin) return
  // The loader goes by the names of the versions that a C library has: this one has all but that.
  const libc = folder.file(libraries.find(path => path.endsWith('/libc.so.6')) ?? '')
  const older = readFileSync(libc, 'latin1').replaceAll(`GLIBC_${leastGlibc}\0`, 'GLIBC_2.27\0')
  writeFileSync(libc, older, 'latin1')
  await says('an older glibc', 1, /version `GLIBC_2\.28' not found/)
})
