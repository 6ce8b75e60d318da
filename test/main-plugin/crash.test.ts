/**
 * The daemon, or it and every plugin, is killed at random moments of ADDs and DELs. Some seconds after it runs again, those
 * pods have leases, links and elements of sets whose ADD was answered, and nobody else.
 */
import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Daemon } from '../rigs/daemon.ts'
import { kernelState } from '../rigs/kernel-state.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { makeWiredNode, type Settings, type WiredNode, type WiredPod } from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')

const rounds = 6
const podsPerRound = 8
const settleMs = 10_000

const modes: Readonly<Record<string, Settings>> = {
  bridge: { mode: 'bridge', ipMasq: true },
  ptp: { mode: 'ptp', ipMasq: true },
}

/** Kills every plugin of the private host, by process id: its PID namespace has no processes but those of this test. */
async function killPlugins({ host }: WiredNode): Promise<void> {
  const each = `case "$(readlink "$process/exe")" in */dist/ipkeeper) kill -9 "\${process#/proc/}" ;; esac`
  await host.run('sh', ['-c', `for process in /proc/[0-9]*; do ${each}; done 2>/dev/null`])
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
    let betweenMarkAndAnswer = 0
    for (let round = 0; round < rounds; round++) {
      const together = round % 2 === 1
      const fresh: WiredPod[] = []
      for (let number = 0; number < podsPerRound; number++) fresh.push(await node.pod())
      const leaving = [...living.values()].slice(0, podsPerRound / 2)
      const daemon = node.daemon()
      const adding = fresh.map(pod => pod.call('ADD'))
      const deleting = leaving.map(pod => pod.call('DEL'))
      // Any moment from the first request on until the last answer.
      const done = served(daemon) + randomInt(podsPerRound + leaving.length)
      await until('requests are served', () => served(daemon) >= done)
      await delay(randomInt(60))
      daemon.kill('SIGKILL')
      if (together) await killPlugins(node)
      await daemon.stop('SIGKILL')
      if (randomInt(2) === 0) await delay(randomInt(300))
      await node.startDaemon()

      const added = await Promise.all(adding)
      for (const [index, { exit }] of added.entries())
        if (exit === 0) living.set(fresh[index]!.containerId, fresh[index]!)
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
      const answered = added.filter(({ exit }) => exit === 0).length
      const what = `round ${round}, ${together ? 'plugins too' : 'the daemon'}: ${answered} of ${podsPerRound} answered`
      if (together && !settled()) {
        // A plugin leaves a mark, then prints: one that was killed in between counts as answered, and is whole.
        const whole = (id: string): boolean =>
          fresh.some(({ containerId }) => containerId === id) && found.links.includes(id)
        const unprinted = found.leases.filter(id => !living.has(id) && whole(id))
        betweenMarkAndAnswer += unprinted.length
        for (const id of unprinted)
          living.set(
            id,
            fresh.find(pod => pod.containerId === id)!,
          )
        wanted.splice(0, wanted.length, ...[...living.keys()].sort())
      }
      t.same(found, { leases: wanted, links: wanted, elements: wanted }, what)
      // The pods that were refused, and those that were undone, can be added again.
      const retried = fresh.find(pod => !living.has(pod.containerId))
      if (retried) {
        await retried.add()
        living.set(retried.containerId, retried)
      }
    }
    t.ok(betweenMarkAndAnswer <= 2, `${betweenMarkAndAnswer} killed between mark and answer`)
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
