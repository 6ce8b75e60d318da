import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { isWhole } from '../rigs/extent.ts'
import { missing, testedPlugin } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

/**
 * The daemon is killed (SIGKILL) again and again while runtimes add and delete containers through the packaged plugin.
 * Whatever was answered has to be there afterwards, no address twice, and what was deleted has to be gone.
 */

/** A kill every second or two. */
const kills = isWhole ? 200 : 60
const workers = 6

/** What a runtime knows of one container: only what it was told. */
interface Known {
  readonly container: string
  readonly pod: string
  readonly wanted: string | undefined
  address: string
}

const folder = tempFolder(t)
const socket = folder.file('ipkeeper.sock')
const stateDir = folder.file('state')

const config = (wanted: string | undefined): object => ({
  cniVersion: '1.0.0',
  name: 'crash',
  type: 'bridge',
  ipam: { type: 'ipkeeper', socket, stateDir, ranges: [[{ subnet: '10.22.0.0/24' }]] },
  ...(wanted !== undefined && {
    runtimeConfig: { 'io.kubernetes.cri.pod-annotations': { 'ipkeeper.io/ip': wanted } },
  }),
})

async function call(command: 'ADD' | 'DEL', known: Known) {
  return await runPlugin({
    plugin: testedPlugin,
    command,
    containerId: known.container,
    netns: '/run/netns/none',
    ifname: 'eth0',
    path: '/opt/cni/bin',
    args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=crash;K8S_POD_NAME=${known.pod};K8S_POD_UID=uid-${known.container}`,
    config: config(known.wanted),
    timeoutMs: 60_000,
  })
}

/** Deletes until it succeeds, as kubelet does. */
async function deleteSurely(known: Known, finished: () => boolean): Promise<void> {
  for (;;) {
    const { exit, stdout } = await call('DEL', known)
    if (exit === 0) return
    if (finished()) throw new Error(`DEL of ${known.container} fails with the daemon up: ${stdout}`)
  }
}

t.test(`${kills} kills at random moments`, { skip: missing('executables'), timeout: 600_000 }, async t => {
  const known = new Map<string, Known>()
  const problems: string[] = []
  let added = 0
  let failed = 0
  let deleted = 0
  let done = false
  let paused: Promise<void> = Promise.resolve()
  let resume: () => void = () => undefined
  let idle = 0

  // Six runtimes and another test file are at work meanwhile, on two cores.
  const start = (): Promise<Daemon> => startDaemon({ socket, stateDir })
  let daemon = await start()
  t.teardown(() => daemon.stop('SIGKILL'))

  const worker = async (number: number): Promise<void> => {
    const mine: Known[] = []
    for (let turn = 0; !done; turn++) {
      idle++
      await paused
      idle--
      const oldest = mine[0]
      if (oldest && (mine.length > 6 || randomInt(3) === 0)) {
        mine.shift()
        known.delete(oldest.container)
        await deleteSurely(oldest, () => done)
        deleted++
        continue
      }
      // Each worker has names of its own; every third pod asks for one of a few addresses, which others may have.
      const wanted = randomInt(3) === 0 ? `10.22.0.${200 + randomInt(6)}` : undefined
      const container = `w${number}t${turn}`
      const fresh: Known = { container, pod: container, wanted, address: '' }
      const { exit, stdout } = await call('ADD', fresh)
      if (exit !== 0) {
        failed++
        const { msg } = JSON.parse(stdout) as { msg?: string }
        if (!msg) problems.push(`an error without a message: ${stdout}`)
        await deleteSurely(fresh, () => done)
        continue
      }
      added++
      const result = JSON.parse(stdout) as { ips: { address: string }[] }
      fresh.address = result.ips[0]?.address.replace('/24', '') ?? ''
      if (wanted !== undefined && fresh.address !== wanted)
        problems.push(`${container} asked ${wanted}, got ${fresh.address}`)
      const other = [...known.values()].find(candidate => candidate.address === fresh.address)
      if (other) problems.push(`${fresh.address} was given to ${container} while ${other.container} has it`)
      known.set(container, fresh)
      mine.push(fresh)
    }
  }

  const compare = async (): Promise<void> => {
    const bound = await daemon.boundLeases()
    const byContainer = new Map(bound.map(lease => [lease.containerId, lease.address]))
    for (const { container, address } of known.values()) {
      const stored = byContainer.get(container)
      if (stored !== address)
        problems.push(`${address} was acknowledged to ${container}, the daemon has ${String(stored)}`)
    }
    for (const lease of bound) {
      if (!known.has(lease.containerId ?? ''))
        problems.push(`${lease.address} is left with ${String(lease.containerId)}`)
    }
    if (new Set(bound.map(lease => lease.address)).size !== bound.length)
      problems.push('two leases share an address')
  }

  const running = Promise.all(Array.from({ length: workers }, (_, number) => worker(number)))
  try {
    for (let kill = 1; kill <= kills; kill++) {
      await delay(randomInt(150))
      await daemon.stop('SIGKILL')
      daemon = await start()
      if (kill % 20 !== 0) continue
      // Let every call end, then compare what runtimes were told with what the daemon has.
      paused = new Promise(resolve => (resume = resolve))
      while (idle < workers) await delay(10)
      await compare()
      paused = Promise.resolve()
      resume()
    }
  } finally {
    // Whatever went wrong, the runtimes come to their end.
    done = true
    resume()
  }
  await running
  await compare()
  t.equal(await daemon.stop(), 0, 'SIGTERM ends it with exit 0')

  t.strictSame(problems, [])
  t.ok(
    added > 0 && deleted > 0,
    `${added} ADDs and ${deleted} DELs were acknowledged, ${failed} ADDs refused`,
  )
  const database = new DatabaseSync(join(stateDir, 'leases.db'))
  t.strictSame({ ...database.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' })
  database.close()
})
