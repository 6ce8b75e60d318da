/** docs/operations/upgrade.md, tried: a daemon with pods is upgraded to another build, and back, while pods talk. */
import { chmodSync, copyFileSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { StatusReply } from '../../shared/api/listing.schema.ts'
import { until } from '../rigs/poll.ts'
import { distFolder, isStaticPlugin, missing, pluginOf } from '../rigs/requirements.ts'
import { mustRun } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import { makeWiredNode, type WiredPod, type WiredResult } from '../rigs/wired-node.ts'

const root = join(import.meta.dirname, '..', '..')
const skip = missing('namespaces', 'nft', 'executables')
const otherVersion = '9.9.9'

t.test('upgrade and rollback with pods that stay connected', { skip, timeout: 180_000 }, async t => {
  const folder = tempFolder(t)
  const build = async (script: string, ...words: readonly string[]): Promise<void> => {
    await mustRun(
      process.execPath,
      [join(root, 'scripts', script), '--out', folder.file('other'), ...words],
      {
        env: { ...(process.env as Record<string, string>), IPKEEPER_VERSION: otherVersion },
        timeoutMs: 150_000,
      },
    )
  }
  await build('build-executables.ts', '--no-code-cache')
  if (isStaticPlugin) await build('build-static.ts')
  mkdirSync(folder.file('bin'))
  /** As make install does it: a new file, then a rename. */
  const install = (from: string, name: 'ipkeeper' | 'ipkeeper-server'): void => {
    const fresh = folder.file('bin', `.${name}.new`)
    copyFileSync(name === 'ipkeeper' ? pluginOf(from) : join(from, name), fresh)
    chmodSync(fresh, 0o755)
    renameSync(fresh, folder.file('bin', name))
  }
  install(distFolder, 'ipkeeper')
  install(distFolder, 'ipkeeper-server')
  const node = await makeWiredNode(t, {
    settings: { mode: 'bridge' },
    plugin: folder.file('bin', 'ipkeeper'),
    server: folder.file('bin', 'ipkeeper-server'),
  })
  const versionOf = async (): Promise<string> =>
    (JSON.parse((await node.daemon().ask('GET', '/v1/status')).body) as StatusReply).version
  const first = await versionOf()
  t.not(first, otherVersion)

  const named = { annotations: { 'ipkeeper.io/ip': '10.22.0.50', 'ipkeeper.io/retain': 'forever' } }
  const living: { pod: WiredPod; result: WiredResult }[] = []
  const add = async (options = {}): Promise<WiredPod> => {
    const pod = await node.pod(options)
    living.push({ pod, result: await pod.add() })
    return pod
  }
  const addressOf = (result: WiredResult): string => result.ips[0]?.address.split('/')[0] ?? ''
  /** The first pod reaches all others, in both directions of the bridge. */
  const talk = async (when: string): Promise<void> => {
    const [from, ...others] = living
    for (const { result } of others) {
      const ping = ['netns', 'exec', from!.pod.namespace.name, 'ping', '-c1', '-W2', addressOf(result)]
      await t.resolves(node.host.run('ip', ping), `${when}: ${addressOf(result)} answers`)
    }
  }
  const check = async (when: string): Promise<void> => {
    for (const { pod, result } of living)
      t.match(await pod.call('CHECK', { prevResult: result }), { exit: 0, stdout: '' }, `${when}: CHECK`)
  }
  const bound = async (): Promise<readonly string[]> =>
    (await node.daemon().boundLeases()).map(({ address }) => address).sort()
  const wanted = (): readonly string[] =>
    living.flatMap(({ result }) => result.ips.map(({ address }) => address.split('/')[0] ?? '')).sort()

  await add(named)
  await add()
  await add()
  await talk('before')

  for (const [step, from, version, signal] of [
    ['upgrade', folder.file('other'), otherVersion, 'SIGTERM'],
    ['rollback', distFolder, first, 'SIGTERM'],
    ['upgrade, the daemon killed', folder.file('other'), otherVersion, 'SIGKILL'],
    ['rollback, the daemon killed', distFolder, first, 'SIGKILL'],
  ] as const) {
    install(from, 'ipkeeper')
    await add()
    await check(`${step}, the plugin first`)
    install(from, 'ipkeeper-server')
    t.not(await versionOf(), version, 'what runs is the daemon from before')
    t.equal(await node.daemon().stop(signal), signal === 'SIGTERM' ? 0 : null)

    await talk(`${step}, no daemon`)
    const leaving = living.pop()!
    await leaving.pod.del()
    const waiting = await node.pod()
    const added = waiting.add()
    await node.startDaemon()
    living.push({ pod: waiting, result: await added })
    t.equal(await versionOf(), version, step)
    await until('the DEL that waited was done', async () => (await bound()).join() === wanted().join())
    t.same(await bound(), wanted(), `${step}: leases are as before`)
    await check(step)
    await talk(step)
  }
  // A fixed address is the pod's own again after all of this.
  const again = await living[0]!.pod.again()
  await living.shift()!.pod.del()
  t.equal(addressOf(await again.add(named)), '10.22.0.50')
})
