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
