/**
 * The packaged plugin and daemon: a GC ends what was there before its list was made, and nothing that came later, however
 * long it was on its way.
 */
import t, { type Test } from 'tap'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { holdRequests } from '../rigs/held-requests.ts'
import { startProcess, type PluginProcess } from '../rigs/plugin-process.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables')
const folder = tempFolder(t)

const younger = Array.from({ length: 12 }, (_, number) => `younger-${number}`)

interface Site {
  readonly socket: string
  readonly start: () => Promise<Daemon>
  /** A run of the plugin; `socket` in place of the daemon's own. */
  readonly run: (
    verb: 'ADD' | 'DEL' | 'GC',
    container: string,
    more?: { readonly socket?: string; readonly valid?: readonly string[] },
  ) => PluginProcess
}

function makeSite(t: Test, name: string): Site {
  const [socket, stateDir] = [folder.file(`${name}.sock`), folder.file(name)]
  let running: Daemon | undefined
  t.teardown(() => running?.stop('SIGKILL'))
  return {
    socket,
    start: async () => (running = await startDaemon({ socket, stateDir })),
    run: (verb, container, { socket: other = socket, valid = [] } = {}) =>
      startProcess(
        verb,
        {
          ...{ cniVersion: '1.1.0', name: 'fixed', type: 'bridge' },
          ipam: {
            ...{ type: 'ipkeeper', socket: other, stateDir, timeout: 50 },
            ranges: [[{ subnet: '10.23.0.0/24' }]],
          },
          'cni.dev/valid-attachments': valid.map(containerID => ({ containerID, ifname: 'eth0' })),
        },
        {
          env: {
            CNI_CONTAINERID: container,
            CNI_ARGS: `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${container};K8S_POD_UID=uid-${container}`,
          },
        },
      ),
  }
}

async function succeeds(t: Test, what: string, { finished }: PluginProcess): Promise<void> {
  const { exit, stdout, stderr } = await finished
  t.equal(exit, 0, `${what}: ${stdout}${stderr}`)
}

const withLease = async (daemon: Daemon): Promise<readonly string[]> =>
  (await daemon.boundLeases()).map(({ containerId }) => containerId ?? '').sort()

t.test('a GC on its way while ADDs are acknowledged', { skip, timeout: 120_000 }, async t => {
  const site = makeSite(t, 'held')
  const daemon = await site.start()
  for (const id of ['stale', 'listed']) await succeeds(t, id, site.run('ADD', id))
  // An ADD that has begun before the GC, and is answered after it has begun.
  const adds = await holdRequests(t, folder.file('adds.sock'), site.socket)
  const early = site.run('ADD', 'early', { socket: adds.path })
  await until('the early ADD is on its way', () => adds.waiting() === 1)
  const gcs = await holdRequests(t, folder.file('gcs.sock'), site.socket)
  const gc = site.run('GC', '', { socket: gcs.path, valid: ['listed'] })
  await until('the GC is on its way', () => gcs.waiting() === 1)
  await Promise.all(younger.map(id => succeeds(t, id, site.run('ADD', id))))
  adds.open()
  await succeeds(t, 'the early ADD', early)
  t.equal((await withLease(daemon)).length, 15)
  gcs.open()
  await succeeds(t, 'GC', gc)
  t.strictSame(await withLease(daemon), ['early', 'listed', ...younger].sort(), 'only the stale one is gone')
  const undated = {
    ...{ containerId: '', netns: '', ifname: '', args: '', path: '/opt/cni/bin' },
    config: { cniVersion: '1.1.0', name: 'fixed', 'cni.dev/valid-attachments': [] },
  }
  t.match(await daemon.ask('POST', '/v1/cni/gc', undated), { status: 200 })
  t.equal((await withLease(daemon)).length, 14, 'nobody knows how old the list of an undated GC is')
  await succeeds(t, 'the next GC', site.run('GC', '', { valid: ['listed', ...younger] }))
  t.strictSame(await withLease(daemon), ['listed', ...younger].sort(), 'the next list is a later one')
})

t.test('a GC that waits for a daemon that is started anew', { skip, timeout: 120_000 }, async t => {
  const site = makeSite(t, 'restarted')
  const before = await site.start()
  await succeeds(t, 'stale', site.run('ADD', 'stale'))
  await before.stop('SIGKILL')
  const gcs = await holdRequests(t, folder.file('restarted-gcs.sock'), site.socket)
  const gc = site.run('GC', '', { socket: gcs.path })
  await until('the GC is on its way', () => gcs.waiting() === 1)
  const adds = younger.map(id => site.run('ADD', id))
  const daemon = await site.start()
  gcs.open()
  await Promise.all(younger.map((id, index) => succeeds(t, id, adds[index] as PluginProcess)))
  await succeeds(t, 'GC', gc)
  // The daemon that answered the stale one was killed before it had noted when: only a list that is made later says anything of it.
  t.strictSame(
    (await withLease(daemon)).filter(id => id !== 'stale'),
    [...younger].sort(),
  )
  await until('a later GC ends the stale one', async () => {
    await succeeds(t, 'a later GC', site.run('GC', '', { valid: younger }))
    return !(await withLease(daemon)).includes('stale')
  })
  t.strictSame(await withLease(daemon), [...younger].sort())
})
