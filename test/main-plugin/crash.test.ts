/**
 * The daemon, or it and every plugin, is killed at random moments of ADDs and DELs. Some seconds after it runs again, those
 * pods have leases, links and elements of sets whose ADD was answered, and nobody else. Answered is what its plugin has left
 * the mark of: how many are killed between that and their end is a matter of the machine, and nothing to judge by.
 */
import { randomInt } from 'node:crypto'
import { readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { AttachmentRecord } from '../../ipkeeper-server/ipam/records/records.ts'
import type { Daemon } from '../rigs/daemon.ts'
import { kernelState } from '../rigs/kernel-state.ts'
import { until } from '../rigs/poll.ts'
import { missing, testedPlugin } from '../rigs/requirements.ts'
import type { Finished } from '../rigs/run-program.ts'
import { makeWiredNode, type Settings, type WiredNode, type WiredPod } from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')

const rounds = 6
const podsPerRound = 8
const settleMs = 10_000

const modes: Readonly<Record<string, Settings>> = {
  bridge: { mode: 'bridge', ipMasq: true },
  ptp: { mode: 'ptp', ipMasq: true },
}

/**
 * Kills every plugin of the private host, by process id: its PID namespace has no processes but those of this test. Again and
 * again until none is left, since some have still to start, and may start others.
 */
async function killPlugins({ host }: WiredNode, runs: readonly Promise<Finished>[]): Promise<void> {
  const plugin = realpathSync(testedPlugin)
  const each = `case "$(readlink "$process/exe")" in '${plugin}') kill -9 "\${process#/proc/}"; echo killed ;; esac`
  const script = `for process in /proc/[0-9]*; do ${each}; done 2>/dev/null`
  const running = new Set(runs)
  for (const run of runs) void run.finally(() => running.delete(run))
  for (let areLeft = true; areLeft;) {
    const mayStart = running.size > 0
    const { stdout } = await host.run('sh', ['-c', script])
    areLeft = mayStart || stdout !== ''
  }
}

/** Containers whose ADD has been answered, by what a daemon and plugins that have ended left. */
function answered(node: WiredNode): ReadonlySet<string> {
  const { stateDir } = node.config()['ipam'] as { readonly stateDir: string }
  const marks = new Set(readdirSync(join(stateDir, 'answered')))
  const database = new DatabaseSync(join(stateDir, 'leases.db'))
  try {
    const rows = database.prepare("SELECT body FROM record WHERE kind = 'attachment'").all()
    const records = rows.map(({ body }) => JSON.parse(String(body)) as AttachmentRecord)
    const confirmed = records.filter(
      ({ unanswered, invocationId }) => !unanswered || marks.has(invocationId ?? ''),
    )
    return new Set(confirmed.map(({ containerId }) => containerId))
  } finally {
    database.close()
  }
}

/** Container IDs that have something on the node, by where it was seen. */
interface Remains {
  readonly leases: readonly string[]
  readonly links: readonly string[]
  readonly elements: readonly string[]
}

/** IPv4 addresses in the sets of the ruleset. */
const addressesIn = (ruleset: readonly string[]): readonly string[] => [
  ...new Set(ruleset.join('\n').match(/\b10\.22\.\d+\.\d+\b(?!\/)/g)),
]

async function remains(node: WiredNode): Promise<Remains> {
  const leases = await node.daemon().boundLeases()
  const state = await kernelState(node.host)
  const holderOf = (address: string): string =>
    leases.find(lease => lease.address === address)?.containerId ?? `nobody has ${address}`
  return {
    leases: [...new Set(leases.map(({ containerId }) => containerId ?? ''))].sort(),
    // Their alias names the container.
    links: state.links
      .filter(link => /^ipk[0-9a-f]{12} /.test(link))
      .map(link => /\b[0-9a-f]{64}\b/.exec(link)?.[0] ?? link)
      .sort(),
    elements: addressesIn(state.ruleset)
      .filter(address => address !== '10.22.0.1')
      .map(holderOf)
      .sort(),
  }
}

/** How many ADDs and DELs a daemon has answered. */
const served = (daemon: Daemon): number => daemon.log().match(/"msg":"(added|deleted)"/g)?.length ?? 0

for (const [mode, settings] of Object.entries(modes)) {
  t.test(`killed, mode ${mode}`, { skip, timeout: 300_000 }, async t => {
    const configuration = { cooldown: '1s', preferFor: '1s' }
    const node = await makeWiredNode(t, { settings, configuration })
    // What stays on the node after its first pod is no remainder.
    const first = await node.pod()
    await first.add()
    await first.del()
    await first.namespace.delete()

    const living = new Map<string, WiredPod>()
    for (let round = 0; round < rounds; round++) {
      const together = round % 2 === 1
      const fresh: WiredPod[] = []
      for (let number = 0; number < podsPerRound; number++) fresh.push(await node.pod())
      const late = together ? await node.pod() : undefined
      const leaving = [...living.values()].slice(0, podsPerRound / 2)
      const daemon = node.daemon()
      const adding = fresh.map(pod => pod.call('ADD'))
      const deleting = leaving.map(pod => pod.call('DEL'))
      // Any moment from the first request on until the last answer.
      const done = served(daemon) + randomInt(podsPerRound + leaving.length)
      await until('requests are served', () => served(daemon) >= done)
      await delay(randomInt(60))
      daemon.kill('SIGKILL')
      if (late) {
        // It waits for a daemon, and so is there to be killed, however quick the others are.
        fresh.push(late)
        adding.push(late.call('ADD'))
        await killPlugins(node, [...adding, ...deleting])
        t.equal((await adding.at(-1))?.stdout, '', 'the plugin that waited was killed')
      }
      await daemon.stop('SIGKILL')
      const marked = together ? answered(node) : undefined
      if (randomInt(2) === 0) await delay(randomInt(300))
      await node.startDaemon()

      const added = await Promise.all(adding)
      const printed = fresh.filter((_, index) => added[index]!.stdout.includes('"ips"'))
      if (marked) {
        const unmarked = printed.filter(({ containerId }) => !marked.has(containerId))
        t.same(
          unmarked.map(({ name }) => name),
          [],
          'what was printed was marked',
        )
      }
      const arrived = marked ? fresh.filter(({ containerId }) => marked.has(containerId)) : printed
      for (const pod of arrived) living.set(pod.containerId, pod)
      const deleted = await Promise.all(deleting)
      for (const [index, { exit }] of deleted.entries()) {
        const pod = leaving[index]!
        living.delete(pod.containerId)
        // A runtime sends the DEL again that did not end well.
        if (exit !== 0) await pod.del()
      }

      const wanted = [...living.keys()].sort()
      let found = await remains(node)
      const settled = (): boolean => {
        const { leases, links, elements } = found
        return [leases, links, elements].every(ids => ids.join() === wanted.join())
      }
      await until(
        'only answered pods are left',
        async () => {
          found = await remains(node)
          return settled()
        },
        settleMs,
      ).catch(() => undefined)
      const what = `round ${round}, ${together ? 'plugins too' : 'the daemon'}: ${arrived.length} of ${fresh.length} answered, ${printed.length} printed`
      t.same(found, { leases: wanted, links: wanted, elements: wanted }, what)
      // The pods that were refused, and those that were undone, can be added again.
      const retried = fresh.find(pod => !living.has(pod.containerId))
      if (retried) {
        await retried.add()
        living.set(retried.containerId, retried)
      }
    }
    for (const pod of living.values()) {
      await pod.del()
      await pod.namespace.delete()
    }
    await until('nothing is left', async () => {
      const found = await remains(node)
      return (
        JSON.stringify(found) === JSON.stringify({ leases: [], links: [], elements: [] } satisfies Remains)
      )
    })
  })
}
