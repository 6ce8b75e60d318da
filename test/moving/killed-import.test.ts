/** An import whose daemon is killed while it runs, and one whose tool is: done again, it ends as if nothing had happened. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { PoolsReply } from '../../shared/api/listing.schema.ts'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { until } from '../rigs/poll.ts'
import { distFolder, missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const count = 3000

t.test('an import that is killed half-way', { skip: missing('executables') }, async t => {
  const folder = tempFolder(t)
  const networks = folder.file('networks')
  mkdirSync(join(networks, 'fixed'), { recursive: true })
  for (const name of ['net.d', 'results']) mkdirSync(folder.file(name))
  for (let index = 0; index < count; index++) {
    const address = `10.22.${1 + (index >> 8)}.${index & 255}`
    writeFileSync(join(networks, 'fixed', address), `${index.toString(16).padStart(64, '0')}\r\neth0`)
  }
  const options = { socket: folder.file('d.sock'), stateDir: folder.file('state') }
  let daemon: Daemon = await startDaemon(options)
  t.teardown(() => daemon.stop('SIGKILL'))
  const words = [
    ...[
      'import',
      'host-local',
      '--dir',
      networks,
      '--network',
      'fixed',
      '--subnet',
      '10.22.0.0/16',
      '--apply',
    ],
    ...[
      '--net-dir',
      folder.file('net.d'),
      '--results-dir',
      folder.file('results'),
      '--runtime',
      folder.file('none'),
    ],
  ]
  const used = async (): Promise<number> => {
    const { body } = await daemon.ask('GET', '/v1/pools')
    return Number((JSON.parse(body) as PoolsReply).pools[0]?.used ?? 0)
  }
  const start = (): ReturnType<typeof spawn> =>
    spawn(join(distFolder, 'ipkeeperctl'), [...words, '--socket', options.socket], { stdio: 'ignore' })

  const first = start()
  const firstEnded = once(first, 'exit') as Promise<[number | null]>
  await until('the import has begun', async () => (await used()) > 0)
  daemon.kill('SIGKILL')
  await daemon.stop('SIGKILL')
  t.equal((await firstEnded)[0], 1, 'the tool says that it failed')
  daemon = await startDaemon(options)
  const kept = await used()
  t.ok(kept < count, `${kept} of ${count} got through`)

  const second = start()
  const secondEnded = once(second, 'exit')
  await until('it goes on', async () => (await used()) > kept || second.exitCode !== null)
  second.kill('SIGKILL')
  await secondEnded

  const { exit, stdout, stderr } = await daemon.control(...words, '-o', 'json')
  t.equal(exit, 0, stderr)
  const { counts } = JSON.parse(stdout) as { counts: Record<string, number> }
  t.equal((counts['adopt'] ?? 0) + (counts['ours'] ?? 0), count)
  t.match(counts, { conflict: 0, unfit: 0, gone: 0 })
  const leases = await daemon.boundLeases()
  t.equal(new Set(leases.map(({ address }) => address)).size, count)
  t.equal(new Set(leases.map(({ containerId }) => containerId)).size, count)
})
