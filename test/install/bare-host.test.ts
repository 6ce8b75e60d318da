/** What docs/install/host.md says of hosts without glibc: the plugin in a root that holds nothing else, then ever more. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import t from 'tap'
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
  type Row = readonly [there: string, put: readonly string[], exit: number, says: RegExp]
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
  for (const [there, put, exit, says] of isStaticPlugin ? [answers] : withNode) {
    for (const path of put) place(path)
    const end = await runProgram('chroot', [folder.path, '/opt/ipkeeper'], {
      env: { CNI_COMMAND: 'VERSION', PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
    })
    t.equal(end.exit, exit, there)
    t.match(end.stdout + end.stderr, says, there)
  }
})
