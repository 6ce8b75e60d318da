import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { until } from '../../../rigs/poll.ts'
import { missing } from '../../../rigs/requirements.ts'
import { makeSpot, type Spot } from '../../../rigs/spot.ts'

/** What the node has is known at once, whichever link it is on, and also while the kernel's news cannot be heard. */

const skip = missing('namespaces')

/** How the kernel's news are heard. */
const ways = ['netlink', 'ip monitor'] as const
type Way = (typeof ways)[number]

interface Watch {
  readonly node: Spot
  /** Of an address, a MAC or a bridge: its link with the prefix, its links, its ports; "-" when there is none. */
  readonly ask: (what: string) => Promise<string>
  /** What was told of trouble so far. */
  readonly troubles: readonly string[]
  /** Likewise of addresses that were taken away: "br0 10.22.0.6/24". */
  readonly gone: readonly string[]
  /** Process ID of the program that has the watch. */
  readonly pid: number
  /** Likewise of its `ip monitor`; undefined while there is none. */
  readonly monitor: () => number | undefined
}

async function startWatch(t: Test, way: Way, ...lines: readonly string[]): Promise<Watch> {
  const node = await makeSpot(t)
  await node.ip(...lines)
  const program = join(import.meta.dirname, '../../../rigs/link-watch-program.ts')
  const child = spawn('nsenter', [`--net=${node.path}`, '--', process.execPath, program, way], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  t.teardown(async () => {
    child.stdin.end()
    await ended
  })
  const troubles: string[] = []
  const gone: string[] = []
  const waiting: ((answer: string) => void)[] = []
  createInterface({ input: child.stdout }).on('line', line => {
    if (line.startsWith('trouble: ')) troubles.push(line)
    else if (line.startsWith('gone: ')) gone.push(line.slice('gone: '.length))
    else waiting.shift()?.(line)
  })
  return {
    ...{ node, troubles, gone, pid: child.pid ?? NaN },
    ask: what =>
      new Promise(resolve => {
        waiting.push(resolve)
        child.stdin.write(`${what}\n`)
      }),
    monitor: () => {
      const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
      const [first] = children.split(' ').filter(pid => pid !== '')
      return first === undefined ? undefined : Number(first)
    },
  }
}

/** Of an IPv6 address the kernel tells by a worker of its own, some time after the command that added it has ended. */
const untilTold = (ask: Watch['ask'], what: string, wanted: string): Promise<void> =>
  until(`${what} is told`, async () => (await ask(what)) === wanted)

const links = ['link add name up0 type veth peer name up1', 'link add name br0 type bridge']

for (const way of ways) {
  t.test(`${way}: what was there, what comes and what goes`, { skip }, async t => {
    const { node, ask, troubles } = await startWatch(
      t,
      way,
      ...links,
      'address add 10.22.0.5/24 dev up0',
      'address add fd00:22::5/64 dev up0',
      'address add 10.22.1.1 peer 10.22.1.2/32 dev up0',
      'address add 10.22.0.9/32 dev lo',
    )
    const are = async (what: string, wanted: Readonly<Record<string, string>>): Promise<void> => {
      for (const [address, link] of Object.entries(wanted))
        t.equal(await ask(address), link, `${what}: ${address}`)
    }
    await are('on links that are down, and on lo', {
      '10.22.0.5': 'up0 10.22.0.5/24',
      'fd00:22::5': 'up0 fd00:22::5/64',
      '10.22.1.1': 'up0 10.22.1.1',
      '10.22.1.2': '-',
      '10.22.0.9': 'lo 10.22.0.9/32',
      '10.22.0.6': '-',
    })
    await node.ip('address add 10.22.0.6/24 dev br0', 'address add fd00:22::6/64 dev br0', 'link set br0 up')
    await are('added', { '10.22.0.6': 'br0 10.22.0.6/24' })
    await untilTold(ask, 'fd00:22::6', 'br0 fd00:22::6/64')
    await node.ip('address add 10.22.0.6/32 dev lo', 'address delete 10.22.0.6/24 dev br0')
    await are('moved', { '10.22.0.6': 'lo 10.22.0.6/32' })
    await node.ip('link set up0 up', 'link set up1 up', 'link set up0 down')
    await are('a link that went up and down', { '10.22.0.5': 'up0 10.22.0.5/24' })
    await node.ip('link delete up0')
    await are('gone with its link', { '10.22.0.5': '-', 'fd00:22::5': '-', '10.22.1.1': '-' })
    t.same(troubles, [])
  })

  t.test(`${way}: what is gone is told, also when it comes back at once`, { skip }, async t => {
    const { node, ask, gone } = await startWatch(t, way, ...links, 'address add 10.22.0.5/24 dev br0')
    t.equal(await ask('10.22.0.5'), 'br0 10.22.0.5/24')
    await node.ip('address delete 10.22.0.5/24 dev br0', 'address add 10.22.0.5/24 dev br0')
    t.equal(await ask('10.22.0.5'), 'br0 10.22.0.5/24')
    t.same(gone, ['br0 10.22.0.5/24'])
    await node.ip('address replace 10.22.0.5/24 dev br0', 'address add fd00:22::5/64 dev br0 nodad')
    await untilTold(ask, 'fd00:22::5', 'br0 fd00:22::5/64')
    t.equal(gone.length, 1, 'one that is replaced was there all the time')
    await node.ip('link delete br0')
    t.equal(await ask('10.22.0.5'), '-')
    t.same(gone.toSorted(), ['br0 10.22.0.5/24', 'br0 10.22.0.5/24', 'br0 fd00:22::5/64'], 'with its link')
  })

  t.test(`${way}: ports of a bridge, and MACs`, { skip }, async t => {
    const { node, ask } = await startWatch(
      t,
      way,
      ...links,
      'link set up1 master br0',
      'link set dev up1 address 02:00:00:00:00:01 alias "ipkeeper a: b"',
    )
    t.equal(await ask('br0'), 'up1')
    t.equal(await ask('br1'), '-')
    t.equal(await ask('02:00:00:00:00:01'), 'br0 up1', 'the bridge takes that of its port')
    await node.ip('link add name x@1 type veth peer name y.2', 'link set x@1 master br0 up')
    t.equal(await ask('br0'), 'up1 x@1')
    await node.ip('link set up1 nomaster', 'link set dev up1 address 02:00:00:00:00:02')
    t.equal(await ask('br0'), 'x@1')
    t.equal(await ask('02:00:00:00:00:02'), 'up1')
    await node.ip('link set up1 master br0')
    t.equal(await ask('br0'), 'up1 x@1')
    await node.ip('link delete y.2')
    t.equal(await ask('br0'), 'up1')
    await node.ip('link delete br0')
    t.equal(await ask('br0'), '-')
  })

  t.test(`${way}: at once`, { skip }, async t => {
    const { node, ask } = await startWatch(t, way)
    for (let round = 0; round < 40; round++) {
      const address = `10.22.2.${round + 1}`
      await node.ip(`address add ${address}/32 dev lo`)
      t.equal(await ask(address), `lo ${address}/32`)
      await node.ip(`address delete ${address}/32 dev lo`)
      t.equal(await ask(address), '-')
    }
  })
}

t.test('ip monitor: while the news cannot be heard', { skip }, async t => {
  const { node, ask, troubles, monitor } = await startWatch(t, 'ip monitor')
  t.equal(await ask('10.22.0.5'), '-')
  const first = monitor()
  process.kill(first ?? NaN, 'SIGKILL')
  await until('it is told', () => troubles.length === 1)
  t.same(troubles, ['trouble: ip monitor ended'])
  await node.ip('address add 10.22.0.5/32 dev lo')
  t.equal(await ask('10.22.0.5'), 'lo 10.22.0.5/32')
  await until('it is heard again', async () => {
    await ask('10.22.0.5')
    return troubles.length === 2
  })
  t.same(troubles[1], 'trouble: none')
  t.not(monitor(), first)
  await node.ip('address delete 10.22.0.5/32 dev lo')
  t.equal(await ask('10.22.0.5'), '-')
})

t.test('ip monitor: when it has missed something', { skip }, async t => {
  const { node, ask, troubles, monitor } = await startWatch(t, 'ip monitor')
  t.equal(await ask('10.22.0.5'), '-')
  process.kill(monitor() ?? NaN, 'SIGSTOP')
  await node.ip('address add 10.22.0.5/32 dev lo')
  t.equal(await ask('10.22.0.5'), 'lo 10.22.0.5/32', 'it is frozen')
  t.same(troubles, [])
  // For so long that its buffer runs over.
  const many = Array.from({ length: 4000 }, (_, number) => `10.23.${number >> 8}.${number & 255}/32`)
  await node.ip(...many.map(cidr => `address add ${cidr} dev lo`), 'address delete 10.22.0.5/32 dev lo')
  process.kill(monitor() ?? NaN, 'SIGCONT')
  await until('it is told', () => troubles.length >= 1)
  t.match(troubles[0], /No buffer space/)
  t.equal(await ask('10.22.0.5'), '-')
  t.equal(await ask('10.23.12.7'), 'lo 10.23.12.7/32')
})

t.test('netlink: when it has missed something', { skip }, async t => {
  const { node, ask, troubles, pid, monitor } = await startWatch(t, 'netlink', ...links)
  t.equal(await ask('10.22.0.5'), '-')
  t.equal(monitor(), undefined, 'no program is needed')
  process.kill(pid, 'SIGSTOP')
  // News of links are the longest.
  const many = Array.from({ length: 4000 }, (_, number) => `link set dev lo alias a${number}`)
  await node.ip(...many, 'address add 10.22.0.5/32 dev lo')
  process.kill(pid, 'SIGCONT')
  t.equal(await ask('10.22.0.5'), 'lo 10.22.0.5/32')
  t.same(troubles, ['trouble: No buffer space available'])
  await until('it is heard again', async () => {
    await ask('10.22.0.5')
    return troubles.length === 2
  })
  t.same(troubles[1], 'trouble: none')
  await node.ip('address delete 10.22.0.5/32 dev lo')
  t.equal(await ask('10.22.0.5'), '-')
})

t.test('netlink: it is told without being asked', { skip }, async t => {
  const { node, ask, gone } = await startWatch(t, 'netlink', ...links, 'address add 10.22.0.5/24 dev br0')
  t.equal(await ask('10.22.0.5'), 'br0 10.22.0.5/24')
  await node.ip('address delete 10.22.0.5/24 dev br0')
  await until('it is told', () => gone.length === 1)
  t.same(gone, ['br0 10.22.0.5/24'])
})
