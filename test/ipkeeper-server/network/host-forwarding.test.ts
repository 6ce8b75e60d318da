import { join } from 'node:path'
import t from 'tap'
import { missing } from '../../rigs/requirements.ts'
import { startPrivateHost, type PrivateHost } from '../../rigs/private-host.ts'

const module = join(import.meta.dirname, '../../../ipkeeper-server/network/host-forwarding.ts')
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
