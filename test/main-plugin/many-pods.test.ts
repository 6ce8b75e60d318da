/** Many pods at a time, gone again in any order, leave the machine exactly as one pod left it before. */
import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { inParallel } from '../rigs/in-parallel.ts'
import { kernelState, settledState } from '../rigs/kernel-state.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { addressOf, makeWiredNode, type Settings, type WiredNode } from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')

const cases: readonly { readonly settings: Settings; readonly pods: number }[] = [
  { settings: { mode: 'bridge', ipMasq: true }, pods: 200 },
  { settings: { mode: 'ptp', ipMasq: true }, pods: 60 },
]

/** Bounds for what the daemon keeps in memory: all of it, and what the pods of this test leave in it. */
const [mostMebibytes, mostGrowth] = [300, 100]

const openFiles = (node: WiredNode): number => readdirSync(`/proc/${node.daemon().pid}/fd`).length

function residentMebibytes(node: WiredNode): number {
  const status = readFileSync(`/proc/${node.daemon().pid}/status`, 'latin1')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}

/** What the kernel has of programs that the daemon started. */
const children = (node: WiredNode): string => {
  const { pid } = node.daemon()
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim()
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  const rest = [...items]
  return items.map(() => rest.splice(randomInt(rest.length), 1)[0]!)
}

for (const { settings, pods: count } of cases) {
  t.test(`${count} pods, mode ${settings['mode'] as string}`, { skip, timeout: 400_000 }, async t => {
    // Addresses rest for a moment only, so that what is left of them can be seen to go.
    const configuration = { cooldown: '1s', preferFor: '1s' }
    const node = await makeWiredNode(t, { settings, configuration })
    const first = await node.pod()
    await first.add()
    await first.del()
    await first.namespace.delete()
    const before = await kernelState(node.host)
    const filesBefore = openFiles(node)
    // The watch of the node's own addresses goes on for as long as the daemon.
    const watching = children(node)
    const memoryBefore = residentMebibytes(node)

    const pods = await inParallel(Array.from({ length: count }), 8, () => node.pod())
    const results = await inParallel(pods, 20, pod => pod.add())
    const addresses = ([4, 6] as const).flatMap(family => results.map(result => addressOf(result, family)))
    t.equal(new Set(addresses).size, 2 * count, 'each has an address of its own of each family')
    t.equal((await node.daemon().boundLeases()).length, 2 * count)
    const during = await kernelState(node.host)
    const hostLinks = during.links.filter(link => /^ipk[0-9a-f]{12} /.test(link))
    t.equal(hostLinks.length, count, 'and a link of its own')
    const rules = (lines: readonly string[]): number =>
      lines.filter(line => line.includes('masquerade')).length
    t.ok(rules(before.ruleset) > 0)
    t.equal(rules(during.ruleset), rules(before.ruleset), 'the rules do not grow')

    await inParallel(shuffled(pods), 20, pod => pod.del())
    await inParallel(pods, 8, pod => pod.namespace.delete())
    t.same(await settledState(node.host, before, 60_000), before, 'the host is as it was')
    t.same(await node.daemon().boundLeases(), [])
    await until('no lease rests any more', async () => (await node.daemon().leases()).length === 0)
    const status = JSON.parse((await node.daemon().ask('GET', '/v1/status')).body) as Settings
    t.match(status['store'], { leases: 0, attachments: 0 })
    await until(`the daemon has ${filesBefore} files open again`, () => openFiles(node) <= filesBefore)
    t.equal(children(node), watching, 'and no program runs besides')
    const memory = residentMebibytes(node)
    t.ok(
      memory < mostMebibytes && memory - memoryBefore < mostGrowth,
      `${memoryBefore} MiB, then ${memory} MiB`,
    )
  })
}
