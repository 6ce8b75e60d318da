/** The packaged `ipkeeper-server install` and `uninstall`, on folders of their own. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startDaemon } from '../../rigs/daemon.ts'
import { distFolder, missing, testedPlugin } from '../../rigs/requirements.ts'
import { runPlugin } from '../../rigs/run-plugin.ts'
import { runProgram, type Finished } from '../../rigs/run-program.ts'
import { tempFolder, type TempFolder } from '../../rigs/temp-folder.ts'

const skip = missing('executables')
const server = join(distFolder, 'ipkeeper-server')
const name = '10-ipkeeper.conflist'
const example = join(import.meta.dirname, '..', '..', '..', 'deploy', 'cni', name)

interface Site {
  readonly folder: TempFolder
  readonly bin: string
  readonly nets: string
  readonly run: (...words: readonly string[]) => Promise<Finished>
}

/** Folders of a runtime, and a plugin that is a small file: its bytes are all that matters. */
function makeSite(t: Test): Site {
  const folder = tempFolder(t)
  const [bin, nets] = [folder.file('bin'), folder.file('net.d')]
  mkdirSync(bin)
  // What the example names, besides ipkeeper.
  writeFileSync(join(bin, 'portmap'), '#!/bin/sh\n', { mode: 0o755 })
  writeFileSync(folder.file('plugin'), '#!/bin/sh\necho CNI ipkeeper plugin v0.0.1 >&2\n')
  return {
    folder,
    bin,
    nets,
    run: (...words) => runProgram(server, [...words, '--bin-dir', bin, '--conf-dir', nets]),
  }
}

t.test('install', { skip }, async t => {
  const { folder, bin, nets, run } = makeSite(t)
  const install = (...words: readonly string[]) => run('install', '--plugin', folder.file('plugin'), ...words)

  await t.test('the plugin, then the network', async t => {
    const { exit, stdout } = await install('--conflist', example)
    t.strictSame([exit, stdout], [0, `installed ${bin}/ipkeeper\ninstalled ${nets}/${name}\n`])
    t.equal(statSync(join(bin, 'ipkeeper')).mode & 0o7777, 0o755)
    t.equal(readFileSync(join(nets, name), 'utf8'), readFileSync(example, 'utf8'))
    t.strictSame([readdirSync(bin), readdirSync(nets)], [['ipkeeper', 'portmap'], [name]], 'and nothing else')
  })

  await t.test('again: nothing is written', async t => {
    const { ino } = statSync(join(bin, 'ipkeeper'))
    const { stdout } = await install('--conflist', example)
    t.match(stdout, /is up to date\n.*is up to date\n/)
    t.equal(statSync(join(bin, 'ipkeeper')).ino, ino)
  })

  await t.test('another plugin takes its place by a rename', async t => {
    const { ino } = statSync(join(bin, 'ipkeeper'))
    writeFileSync(folder.file('plugin'), '#!/bin/sh\necho CNI ipkeeper plugin v0.0.2 >&2\n')
    t.equal((await install()).exit, 0)
    t.not(statSync(join(bin, 'ipkeeper')).ino, ino)
  })

  await t.test(
    'the static plugin, since the host has no glibc, and back',
    { skip: missing('static-plugin') },
    async t => {
      mkdirSync(folder.file('host', 'usr'), { recursive: true })
      const kinds: readonly (readonly [words: readonly string[], name: string, note: string])[] = [
        [
          ['--host-root', folder.file('host')],
          'ipkeeper-static',
          ': the static plugin, since this host has no glibc',
        ],
        [[], 'ipkeeper', ''],
        [['--plugin', 'static'], 'ipkeeper-static', ': the static plugin'],
        [['--plugin', 'node', '--host-root', folder.file('host')], 'ipkeeper', ''],
      ]
      for (const [words, name, note] of kinds) {
        const { ino } = statSync(join(bin, 'ipkeeper'))
        t.equal((await run('install', ...words)).stdout, `installed ${bin}/ipkeeper${note}\n`)
        t.not(statSync(join(bin, 'ipkeeper')).ino, ino, 'by a rename')
        t.ok(readFileSync(join(bin, 'ipkeeper')).equals(readFileSync(join(distFolder, name))), name)
        t.equal((await run('install', ...words)).stdout, `${bin}/ipkeeper is up to date${note}\n`)
      }
    },
  )

  const broken: readonly (readonly [what: string, name: string, text: string, says: RegExp])[] = [
    ['half a file', name, '{ "cniVersion": "1.0.0", "name": "fixed", "plug', /:1:\d+: error: /],
    ['a name that no runtime reads', 'fixed.yaml', '{}', /it has to end in \.conflist/],
    [
      'a plugin that is not there',
      name,
      '{ "cniVersion": "1.0.0", "name": "x", "plugins": [{ "type": "nothing" }] }',
      /nothing/,
    ],
  ]
  for (const [what, name, text, says] of broken) {
    await t.test(`not a network with ${what}`, async t => {
      const before = readFileSync(join(nets, '10-ipkeeper.conflist'), 'utf8')
      mkdirSync(folder.file('broken'), { recursive: true })
      writeFileSync(folder.file('broken', name), text)
      const { exit, stderr } = await install('--conflist', folder.file('broken', name))
      t.equal(exit, 1)
      t.match(stderr, says)
      t.match(stderr, /IPK_INSTALL_FAILED\]/)
      t.equal(readFileSync(join(nets, '10-ipkeeper.conflist'), 'utf8'), before)
      t.strictSame(readdirSync(nets), ['10-ipkeeper.conflist'])
    })
  }

  await t.test('no plugin there', async t => {
    const { exit, stderr } = await run('install', '--plugin', folder.file('none'))
    t.equal(exit, 1)
    t.match(stderr, /there is no plugin at .*\nhint: name another one: --plugin FILE/s)
  })
})

t.test('uninstall', { skip }, async t => {
  const { folder, bin, nets, run } = makeSite(t)
  const socket = folder.file('s')
  const stateDir = folder.file('state')
  const daemon = await startDaemon({ socket, stateDir })
  t.teardown(() => daemon.stop('SIGKILL'))
  await run('install', '--plugin', folder.file('plugin'), '--conflist', example)
  const uninstall = (...words: readonly string[]) => run('uninstall', '--socket', socket, ...words)
  const call = (command: string): Promise<Finished> =>
    runPlugin({
      plugin: testedPlugin,
      command,
      containerId: 'c1',
      netns: '/run/netns/none',
      ifname: 'eth0',
      args: '',
      path: '/opt/cni/bin',
      config: {
        ...{ cniVersion: '1.0.0', name: 'fixed', type: 'bridge' },
        ipam: { type: 'ipkeeper', socket, stateDir, ranges: [[{ subnet: '10.22.0.0/24' }]] },
      },
    })
  t.equal((await call('ADD')).exit, 0)

  await t.test('a pod needs the plugin: the network goes, the plugin stays', async t => {
    const { exit, stderr } = await uninstall()
    t.equal(exit, 1)
    t.match(stderr, /ipkeeper stays: 1 sandbox needs it to be ended \[IPK_UNINSTALL_REFUSED\]/)
    t.match(stderr, /hint: drain the node/)
    t.strictSame([readdirSync(bin), readdirSync(nets)], [['ipkeeper', 'portmap'], [`${name}.uninstalled`]])
  })

  await t.test('another network names the plugin', async t => {
    writeFileSync(join(nets, '20-other.conflist'), readFileSync(example))
    t.match((await uninstall()).stderr, /20-other\.conflist names it/)
    t.equal((await uninstall('--conflist', '20-other.conflist')).exit, 1)
  })

  await t.test('the pod is gone: the plugin goes, and what stays is said', async t => {
    t.equal((await call('DEL')).exit, 0)
    const { exit, stdout } = await uninstall()
    t.equal(exit, 0)
    t.match(stdout, /^removed .*\/ipkeeper\nwhat stays: the state folder/)
    t.strictSame(readdirSync(bin), ['portmap'])
  })

  await t.test('nobody knows whether pods need it', async t => {
    await run('install', '--plugin', folder.file('plugin'))
    await daemon.stop()
    const { exit, stderr } = await uninstall()
    t.equal(exit, 1)
    t.match(stderr, /whether pods need it is not known/)
    t.equal((await uninstall('--force')).exit, 0)
    t.strictSame(readdirSync(bin), ['portmap'])
    const again = await uninstall()
    t.equal(again.exit, 0, 'without a plugin there is nothing to ask')
    t.match(again.stdout, /^there is no .*\/ipkeeper\n/)
  })
})
