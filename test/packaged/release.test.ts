/** `make release`: built twice, in different folders, it gives the same bytes; and what it gives is whole, and runs. */
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { isWhole } from '../rigs/extent.ts'
import { gunzipSync } from 'node:zlib'
import { readSource } from '../../scripts/read-source.ts'
import { readVersion } from '../../scripts/read-version.ts'
import { engineVersion, quickVersion } from '../../scripts/fetch-engine.ts'
import { hostArchitecture, fetchNode } from '../../scripts/fetch-node.ts'
import { startDaemon } from '../rigs/daemon.ts'
import { emulator, missing } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import { mustRun, runProgram } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const root = join(import.meta.dirname, '..', '..')
const skip = missing('executables')
const architectures = ['x64', 'arm64'] as const
/** e_machine of ELF. */
const machines = { x64: 62, arm64: 183 } as const

const source = readSource(root, process.env)

/** Another folder to build in: the sources, with what npm and cargo fetched and nothing that was compiled. */
async function copySources(t: Test): Promise<string> {
  // Beside the sources: node_modules is linked, not copied, and links stay on one file system.
  const cache = join(root, '.cache')
  const copy = mkdtempSync(join(cache, 'other-folder-'))
  t.teardown(() => {
    rmSync(copy, { recursive: true, force: true })
  })
  const kept = readdirSync(root).filter(
    name => !['.git', 'node_modules', 'dist', '.cache', '.tap'].includes(name),
  )
  for (const name of kept) cpSync(join(root, name), join(copy, name), { recursive: true })
  await mustRun('cp', ['-al', join(root, 'node_modules'), copy])
  mkdirSync(join(copy, '.cache', 'engine'), { recursive: true })
  const fetched = [
    ...architectures.filter(name => name !== hostArchitecture).map(name => fetchedFolder(name)),
    ...readdirSync(join(cache, 'engine'))
      .filter(name => name.startsWith('rquickjs-'))
      .map(name => join('engine', name)),
  ]
  for (const path of fetched) await mustRun('cp', ['-al', join(cache, path), join(copy, '.cache', path)])
  return copy
}

t.test('release', { skip, timeout: 900_000 }, async t => {
  const folder = tempFolder(t)
  const version = readVersion()
  const env = process.env as Record<string, string>
  const build = async (
    from: string,
    out: string,
    umask: string,
    variables: Record<string, string>,
  ): Promise<void> => {
    const line = `umask ${umask}; exec "$0" "$@"`
    const words = [process.execPath, join(from, 'scripts', 'release.ts'), '--out', folder.file(out)]
    await mustRun('sh', ['-c', line, ...words], {
      cwd: from,
      env: { ...env, ...variables },
      timeoutMs: 600_000,
    })
  }
  const given = { IPKEEPER_COMMIT: source.commit, SOURCE_DATE_EPOCH: String(source.time) }
  await build(root, 'here', '022', { ...given, TZ: 'UTC' })
  const sums = (out: string): string => readFileSync(folder.file(out, 'SHA256SUMS'), 'utf8')
  const here = sums('here')
  // It compiles the engine for each architecture once more, which takes minutes.
  const copy = isWhole ? [await copySources(t)] : []
  for (const from of copy) {
    await build(from, 'there', '077', { ...given, TZ: 'Asia/Tokyo', HOME: folder.path })
    t.equal(sums('there'), here, 'the same bytes from another folder')
  }
  t.match(await runProgram('sha256sum', ['-c', 'SHA256SUMS'], { cwd: folder.file('here') }), { exit: 0 })
  t.equal(here.split('\n').length, 5, 'a tarball and a bill for each architecture')

  for (const architecture of architectures) {
    const base = `ipkeeper-${version}-linux-${architecture}`
    const tarball = folder.file('here', `${base}.tar.gz`)
    const bytes = gunzipSync(readFileSync(tarball))
    for (const path of [root, ...copy, folder.path])
      t.notOk(bytes.includes(path), `${architecture}: no ${path} in it`)
    const rows = (
      await mustRun('tar', ['-tvzf', tarball, '--full-time', '--numeric-owner'], {
        env: { ...env, TZ: 'UTC' },
      })
    )
      .trimEnd()
      .split('\n')
      .map(row => row.split(/\s+/))
    const time = new Date(source.time * 1000).toISOString().slice(0, 19).replace('T', ' ')
    t.same(
      [...new Set(rows.map(row => `${row[1]} ${row[3]} ${row[4]}`))],
      [`0/0 ${time}`],
      'one owner, one time',
    )
    t.strictSame(
      [...new Set(rows.map(([mode = '']) => mode))].sort(),
      ['-rw-r--r--', '-rwxr-xr-x', 'drwxr-xr-x', 'lrwxrwxrwx'],
      'modes do not depend on the umask',
    )
    const names = rows.map(row => row[5]?.slice(base.length + 1))
    for (const name of [
      ...['bin/ipkeeper', 'bin/ipkeeper-server', 'bin/ipkeeperctl', 'share/man/man8/ipkeeperctl.8'],
      ...[
        'share/bash-completion/completions/ipkeeperctl',
        'share/zsh/site-functions/_ipkeeperctl',
        'share/fish/vendor_completions.d/ipkeeperctl.fish',
      ],
      ...[
        'deploy/rbac/rbac.yaml',
        'deploy/systemd/ipkeeper.service',
        'examples/10-fixed.conflist',
        'LICENSE',
        'CHANGELOG.md',
        'INSTALL',
        'VERSION',
      ],
      'sbom.cdx.json',
    ])
      t.ok(names.includes(name), `${architecture}: ${name}`)
    await mustRun('tar', ['-xzf', tarball, '-C', folder.path])
    const bin = (name: string): string => folder.file(base, 'bin', name)
    for (const name of ['ipkeeper', 'ipkeeper-server'])
      t.equal(
        readFileSync(bin(name)).readUInt16LE(18),
        machines[architecture],
        `${name} is for ${architecture}`,
      )
    t.equal(readFileSync(folder.file(base, 'VERSION'), 'utf8'), `${version}\n${source.commit}\n`)

    const bill = JSON.parse(readFileSync(folder.file(base, 'sbom.cdx.json'), 'utf8')) as {
      metadata: { component: { name: string; version: string } }
      components: { name: string; version: string; hashes?: { content: string }[]; components?: unknown[] }[]
    }
    t.match(bill.metadata.component, { name: 'ipkeeper', version })
    const node = bill.components.find(({ name }) => name === 'node')
    const digest = createHash('sha256')
      .update(readFileSync(fetchNode(architecture)))
      .digest('hex')
    t.match(node, { version: process.versions.node, hashes: [{ content: digest }] })
    t.ok(
      node?.components?.some(part => (part as { name: string }).name === 'openssl'),
      'what is inside Node',
    )
    const packages = bill.components.map(({ name }) => name)
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>
    }
    for (const name of Object.keys(dependencies)) t.ok(packages.includes(name), `the bill has ${name}`)
    const koffi = packages.filter(name => name.includes('koffi'))
    t.strictSame(koffi, [`@koromix/koffi-linux-${architecture}`], 'that of the architecture')
    for (const name of ['tap', 'eslint', 'esbuild']) t.notOk(packages.includes(name), `not ${name}`)

    const own = architecture === hostArchitecture
    const hasStatic = missing('static-plugin', ...(own ? [] : (['cross-compiler'] as const)))
    await t.test(`${architecture} has the static plugin`, { skip: hasStatic }, async t => {
      const { stdout } = await runProgram('readelf', ['--program-headers', bin('ipkeeper-static')])
      t.notMatch(stdout, /INTERP|DYNAMIC/, 'which needs no loader')
      t.equal(readFileSync(bin('ipkeeper-static')).readUInt16LE(18), machines[architecture])
      const header = join(root, '.cache', 'engine', `rquickjs-sys-${engineVersion()}`, 'quickjs')
      t.match(
        bill.components.find(({ name }) => name === 'quickjs-ng'),
        { version: quickVersion(header), licenses: [{ license: { id: 'MIT' } }] },
      )
      t.match(
        bill.components.find(({ name }) => name === 'glibc'),
        { version: /^\d+\.\d+$/, licenses: [{ license: { id: 'LGPL-2.1-or-later' } }] },
      )
      t.match(
        bill.components.find(({ name }) => name === 'gcc'),
        { version: /^\d+\.\d+\.\d+$/ },
      )
      t.match(readFileSync(folder.file(base, 'LICENSE.quickjs-ng'), 'utf8'), /^The MIT License/)
    })
    const plugins = ['ipkeeper', ...(hasStatic === false ? ['ipkeeper-static'] : [])]
    await t.test(`${architecture} runs`, { skip: own ? false : missing('emulator') }, t =>
      tryRelease(t, folder.file(base, 'bin'), plugins, own ? [] : (emulator() ?? [])),
    )
    if (!own) continue
    const conflist = folder.file(base, 'examples', '10-fixed.conflist')
    // portmap is another project's.
    const linted = await runProgram(bin('ipkeeperctl'), [
      'lint',
      '--bin-dir',
      folder.file(base, 'bin'),
      conflist,
    ])
    t.match(linted.stdout, /no program "portmap"[^]*\n1 error: 1 file checked\n$/)
  }
})

/** A pod gets an address and gives it back, by these executables alone, and by each plugin of them. */
async function tryRelease(
  t: Test,
  bin: string,
  plugins: readonly string[],
  by: readonly string[],
): Promise<void> {
  const folder = tempFolder(t)
  // One program each, as runtimes start them.
  const started = (name: string): string => {
    const path = folder.file(name)
    writeFileSync(path, `#!/bin/sh\nexec ${[...by, join(bin, name)].join(' ')} "$@"\n`, { mode: 0o755 })
    return path
  }
  const [executable, control] = [started('ipkeeper-server'), started('ipkeeperctl')]
  const said = [
    ...plugins.map(name => [started(name), 'ipkeeper'] as const),
    [executable, 'ipkeeper-server'] as const,
    [control, 'ipkeeperctl'] as const,
  ]
  for (const [program, name] of said)
    t.equal(await mustRun(program, ['--version']), `${name} ${readVersion()} (commit ${source.commit})\n`)
  const [socket, stateDir] = [folder.file('s'), folder.file('state')]
  const daemon = await startDaemon({ socket, stateDir, executable })
  t.teardown(() => daemon.stop())
  const ipam = { type: 'ipkeeper', socket, stateDir, ranges: [[{ subnet: '10.22.0.0/24' }]] }
  for (const [nth, plugin] of plugins.entries()) {
    const call = {
      plugin: folder.file(plugin),
      containerId: `c${nth}`,
      ifname: 'eth0',
      netns: '/run/netns/none',
      path: bin,
      args: `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-${nth}`,
      config: { cniVersion: '1.0.0', name: 'net', type: 'bridge', ipam },
    }
    const added = await runPlugin({ ...call, command: 'ADD' })
    t.equal(added.exit, 0, `${plugin}: ${added.stdout}`)
    const address = `10.22.0.${2 + nth}`
    t.match(JSON.parse(added.stdout), { ips: [{ address: `${address}/24` }] })
    const who = await mustRun(control, ['who', address, '--socket', socket])
    t.match(who, new RegExp(`^${address.replaceAll('.', '\\.')} is bound to shop/web-${nth} `))
    t.equal((await runPlugin({ ...call, command: 'DEL' })).exit, 0)
    t.strictSame(await daemon.boundLeases(), [])
  }
}

/** Where scripts/fetch-node.ts keeps the Node of another architecture, below .cache. */
const fetchedFolder = (architecture: 'x64' | 'arm64'): string =>
  fetchNode(architecture)
    .slice(join(root, '.cache').length + 1)
    .split('/')[0] ?? ''
