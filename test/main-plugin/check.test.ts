/** CHECK names every difference between what an ADD made and what is there, and changes nothing. */
import t, { type Test } from 'tap'
import { settledAddresses, skipDuplicateDetection } from '../rigs/host-addressing.ts'
import { kernelState } from '../rigs/kernel-state.ts'
import { addUplink, wiredModes } from '../rigs/wired-modes.ts'
import { makeWiredNode, type WiredNode, type WiredPod, type WiredResult } from '../rigs/wired-node.ts'

/** IPK_WIRING_DIFFERS */
const differs = 145

interface Site {
  readonly node: WiredNode
  readonly pod: WiredPod
  readonly result: WiredResult
  /** Name of the host's side of its veth. */
  readonly hostLink: string
  /** `ip WORDS` on the host, then in the pod. */
  readonly onHost: (...words: readonly string[]) => Promise<string>
  readonly inPod: (...words: readonly string[]) => Promise<string>
}

/** What somebody did to a pod, and what CHECK has to say of it. */
interface Difference {
  /** Default: all. */
  readonly modes?: readonly (keyof typeof wiredModes)[]
  readonly what: string
  readonly make: (site: Site) => Promise<unknown>
  readonly words: readonly RegExp[]
}

const differences: readonly Difference[] = [
  {
    what: 'an address is gone',
    make: ({ inPod }) => inPod('address', 'del', '10.22.0.50/16', 'dev', 'eth0'),
    words: [/10\.22\.0\.50/],
  },
  {
    what: 'the IPv6 address is gone',
    make: ({ inPod }) => inPod('address', 'del', 'fd00:22::50/64', 'dev', 'eth0'),
    words: [/fd00:22::50/],
  },
  {
    what: 'a route is gone',
    make: ({ inPod }) => inPod('route', 'del', 'default'),
    words: [/route/, /0\.0\.0\.0\/0|default/],
  },
  {
    what: 'an IPv6 route is gone',
    make: ({ inPod }) => inPod('-6', 'route', 'del', 'default'),
    words: [/route/, /::\/0|default/],
  },
  {
    what: 'the interface is down',
    make: ({ inPod }) => inPod('link', 'set', 'eth0', 'down'),
    words: [/eth0/, /down/],
  },
  {
    what: 'the interface has another MAC',
    make: ({ inPod }) => inPod('link', 'set', 'eth0', 'address', '02:00:00:00:00:99'),
    words: [/02:00:00:00:00:99/, /0a:58:0a:16:00:32/],
  },
  {
    what: 'the interface is gone',
    make: ({ inPod }) => inPod('link', 'del', 'eth0'),
    words: [/eth0/],
  },
  {
    modes: ['bridge', 'underlay'],
    what: 'the host side is no port of the bridge',
    make: ({ onHost, hostLink }) => onHost('link', 'set', hostLink, 'nomaster'),
    words: [/ipk[0-9a-f]{12}/, /bridge ?"?ipk(0|ul0)/],
  },
  {
    modes: ['bridge', 'ptp', 'underlay'],
    what: 'the host side is down',
    make: ({ onHost, hostLink }) => onHost('link', 'set', hostLink, 'down'),
    words: [/ipk[0-9a-f]{12}/, /down/],
  },
  {
    modes: ['ptp'],
    what: 'the route of the host to the pod is gone',
    make: ({ onHost }) => onHost('route', 'del', '10.22.0.50/32'),
    words: [/10\.22\.0\.50/, /route/],
  },
  {
    modes: ['bridge', 'ptp', 'underlay'],
    what: 'the ruleset was flushed',
    make: ({ node }) => node.host.must('nft', ['flush', 'ruleset']),
    words: [/masquerad/, /10\.22\.0\.50/],
  },
  {
    modes: ['bridge', 'ptp', 'underlay'],
    what: 'several things at once',
    make: async ({ inPod, node }) => {
      await inPod('address', 'del', '10.22.0.50/16', 'dev', 'eth0')
      await inPod('-6', 'route', 'del', 'default')
      await node.host.must('nft', ['flush', 'ruleset'])
    },
    words: [/10\.22\.0\.50/, /::\/0|default/, /masquerad/],
  },
]

/** What later plugins of a chain, or an operator, may add. */
const additions: readonly { readonly what: string; readonly make: (site: Site) => Promise<unknown> }[] = [
  { what: 'an address', make: ({ inPod }) => inPod('address', 'add', '192.0.2.7/24', 'dev', 'eth0') },
  {
    what: 'a route',
    make: ({ inPod }) => inPod('route', 'add', '198.51.100.0/24', 'dev', 'eth0'),
  },
  {
    what: 'another table of routes',
    make: ({ inPod }) => inPod('route', 'add', 'default', 'dev', 'eth0', 'table', '99'),
  },
  {
    what: 'a queueing discipline',
    make: ({ node, hostLink }) =>
      node.host.must('tc', ['qdisc', 'add', 'dev', hostLink, 'root', 'pfifo', 'limit', '100']),
  },
  { what: 'another MTU', make: ({ inPod }) => inPod('link', 'set', 'eth0', 'mtu', '1300') },
  { what: 'another interface', make: ({ inPod }) => inPod('link', 'add', 'other', 'type', 'bridge') },
  {
    what: 'rules of somebody else',
    make: ({ node }) =>
      node.host.must('nft', ['-f', '-'], { input: 'add table inet theirs\nadd chain inet theirs one\n' }),
  },
]

/** A node in a mode. One is enough for all cases: each ends its pod, and the next one begins with a CHECK that passes. */
async function makeNode(t: Test, mode: keyof typeof wiredModes): Promise<WiredNode> {
  const node = await makeWiredNode(t, { settings: wiredModes[mode].settings })
  await skipDuplicateDetection(node.host)
  await addUplink(node)
  return node
}

/** A pod that was added, and that CHECK has nothing to say of. */
async function addPod(t: Test, node: WiredNode, mode: keyof typeof wiredModes): Promise<Site> {
  const pod = await node.pod({ annotations: { 'ipkeeper.io/ip': '10.22.0.50,fd00:22::50' } })
  const result = await pod.add()
  // The kernel gives links addresses and routes of its own when they have come up.
  await settledAddresses(node.host)
  const first = await pod.call('CHECK', { prevResult: result })
  t.equal(first.exit, 0, first.stdout)
  t.equal(first.stdout, '')
  const link = result.interfaces.find(({ name }) => /^ipk[0-9a-f]{12}$/.test(name))
  const hostLink = wiredModes[mode].onHost ? link!.name : 'up0'
  const onHost = (...words: readonly string[]): Promise<string> => node.host.must('ip', words)
  return {
    ...{ node, pod, result, hostLink, onHost },
    inPod: (...words) => onHost('-n', pod.namespace.name, ...words),
  }
}

async function endPod(t: Test, { node, pod }: Site): Promise<void> {
  await pod.del()
  t.same(await node.daemon().boundLeases(), [])
  await pod.namespace.delete()
}

const pictures = ({ node, pod }: Site): Promise<unknown> =>
  Promise.all([kernelState(node.host), kernelState(node.host, pod.namespace.name)])

for (const mode of ['bridge', 'ptp', 'underlay', 'macvlan'] as const) {
  const { skip } = wiredModes[mode]
  t.test(`CHECK, mode ${mode}`, { skip }, async t => {
    const node = await makeNode(t, mode)

    for (const { what, make, words, modes } of differences) {
      if (modes?.includes(mode) === false) continue
      await t.test(what, async t => {
        const site = await addPod(t, node, mode)
        const { pod, result: prevResult } = site
        await make(site)
        const before = await pictures(site)
        const { code, msg, details = '' } = await pod.fails('CHECK', { prevResult })
        t.equal(code, differs)
        for (const word of words) t.match(`${msg}\n${details}`, word)
        t.same(await pictures(site), before, 'nothing is changed')
        await endPod(t, site)
      })
    }

    await t.test('a prevResult with another address', async t => {
      const site = await addPod(t, node, mode)
      const { pod, result } = site
      const prevResult: WiredResult = { ...result, ips: [{ ...result.ips[0]!, address: '10.22.0.51/16' }] }
      const { msg, details = '' } = await pod.fails('CHECK', { prevResult })
      t.match(`${msg}\n${details}`, /10\.22\.0\.51/)
      await endPod(t, site)
    })

    await t.test('a pod that was never added', async t => {
      const site = await addPod(t, node, mode)
      const stranger = await node.pod()
      t.ok((await stranger.fails('CHECK', { prevResult: site.result })).code > 0)
      await endPod(t, site)
    })

    // One of the last: some of what others add stays on the host.
    await t.test('tolerates what others add', async t => {
      const site = await addPod(t, node, mode)
      const { pod, result: prevResult } = site
      for (const { what, make } of additions) {
        await make(site)
        const before = await pictures(site)
        const checked = await pod.call('CHECK', { prevResult })
        t.equal(checked.exit, 0, `${what}: ${checked.stdout}`)
        t.same(await pictures(site), before, 'nothing is changed')
      }
      await endPod(t, site)
    })

    // The last one: the kernel takes its time for a deleted namespace, and a macvlan in there keeps the MAC so long.
    await t.test('the namespace is gone', async t => {
      const site = await addPod(t, node, mode)
      const { pod, result: prevResult } = site
      await pod.namespace.delete()
      const { msg, details = '' } = await pod.fails('CHECK', { prevResult })
      t.match(`${msg}\n${details}`, pod.namespace.path)
      await endPod(t, site)
    })
  })
}
