import { closeSync, openSync, existsSync } from 'node:fs'
import t from 'tap'
import {
  ipv6Sysctls,
  setSysctls,
  routerGuardSysctls,
} from '../../../../ipkeeper-server/network/pod/sysctls.ts'
import { runTool } from '../../../../ipkeeper-server/network/run-tool.ts'
import { startInNewNamespace } from '../../../rigs/namespace-process.ts'
import { missing } from '../../../rigs/requirements.ts'
import { mustRun } from '../../../rigs/run-program.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { toolDouble } from '../../../rigs/tool-double.ts'

const setting = (key: string, value: string) => ({ key, value })

t.test('one process for those in a row with one value; the order stays', async t => {
  const { run, runs } = toolDouble(() => ({}))
  await setSysctls(run, 7, [])
  t.strictSame(runs, [])
  await setSysctls(run, 7, [
    ...[setting('net/a', '1'), setting('net/b', '1'), setting('net/c', '1000 2000')],
    ...[setting('net/d', '1'), setting('net/e', '')],
  ])
  const tee = (value: string, ...keys: readonly string[]) => ({
    ...{ tool: 'tee', inside: 7, input: `${value}\n` },
    args: ['--', ...keys.map(key => `/proc/sys/net/${key}`)],
  })
  t.strictSame(runs, [tee('1', 'a', 'b'), tee('1000 2000', 'c'), tee('1', 'd'), tee('', 'e')])
})

t.test('a refusal ends it, and is told', async t => {
  const stderr = 'tee: /proc/sys/net/b: No such file or directory\n'
  const { run, runs } = toolDouble(({ input }) => (input === '2\n' ? { exit: 1, stderr } : {}))
  const problem = await thrownProblem(() =>
    setSysctls(run, 7, [setting('net/a', '1'), setting('net/b', '2'), setting('net/c', '3')]),
  )
  t.match(problem, {
    code: 'IPK_WIRING_FAILED',
    message: 'cannot set net/b to 2: tee: /proc/sys/net/b: No such file or directory',
  })
  t.equal(runs.length, 2)
})

t.test('what an interface needs for IPv6', t => {
  t.strictSame(ipv6Sysctls('net1'), [
    setting('net/ipv6/conf/net1/disable_ipv6', '0'),
    setting('net/ipv6/conf/net1/accept_ra', '0'),
  ])
  t.end()
})

t.test('in a real namespace, and in no other', { skip: missing('namespaces') }, async t => {
  const { path } = await startInNewNamespace(t)
  const fd = openSync(path, 'r')
  t.teardown(() => {
    closeSync(fd)
  })
  const key = 'net/ipv4/conf/lo/arp_notify'
  const read = async (...words: readonly string[]): Promise<string> =>
    (await mustRun('nsenter', [`--net=${path}`, 'cat', ...words.map(word => `/proc/sys/${word}`)])).trim()
  const own = await mustRun('cat', [`/proc/sys/${key}`])
  t.equal(await read(key), '0')
  await setSysctls(runTool, fd, [setting(key, '1'), setting('net/ipv4/ip_local_port_range', '2000 3000')])
  t.equal(await read(key), '1')
  t.match(await read('net/ipv4/ip_local_port_range'), /^2000\s3000$/)
  t.equal(await mustRun('cat', [`/proc/sys/${key}`]), own)
  for (const [wrong, value] of [
    ['net/ipv4/no_such_setting', '1'],
    ['net/ipv4/ip_local_port_range', 'many'],
  ] as const) {
    const problem = await thrownProblem(() => setSysctls(runTool, fd, [setting(wrong, value)]))
    t.equal(problem.code, 'IPK_WIRING_FAILED')
    t.match(problem.message, wrong)
  }
})

t.test('an interface that could have IPv6 takes none of a router', t => {
  const some = existsSync('/proc/sys/net/ipv6/conf')
    ? [{ key: 'net/ipv6/conf/eth0/accept_ra', value: '0' }]
    : []
  t.strictSame(routerGuardSysctls('eth0', 1280), some)
  t.strictSame(routerGuardSysctls('eth0', 1279), [], 'the kernel has no such file for it')
  t.end()
})
