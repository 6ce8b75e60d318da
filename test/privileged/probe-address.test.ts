/** Whether somebody else has an address, asked on real links: a bridge and a macvlan, both families. */
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import {
  findDuplicates,
  probeIpv4,
  settleIpv6,
  type ProbedLink,
} from '../../ipkeeper-server/network/pod/probe-address.ts'
import { missing } from '../rigs/requirements.ts'
import { makeBridge, makeSpot, plugInto, type Spot } from '../rigs/spot.ts'

interface Site {
  readonly asker: ProbedLink
  readonly asking: Spot
  readonly owner: Spot
  readonly ownerMac: string
}

interface ShownLink {
  readonly address: string
  readonly addr_info: readonly { readonly local: string; readonly scope: string }[]
}

async function showLink(spot: Spot): Promise<ShownLink> {
  const [link] = JSON.parse(await spot.must('ip', ['-json', 'address', 'show', 'dev', 'eth0'])) as ShownLink[]
  return link!
}

const globalAddresses = async (spot: Spot): Promise<string[]> =>
  (await showLink(spot)).addr_info.filter(({ scope }) => scope === 'global').map(({ local }) => local)

/** Each joins two machines on one network. */
const networks = {
  bridge: async (between: Spot, one: Spot, two: Spot) => {
    await makeBridge(between, 'br0')
    await plugInto(between, 'br0', one, 'port1')
    await plugInto(between, 'br0', two, 'port2')
  },
  macvlan: async (between: Spot, one: Spot, two: Spot) => {
    await between.ip(
      'link add over type veth peer name far',
      'link set over up',
      'link set far up',
      ...[one, two].map(
        ({ pid }, index) => `link add mv${index} link over netns ${pid} type macvlan mode bridge`,
      ),
    )
    await Promise.all([one, two].map((spot, index) => spot.ip(`link set mv${index} name eth0`)))
  },
} as const

async function makeSite(t: Test, kind: keyof typeof networks): Promise<Site> {
  const [between, asking, owner] = await Promise.all([makeSpot(t), makeSpot(t), makeSpot(t)])
  await networks[kind](between, asking, owner)
  await owner.ip(
    'link set eth0 up',
    'address add 10.22.0.50/16 dev eth0',
    'address add fd00:22::50/64 dev eth0 nodad',
  )
  await asking.ip('link set eth0 up')
  const asker = { run: asking.run, fd: asking.fd, ifname: 'eth0' }
  return { asker, asking, owner, ownerMac: (await showLink(owner)).address }
}

async function timed<T>(work: Promise<T>): Promise<{ value: T; ms: number }> {
  const started = performance.now()
  return { value: await work, ms: performance.now() - started }
}

for (const kind of ['bridge', 'macvlan'] as const) {
  const skip = missing('namespaces', 'arping', ...(kind === 'macvlan' ? (['macvlan'] as const) : []))

  t.test(`over ${kind}: an address that somebody has`, { skip }, async t => {
    const { asker, asking, ownerMac } = await makeSite(t, kind)
    const ipv4 = await timed(probeIpv4(asker, ['10.22.0.51', '10.22.0.50']))
    t.same(ipv4.value, [{ address: '10.22.0.50', mac: ownerMac }])
    const ipv6 = await timed(settleIpv6(asker, ['fd00:22::51/64', 'fd00:22::50/64']))
    t.same(ipv6.value, [{ address: 'fd00:22::50', mac: ownerMac }])
    t.same(await globalAddresses(asking), ['fd00:22::51'], 'the other one is on the link')
    t.comment(`IPv4 ${ipv4.ms.toFixed()} ms, IPv6 ${ipv6.ms.toFixed()} ms`)
  })

  t.test(`over ${kind}: addresses that nobody has`, { skip }, async t => {
    const { asker, asking } = await makeSite(t, kind)
    const [ipv4, ipv6] = await Promise.all([
      timed(probeIpv4(asker, ['10.22.0.51', '10.22.0.52'])),
      timed(settleIpv6(asker, ['fd00:22::51/64', 'fd00:22::52/64'])),
    ])
    t.same([ipv4.value, ipv6.value], [[], []])
    t.same((await globalAddresses(asking)).toSorted(), ['fd00:22::51', 'fd00:22::52'])
    t.comment(`IPv4 ${ipv4.ms.toFixed()} ms, IPv6 ${ipv6.ms.toFixed()} ms`)
  })
}

const skip = missing('namespaces', 'arping')

t.test('one answer ends the question', { skip }, async t => {
  const { asker } = await makeSite(t, 'bridge')
  const started: number[] = []
  const run: ProbedLink['run'] = tool => (started.push(performance.now()), asker.run(tool))
  await probeIpv4({ ...asker, run }, ['10.22.0.50'])
  t.equal(started.length, 1, 'no probe follows')
})

t.test('an answer to the last probe is heard', { skip }, async t => {
  const { asker, asking, owner, ownerMac } = await makeSite(t, 'bridge')
  await owner.ip('link set eth0 down')
  let probes = 0
  const run: ProbedLink['run'] = async tool => {
    // The owner can answer from the third probe on.
    if (++probes === 3) await owner.ip('link set eth0 up')
    return await asking.run(tool)
  }
  t.same(await probeIpv4({ ...asker, run }, ['10.22.0.50']), [{ address: '10.22.0.50', mac: ownerMac }])
  t.equal(probes, 3)
})

t.test('an owner with the MAC of the one who asks', { skip }, async t => {
  const { asker, asking, ownerMac } = await makeSite(t, 'bridge')
  t.not((await showLink(asking)).address, ownerMac, 'a link has a MAC of its own until it is given one')
  await asking.ip(`link set eth0 address ${ownerMac}`)
  t.same(await probeIpv4(asker, ['10.22.0.50']), [], 'IPv4: not noticed, so the final MAC has to wait')
  t.match(await settleIpv6(asker, ['fd00:22::50/64']), [{ address: 'fd00:22::50' }], 'IPv6: noticed')
})

t.test('a link on which nobody can be asked', { skip }, async t => {
  const { asker, asking } = await makeSite(t, 'bridge')
  await asking.ip('link set eth0 down')
  await t.rejects(probeIpv4(asker, ['10.22.0.51']), {
    code: 'IPK_WIRING_FAILED',
    message: /cannot ask on eth0 whether 10\.22\.0\.51 is in use/,
  })
  await t.rejects(probeIpv4({ ...asker, ifname: 'eth7' }, ['10.22.0.51']), { code: 'IPK_WIRING_FAILED' })
  await t.rejects(settleIpv6({ ...asker, ifname: 'eth7' }, ['fd00:22::51/64']), {
    code: 'IPK_WIRING_FAILED',
    message: /cannot give eth7 its address/,
  })
  await t.rejects(settleIpv6(asker, ['fd00:22::51/64']), {
    code: 'IPK_WIRING_FAILED',
    message: /no end of duplicate address detection of fd00:22::51\/64 within 3 s/,
  })
  t.same(await settleIpv6(asker, []), [])
})

t.test('an owner that cannot be asked for its MAC', { skip }, async t => {
  const { asker, asking } = await makeSite(t, 'bridge')
  // Without a link-local address there is none to ask from.
  await asking.ip('link set eth0 down', 'link set eth0 addrgenmode none', 'link set eth0 up')
  t.same(await settleIpv6(asker, ['fd00:22::50/64']), [{ address: 'fd00:22::50', mac: undefined }])
})

/** A link whose programs are counted. `fails`: whether one cannot be run. */
function counted(
  asker: ProbedLink,
  fails: (words: string) => boolean,
): { link: ProbedLink; begun: string[]; ended: string[] } {
  const [begun, ended]: [string[], string[]] = [[], []]
  const run: ProbedLink['run'] = async tool => {
    const words = [tool.tool, ...tool.args, tool.input].join(' ')
    begun.push(words)
    if (!fails(words)) return await asker.run(tool).finally(() => ended.push(words))
    ended.push(words)
    return { exit: 2, stdout: '', stderr: 'broken\n' }
  }
  return { link: { ...asker, run }, begun, ended }
}

t.test('nothing is under way any more when the answer is there', { skip }, async t => {
  const { asker } = await makeSite(t, 'bridge')
  const cases: readonly (readonly [
    what: string,
    fails: (words: string) => boolean,
    ask: (link: ProbedLink) => Promise<unknown>,
    message: RegExp,
  ])[] = [
    [
      'one of two IPv4 addresses fails',
      words => words.includes('10.22.0.51'),
      link => probeIpv4(link, ['10.22.0.51', '10.22.0.52']),
      /whether 10\.22\.0\.51 is in use: broken/,
    ],
    [
      'IPv4 fails while IPv6 is asked for',
      words => words.startsWith('arping'),
      link => findDuplicates(link, ['10.22.0.51/16', 'fd00:22::51/64']),
      /whether 10\.22\.0\.51 is in use: broken/,
    ],
    [
      'IPv6 fails while IPv4 is asked for',
      words => words.includes('-batch'),
      link => findDuplicates(link, ['10.22.0.51/16', 'fd00:22::52/64']),
      /cannot give eth0 its address fd00:22::52\/64: broken/,
    ],
  ]
  for (const [what, fails, ask, message] of cases) {
    const { link, begun, ended } = counted(asker, fails)
    await t.rejects(ask(link), { code: 'IPK_WIRING_FAILED', message }, what)
    const [begunThen, endedThen] = [begun.length, ended.length]
    t.equal(endedThen, begunThen, `${what}: all have ended`)
    // Until the last of the probes would have gone out, and been answered.
    await delay(1500)
    t.same(begun.slice(begunThen), [], `${what}: none is begun later`)
  }
})

t.test('both families at once', { skip }, async t => {
  const { asker, ownerMac } = await makeSite(t, 'bridge')
  const mac = ownerMac
  t.same(
    await findDuplicates(asker, ['10.22.0.50/16', '10.22.0.51/16', 'fd00:22::50/64', 'fd00:22::51/64']),
    [
      { address: '10.22.0.50', mac },
      { address: 'fd00:22::50', mac },
    ],
  )
})
