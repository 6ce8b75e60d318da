import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  readIpv6Setting,
  writeIpv6Setting,
} from '../../../../ipkeeper-server/network/node/kernel-settings.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { missing } from '../../../rigs/requirements.ts'
import { startPrivateHost, type PrivateHost } from '../../../rigs/private-host.ts'
import { makeNetworkNamespace, type NetworkNamespace } from '../../../rigs/netns.ts'
import { until } from '../../../rigs/poll.ts'

t.test('a link that is not there, or has no IPv6', async t => {
  t.equal(readIpv6Setting('none', 'accept_ra'), undefined)
  t.match(await thrownProblem(() => writeIpv6Setting('none', 'accept_ra', '0')), {
    code: 'IPK_WIRING_FAILED',
    message: /^cannot write 0 to accept_ra of none: ENOENT/,
  })
})

const module = join(import.meta.dirname, '../../../../ipkeeper-server/network/node/kernel-settings.ts')
const path = {
  4: '/proc/sys/net/ipv4/ip_forward',
  6: '/proc/sys/net/ipv6/conf/all/forwarding',
} as const

/** Runs it on that host: '' when it was done, else code and message of its problem. */
async function enable(host: PrivateHost, ...families: readonly (4 | 6)[]): Promise<string> {
  const program =
    `import { enableForwarding } from ${JSON.stringify(module)}\n` +
    `await enableForwarding(${JSON.stringify(families)})` +
    ".catch(({ code, message }) => console.log(code + ' ' + message))"
  const ended = await host.must(process.execPath, ['--input-type=module', '-e', program])
  return ended.trim()
}

t.test('the families in use, and no other', { skip: missing('namespaces') }, async t => {
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  const state = async (): Promise<string> => (await host.must('cat', [path[4], path[6]])).split('\n').join('')
  const set = (family: 4 | 6, value: string): Promise<string> =>
    host.must('tee', [path[family]], { input: value })
  for (const [families, expected] of [
    [[], '00'],
    [[4], '10'],
    [[6], '01'],
    [[4, 6], '11'],
  ] as const) {
    await set(4, '0')
    await set(6, '0')
    t.equal(await enable(host, ...families), '')
    t.equal(await state(), expected)
    t.equal(await enable(host, ...families), '', 'again')
  }

  await host.must('mount', ['--bind', '/proc/sys', '/proc/sys'])
  await set(6, '0')
  await host.must('mount', ['-o', 'remount,bind,ro', '/proc/sys'])
  t.equal(await enable(host, 4), '', 'where it is on already nothing is written')
  t.match(await enable(host, 4, 6), /^IPK_WIRING_FAILED cannot switch on forwarding of IPv6: EROFS/)
})

t.test('a node keeps the way out that a router announced', { skip: missing('namespaces') }, async t => {
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  const links = ['announced', 'looked-after', 'static', 'no-route']
  const setting = (link: string): string => `/proc/sys/net/ipv6/conf/${link}/accept_ra`
  for (const [index, link] of links.entries()) {
    await host.must('ip', ['link', 'add', 'name', link, 'type', 'veth', 'peer', 'name', `peer${index}`])
    await host.must('ip', ['link', 'set', link, 'up'])
    const route = [
      '-6',
      'route',
      'add',
      'default',
      'via',
      'fe80::1',
      'dev',
      link,
      'metric',
      String(index + 1),
    ]
    if (link === 'static') await host.must('ip', route)
    else if (link !== 'no-route') await host.must('ip', [...route, 'proto', 'ra'])
  }
  const state = async (): Promise<string> => (await host.must('cat', links.map(setting))).split('\n').join('')
  await host.must('tee', [setting('looked-after')], { input: '0' })
  t.equal(await enable(host, 4), '')
  t.equal(await state(), '1011', 'IPv4 is no reason')
  t.equal(await enable(host, 6), '')
  t.equal(await state(), '2011', 'neither who has a program for it, nor who has no such route')
  t.equal((await host.must('cat', [path[6]])).trim(), '1')
  await host.must('tee', [setting('announced')], { input: '1' })
  t.equal(await enable(host, 6), '')
  t.equal(await state(), '1011', 'what an administrator sets later stays')
})

const skip = missing('namespaces')
const product = (file: string): string =>
  JSON.stringify(join(import.meta.dirname, '../../../../ipkeeper-server/network', file))

async function makeHost(t: Test): Promise<PrivateHost> {
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  return host
}

/** Runs a call on that host: how many batches of `ip` it took, or code and message of its problem. */
async function call(host: PrivateHost, text: string): Promise<string> {
  const program = `
    import { answerNeighbours, guardHostLinks, runHostCommands } from ${product('node/kernel-settings.ts')}
    import { runTool } from ${product('run-tool.ts')}
    let batches = 0
    const run = tool => (batches++, runTool(tool))
    const host = (words, more) => ({ place: 'host', words: words.split(' '), about: 'try ' + words, ...more })
    await ${text}.then(() => console.log(batches), ({ code, message }) => console.log(code + ' ' + message))`
  const ended = await host.must(process.execPath, ['--input-type=module', '-e', program])
  return ended.trim()
}

const setting = (link: string, name: string): string => `/proc/sys/net/ipv6/conf/${link}/${name}`
const read = async (host: PrivateHost, link: string, name: string): Promise<string> =>
  (await host.must('cat', [setting(link, name)])).trim()
const write = (host: PrivateHost, link: string, name: string, value: string): Promise<string> =>
  host.must('tee', [setting(link, name)], { input: value })

t.test('links of pods take no announcements of routers', { skip }, async t => {
  const host = await makeHost(t)
  await host.must('ip', ['link', 'add', 'name', 'one', 'type', 'veth', 'peer', 'name', 'two'])
  await host.must('ip', [
    'link',
    'add',
    'name',
    'small',
    'mtu',
    '1000',
    'type',
    'veth',
    'peer',
    'name',
    'other',
  ])
  t.equal(await read(host, 'one', 'accept_ra'), '1', 'or the test shows nothing')
  t.equal(await call(host, `guardHostLinks(['one', 'small', 'none'])`), '0', 'one without IPv6 takes none')
  t.equal(await read(host, 'one', 'accept_ra'), '0')
  t.equal(await read(host, 'two', 'accept_ra'), '1', 'others are left alone')

  await host.must('mount', ['--bind', '/proc/sys', '/proc/sys'])
  await host.must('mount', ['-o', 'remount,bind,ro', '/proc/sys'])
  t.equal(await call(host, `guardHostLinks(['one'])`), '0', 'where it is so nothing is written')
  t.match(
    await call(host, `guardHostLinks(['two'])`),
    /^IPK_WIRING_FAILED cannot write 0 to accept_ra of two: EROFS/,
  )
})

/** What a machine knows of an address after it has asked for it. */
async function ask(machine: NetworkNamespace, address: string): Promise<string> {
  await machine.ip('neighbour', 'replace', address, 'dev', 'eth0', 'use')
  let answer: string | undefined
  await until(`an end of asking for ${address}`, async () => {
    const shown = await machine.ip('-6', 'neighbour', 'show', 'to', address, 'dev', 'eth0')
    const [entry] = shown as readonly { readonly lladdr?: string; readonly state?: readonly string[] }[]
    answer = entry?.lladdr ?? (entry?.state?.includes('FAILED') ? 'nobody' : undefined)
    return answer !== undefined
  })
  return answer ?? ''
}

t.test('a neighbour on the uplink finds a pod behind the node', { skip }, async t => {
  const host = await makeHost(t)
  const [neighbour, pod] = [await makeNetworkNamespace(host, 'lan'), await makeNetworkNamespace(host)]
  const batch = [
    `link add name up0 type veth peer name eth0 netns ${neighbour.name}`,
    `link add name host0 type veth peer name eth0 netns ${pod.name}`,
    ...['link set up0 up', 'link set host0 up', 'address add fd00:40::1/64 dev up0 nodad'],
    ...['route replace fd00:40::50/128 dev host0', 'neighbour replace proxy fd00:40::50 dev up0'],
  ]
  await host.must('ip', ['-batch', '-'], { input: `${batch.join('\n')}\n` })
  await neighbour.ip('address', 'add', 'fd00:40::9/64', 'dev', 'eth0', 'nodad')
  for (const machine of [neighbour, pod]) await machine.ip('link', 'set', 'eth0', 'up')
  await write(host, 'all', 'forwarding', '1')
  t.equal(await ask(neighbour, 'fd00:40::50'), 'nobody', 'without it nobody answers')
  t.equal(await call(host, `answerNeighbours('up0')`), '0')
  const [{ address } = { address: '' }] = JSON.parse(
    await host.must('ip', ['-json', 'link', 'show', 'up0']),
  ) as readonly { readonly address: string }[]
  t.equal(await ask(neighbour, 'fd00:40::50'), address, 'the node answers')
  t.equal(await call(host, `answerNeighbours('up0')`), '0', 'again')

  await write(host, 'up0', 'disable_ipv6', '1')
  for (const uplink of ['up0', 'none'])
    t.match(await call(host, `answerNeighbours('${uplink}')`), /^IPK_WIRING_FAILED .* it has no IPv6$/)
})

t.test('links of ours get IPv6 where new links have none', { skip }, async t => {
  const host = await makeHost(t)
  await write(host, 'default', 'disable_ipv6', '1')
  const addresses = async (link: string): Promise<string> =>
    (await host.must('ip', ['-6', '-brief', 'address', 'show', 'dev', link])).replaceAll(/\s+/g, ' ').trim()
  const list = (...lines: readonly string[]): string =>
    `[${lines.map(line => `host(${JSON.stringify(line)})`).join(', ')}]`
  const bridge = [
    'link add name br0 type bridge',
    'address replace 10.22.0.1/16 dev br0',
    'address replace fd00:22::1/64 dev br0 nodad',
    'address replace fd00:23::1/64 dev br0 nodad',
    'link set dev br0 up',
  ]
  t.equal(
    await call(host, `runHostCommands(run, ${list(...bridge)}, undefined, ['br0'])`),
    '2',
    'one more batch',
  )
  t.match(await addresses('br0'), /fd00:23::1\/64 fd00:22::1\/64|fd00:22::1\/64 fd00:23::1\/64/)
  t.equal(
    await call(host, `runHostCommands(run, ${list(...bridge.slice(1))}, undefined, ['br0'])`),
    '1',
    'the next ADD has one',
  )

  const veth = [
    'link add name ipk1 type veth peer name other',
    'link set dev ipk1 up',
    'route replace fd00:22:0:0:1:2:3:50/128 dev ipk1',
    'neighbour replace fd00:22:0:0:1:2:3:50 lladdr 02:00:00:00:00:50 dev ipk1 nud permanent',
  ]
  t.equal(await call(host, `runHostCommands(run, ${list(...veth)}, undefined, ['ipk1'])`), '2')
  t.match(await host.must('ip', ['-6', 'neighbour', 'show', 'dev', 'ipk1']), /02:00:00:00:00:50 PERMANENT/)

  await host.must('ip', ['link', 'add', 'name', 'theirs', 'type', 'veth', 'peer', 'name', 'their1'])
  for (const [words, own] of [
    ['address add fd00:24::1/64 dev theirs', 'br0'],
    ['address add 10.22.0.1/16 dev br0', 'br0'],
    ['link set dev none up', 'none'],
    ['address add fd00:24::1/64 dev none', 'none'],
  ] as const) {
    const failed = await call(host, `runHostCommands(run, ${list(words)}, undefined, ['${own}'])`)
    t.match(failed, `IPK_WIRING_FAILED cannot try ${words}`, 'other refusals are refusals')
  }
  t.equal(await read(host, 'theirs', 'disable_ipv6'), '1', 'links of others are left alone')

  // A bridge without IPv6 knows nobody; the batch of `ip neighbour` ends without the number of its line.
  await host.must('ip', ['link', 'add', 'name', 'br1', 'type', 'bridge'])
  const forget = ['10.22.0.50', 'fd00:22::50'].flatMap(address => [
    `neighbour replace ${address} lladdr 02:00:00:00:00:00 dev br1 nud stale`,
    `neighbour delete ${address} dev br1`,
  ])
  const lenient = forget.map(
    line => `host(${JSON.stringify(line)}, { missing: 'fine', unsupported: 'fine' })`,
  )
  const up = `host('link set dev br1 up')`
  const last = `host('link set dev br1 alias last')`
  t.match(
    await call(host, `runHostCommands(run, [${[up, ...lenient, last].join(', ')}], undefined, [])`),
    /^\d+$/,
  )
  t.match(await host.must('ip', ['link', 'show', 'br1']), /alias last/, 'the rest is done')
  t.equal(await read(host, 'br1', 'disable_ipv6'), '1', 'it gets no IPv6 for it')
})
