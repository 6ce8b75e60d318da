/** `ipkeeperctl try` as a black box: real plugins of Debian, the packaged executables, and a kernel that is as before. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { TryStep, TryReport } from '../../ipkeeper-server/diagnose/try/report.ts'
import { annotationsCapability, makeCallerSite, type CallerSite } from '../rigs/caller-site.ts'
import { findProgram } from '../rigs/find-program.ts'
import { kernelState, settledState } from '../rigs/kernel-state.ts'
import type { PluginConfig } from '../rigs/pod-runtime.ts'
import { until } from '../rigs/poll.ts'
import { onlyChildOf } from '../rigs/private-host.ts'
import { distFolder, findReferencePlugins, missing, pluginFolder } from '../rigs/requirements.ts'
import type { Finished } from '../rigs/run-program.ts'

const skip = missing('namespaces', 'reference-plugins', 'executables', 'nft', 'ping')
const referencePlugins = findReferencePlugins() ?? ''
const ctl = join(distFolder, 'ipkeeperctl')

interface Bench {
  readonly site: CallerSite
  /** Writes a conflist and returns its path. */
  readonly conflist: (plugins: readonly PluginConfig[], cniVersion?: string) => string
  /** Writes a plugin that is a shell script. */
  readonly script: (name: string, text: string) => void
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly run: (path: string, ...more: readonly string[]) => Promise<Finished>
  /** The document of one run, whatever it says. */
  readonly report: (
    path: string,
    ...more: readonly string[]
  ) => Promise<TryReport & { readonly exitCode: number | null }>
}

async function bench(t: Test): Promise<Bench> {
  const site = await makeCallerSite(t)
  const { folder } = site
  for (const name of ['plugins', 'tools']) mkdirSync(folder.file(name))
  // A machine without ping may have it in busybox.
  const ping = findProgram('ping') ?? findProgram('busybox')
  if (ping !== undefined) symlinkSync(ping, folder.file('tools', 'ping'))
  const env = { PATH: `${folder.file('tools')}:/usr/sbin:/usr/bin:/sbin:/bin` }
  const args = [
    ...['--bin-dir', [folder.file('plugins'), pluginFolder, referencePlugins].join(':')],
    ...['--state-dir', folder.file('notes')],
  ]
  let lists = 0
  const run: Bench['run'] = (path, ...more) => site.host.run(ctl, ['try', path, ...args, ...more], { env })
  return {
    ...{ site, args, env, run },
    conflist: (plugins, cniVersion = '1.0.0') => {
      const path = folder.file(`${lists++}.conflist`)
      writeFileSync(path, JSON.stringify({ cniVersion, name: 'fixed', plugins }))
      return path
    },
    script: (name, text) => {
      writeFileSync(folder.file('plugins', name), `#!/bin/sh\n${text}\n`)
      chmodSync(folder.file('plugins', name), 0o755)
    },
    report: async (path, ...more) => {
      const { exit, stdout, stderr } = await run(path, ...more, '-o', 'json')
      if (stdout === '') throw new Error(`exit ${String(exit)}: ${stderr}`)
      return { ...(JSON.parse(stdout) as TryReport), exitCode: exit }
    },
  }
}

const outline = ({ steps }: TryReport): readonly string[] =>
  steps.map(({ verb, plugin }) => `${verb} ${plugin}`)
const wrong = ({ findings, steps, ping, left }: TryReport): readonly string[] =>
  [findings, left, ...steps.map(step => step.findings), ...ping.map(one => one.findings)]
    .flat()
    .filter(({ severity }) => severity !== 'info')
    .map(({ severity, message }) => `${severity}: ${message}`)
const stepOf = ({ steps }: TryReport, wanted: string): TryStep => {
  const found = steps.find(({ verb, plugin }) => `${verb} ${plugin}` === wanted)
  if (found === undefined) throw new Error(`no ${wanted}`)
  return found
}

const hostLocal = {
  type: 'host-local',
  ranges: [[{ subnet: '10.99.0.0/24' }], [{ subnet: 'fd00:99::/64' }]],
  routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
}
const capabilities = { [annotationsCapability]: true }

t.test('lists that work leave everything as it was', { skip }, async t => {
  const { site, conflist, report } = await bench(t)
  const both = {
    ranges: [[{ subnet: '10.22.0.0/16' }], [{ subnet: 'fd00:22::/64' }]],
    routes: hostLocal.routes,
  }
  const cases: readonly {
    readonly name: string
    readonly plugins: readonly PluginConfig[]
    readonly args?: readonly string[]
    readonly address: string | RegExp
  }[] = [
    {
      name: 'bridge with ipkeeper, by annotation',
      plugins: [{ type: 'bridge', bridge: 'cni0', isGateway: true, capabilities, ipam: site.ipam(both) }],
      args: ['--ip', '10.22.0.50'],
      address: '10.22.0.50/16',
    },
    {
      name: 'ipkeeper as bridge',
      plugins: [
        {
          type: 'ipkeeper',
          mode: 'bridge',
          bridge: 'cni0',
          isGateway: true,
          capabilities,
          ipam: site.ipam(both),
        },
      ],
      args: ['--ip', '10.22.0.51,fd00:22::51'],
      address: '10.22.0.51/16',
    },
    {
      name: 'ipkeeper, routed',
      plugins: [{ type: 'ipkeeper', mode: 'ptp', capabilities, ipam: site.ipam() }],
      args: ['--annotation', 'ipkeeper.io/ip=10.22.0.52'],
      address: '10.22.0.52/16',
    },
    {
      name: 'bridge with host-local, asked by CNI_ARGS',
      plugins: [{ type: 'bridge', bridge: 'cni1', isGateway: true, ipam: hostLocal }],
      args: ['--ip', '10.99.0.53'],
      address: '10.99.0.53/24',
    },
    {
      name: 'a chain of reference plugins',
      plugins: [
        { type: 'loopback' },
        { type: 'bridge', bridge: 'cni1', isGateway: true, ipMasq: true, ipam: hostLocal },
        { type: 'tuning', mtu: 1400 },
        { type: 'portmap', capabilities: { portMappings: true } },
        { type: 'firewall' },
      ],
      address: /^10\.99\.0\.\d+\/24$/,
    },
  ]
  for (const { name, plugins, args = [], address } of cases) {
    await t.test(name, async t => {
      // What the first run of a network leaves for the pods to come is there before we look.
      const path = conflist(plugins)
      await report(path)
      const before = await settledState(site.host, await kernelState(site.host), 0)
      const tried = await report(path, ...args)
      t.strictSame(wrong(tried), [])
      t.equal(tried.exitCode, 0)
      t.ok(tried.ok)
      const names = plugins.map(plugin => plugin.type)
      t.strictSame(outline(tried), [
        ...names.map(plugin => `ADD ${plugin}`),
        ...names.map(plugin => `CHECK ${plugin}`),
        ...names.toReversed().map(plugin => `DEL ${plugin}`),
      ])
      const last = tried.steps.filter(({ verb }) => verb === 'ADD').at(-1)
      t.match(last?.result, { ips: [{ address }] })
      t.ok(tried.ping.length > 0, 'there is a gateway')
      if (findProgram('ping') ?? findProgram('busybox'))
        t.ok(tried.ping.every(({ answered }) => answered === true))
      t.strictSame(await settledState(site.host, before), before, 'the kernel')
      t.strictSame(await site.daemon().boundLeases(), [])
      t.notOk(existsSync(site.folder.file('notes', 'try')), 'no note is left')
    })
  }
})

t.test(
  'a plugin that fails in the middle: those before it get their DEL, and its words are explained',
  { skip },
  async t => {
    const { site, conflist, report, script } = await bench(t)
    script(
      'refuses',
      `cat >/dev/null; [ "$CNI_COMMAND" = ADD ] || exit 0; echo '{"code":11,"msg":"not now","details":"later"}'; exit 1`,
    )
    const plugins = [
      { type: 'bridge', bridge: 'cni0', isGateway: true, ipam: site.ipam() },
      { type: 'firewall' },
      { type: 'refuses' },
      { type: 'tuning' },
    ]
    const path = conflist(plugins)
    await report(path)
    const before = await kernelState(site.host)
    const tried = await report(path)
    t.equal(tried.exitCode, 1)
    t.notOk(tried.ok)
    t.strictSame(outline(tried).slice(0, 7), [
      ...['ADD bridge', 'ADD firewall', 'ADD refuses'],
      ...['DEL tuning', 'DEL refuses', 'DEL firewall', 'DEL bridge'],
    ])
    const refused = stepOf(tried, 'ADD refuses')
    t.equal(refused.runtimeSays, 'plugin type="refuses" failed (add): not now; later')
    t.match(refused.findings, [{ severity: 'error', message: 'not now; later (code 11: try again later)' }])
    t.strictSame(await settledState(site.host, before), before, 'rules of the firewall are gone, too')
    t.strictSame(await site.daemon().boundLeases(), [])
  },
)

t.test('a bridge that was made before the ADD failed is no more', { skip }, async t => {
  const { site, conflist, report, script } = await bench(t)
  // The bridge plugin makes its bridge first, and asks for the address then; a failed ADD has no Result that names it.
  script('no-addresses', 'cat >/dev/null; [ "$CNI_COMMAND" = ADD ] || exit 0; echo {}; exit 1')
  const before = await kernelState(site.host)
  const cases: readonly (readonly [name: string, plugin: PluginConfig])[] = [
    ['named in the list', { type: 'bridge', bridge: 'cni6' }],
    ['by the default of the plugin', { type: 'bridge' }],
  ]
  for (const [name, plugin] of cases) {
    const tried = await report(conflist([{ ...plugin, ipam: { type: 'no-addresses' } }]))
    t.notOk(tried.ok, name)
    t.strictSame(tried.left, [], name)
    t.strictSame(await settledState(site.host, before), before, name)
  }
  await t.test('another one that came meanwhile stays, and is told of', async t => {
    script(
      'beside',
      'cat >/dev/null; [ "$CNI_COMMAND" = ADD ] || exit 0; ip link add other0 type bridge; echo {}; exit 1',
    )
    const tried = await report(conflist([{ type: 'beside' }]))
    t.match(tried.left, [
      { severity: 'warning', message: /link other0 is new on the host; no plugin named it/ },
    ])
    await site.host.must('ip', ['link', 'delete', 'other0'])
  })
})

t.test('findings', { skip }, async t => {
  const { site, conflist, report, run, script } = await bench(t)
  script(
    'liar',
    `cat >/dev/null; [ "$CNI_COMMAND" = ADD ] || exit 0
    echo '{"cniVersion":"1.0.0","interfaces":[{"name":"eth0","mac":"02:00:00:00:00:01","sandbox":"'$CNI_NETNS'"}],"ips":[{"address":"10.1.1.255/24","gateway":"10.2.0.1","interface":3}]}'`,
  )
  script('silent', 'exit 0')
  script(
    'noisy',
    `cat >/dev/null; [ "$CNI_COMMAND" = ADD ] || exit 0; printf 'warn \\033[31mred\\n{"cniVersion":"1.0.0"}'`,
  )
  await t.test('a plugin that never ran owes nothing', async t => {
    const tried = await report(conflist([{ type: 'nowhere' }, { type: 'silent' }]))
    t.strictSame(outline(tried), ['ADD nowhere', 'DEL silent', 'DEL nowhere'])
    t.strictSame(tried.left, [])
  })
  const cases: readonly {
    readonly name: string
    readonly plugins: readonly PluginConfig[]
    readonly says: RegExp
    readonly args?: readonly string[]
  }[] = [
    {
      name: 'a gateway that nobody has',
      plugins: [{ type: 'bridge', bridge: 'cni3', ipam: hostLocal }],
      says: /error: gateway 10\.99\.0\.1 does not answer/,
    },
    {
      name: 'a plugin that is not there',
      plugins: [{ type: 'nowhere' }],
      says: /there is no plugin "nowhere" in/,
    },
    { name: 'nothing on stdout', plugins: [{ type: 'silent' }], says: /nothing on stdout/ },
    { name: 'a log line on stdout', plugins: [{ type: 'noisy' }], says: /at byte 0: "warn/ },
    { name: 'a Result that is not true', plugins: [{ type: 'liar' }], says: /broadcast/ },
    {
      name: 'annotations that nobody gets',
      plugins: [{ type: 'bridge', bridge: 'cni4', isGateway: true, ipam: hostLocal }],
      args: ['--annotation', 'ipkeeper.io/ip=10.99.0.9'],
      says: /no plugin of the list gets the annotations/,
    },
    {
      name: 'no daemon',
      plugins: [
        { type: 'bridge', bridge: 'cni5', isGateway: true, capabilities, ipam: site.ipamWithoutDaemon() },
      ],
      says: /cannot reach ipkeeper-server.*code 11/,
    },
  ]
  for (const { name, plugins, says, args = [] } of cases) {
    await t.test(name, async t => {
      const tried = await report(conflist(plugins), ...args)
      t.equal(tried.exitCode, 1)
      t.match(wrong(tried).join('\n'), says)
      t.strictSame((await kernelState(site.host)).namespaces, [])
    })
  }
  await t.test('control characters do not reach the terminal', async t => {
    const { stdout } = await run(conflist([{ type: 'noisy' }]))
    t.match(stdout, 'warn \\x1b[31mred')
    t.notOk(stdout.includes('\u001b'))
  })
})

t.test('what cannot be tried', { skip }, async t => {
  const { site, env } = await bench(t)
  const { folder, host } = site
  writeFileSync(folder.file('comma.conflist'), '{\n  "name": "net",\n  "plugins": [],\n}')
  writeFileSync(folder.file('path.conflist'), '{"name":"net","plugins":[{"type":"../bin/sh"}]}')
  await host.must('mkfifo', [folder.file('pipe.conflist')])
  mkdirSync(folder.file('empty'))
  const cases: readonly (readonly [argv: readonly string[], exit: number, says: RegExp])[] = [
    [[folder.file('comma.conflist')], 1, /comma\.conflist:3:16: trailing comma/],
    [[folder.file('path.conflist')], 1, /"type" must be the name of a plugin/],
    [[folder.file('pipe.conflist')], 1, /is not a regular file/],
    [['--net-dir', folder.file('empty')], 1, /empty has no \.conflist, \.conf or \.json/],
    [[folder.file('comma.conflist'), 'x'], 2, /at most one CONFLIST/],
    [['--timeout', 'x'], 2, /number of seconds/],
    [['--ip', 'x'], 2, /no address/],
    [['--pod', 'x'], 2, /NAMESPACE\/NAME/],
  ]
  for (const [argv, exit, says] of cases) {
    const ran = await host.run(ctl, ['try', ...argv], { env })
    t.match(ran.stderr, says)
    t.equal(ran.exit, exit, ran.stderr)
    t.equal(ran.stdout, '')
  }
})

t.test('SIGINT at any moment: DEL all the same, and nothing is left', { skip }, async t => {
  const { site, conflist, report, args, env } = await bench(t)
  const path = conflist([
    { type: 'bridge', bridge: 'cni0', isGateway: true, ipam: site.ipam() },
    { type: 'firewall' },
    { type: 'tuning', mtu: 1400 },
  ])
  const began = performance.now()
  await report(path)
  const whole = performance.now() - began
  const before = await kernelState(site.host)
  let interrupted = 0
  for (let count = 0; count < 30; count++) {
    const group = count % 3 === 1
    const [program, argv, options] = spawnable(site, ['try', path, ...args, '-o', 'json'], env)
    const child = spawn(program, argv, { ...options, detached: group })
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    const ended = once(child, 'close')
    await delay(60 + Math.random() * whole)
    // Ctrl-C at a terminal reaches the whole foreground group.
    if (group) signalGroup(child)
    else signal(child, count % 3 === 0 ? 'SIGTERM' : 'SIGINT')
    // Impatience does not skip the DEL.
    await delay(20)
    signal(child, 'SIGINT')
    await ended
    if (out !== '') {
      const tried = JSON.parse(out) as TryReport
      if (!tried.ok) interrupted++
      const added = tried.steps.filter(({ verb }) => verb === 'ADD').length
      if (added > 0)
        t.equal(new Set(outline(tried).filter(step => step.startsWith('DEL'))).size, 3, 'DEL of each')
    }
    t.strictSame(await site.daemon().boundLeases(), [], `run ${count}`)
  }
  t.ok(interrupted > 0, `${interrupted} of 30 were interrupted in the middle`)
  t.strictSame(await settledState(site.host, before), before)
  // One that was hit before it listened to signals has begun nothing.
  t.notOk(existsSync(site.folder.file('notes', 'try')), 'no note is left')
})

t.test('SIGKILL: the next try sends the DELs that are owed', { skip }, async t => {
  const { site, conflist, report, script, args, env } = await bench(t)
  const marker = site.folder.file('reached')
  script('waits', `cat >/dev/null; [ "$CNI_COMMAND" = ADD ] || exit 0; touch ${marker}; sleep 30`)
  const good = conflist([{ type: 'bridge', bridge: 'cni0', isGateway: true, ipam: site.ipam() }])
  const bridge = { type: 'bridge', bridge: 'cni0', isGateway: true, ipam: site.ipam() }
  const path = conflist([bridge, { type: 'firewall' }, { type: 'waits' }])
  await report(conflist([bridge, { type: 'firewall' }]))
  await report(good)
  const before = await kernelState(site.host)
  const child = spawn(...spawnable(site, ['try', path, ...args], env))
  const ended = once(child, 'close')
  await until('the second plugin is reached', () => existsSync(marker))
  signal(child, 'SIGKILL')
  await ended
  t.equal((await site.daemon().boundLeases()).length, 1, 'it had an address')
  t.equal((await kernelState(site.host)).namespaces.length, 1, 'and a namespace')
  const tried = await report(good)
  t.ok(tried.ok, wrong(tried).join('\n'))
  t.match(tried.earlier, [{ namespace: /^ipkeeper-try-/, findings: [{ message: /earlier try was killed/ }] }])
  t.strictSame(await site.daemon().boundLeases(), [])
  // To the next try it is a bridge that was there before.
  t.equal((await site.host.run('ip', ['link', 'delete', 'cni0'])).exit, 0, 'the bridge stays')
  t.strictSame(await settledState(site.host, before), before)
  t.notOk(existsSync(site.folder.file('notes', 'try')))
})

t.test('a plugin that hangs is killed with what it started', { skip }, async t => {
  const { site, conflist, report, script } = await bench(t)
  const pid = site.folder.file('pid')
  script('hangs', `cat >/dev/null; [ "$CNI_COMMAND" = ADD ] || exit 0; sleep 300 & echo $! >${pid}; wait`)
  const tried = await report(conflist([{ type: 'hangs' }]), '--timeout', '1')
  t.equal(tried.exitCode, 1)
  t.match(stepOf(tried, 'ADD hangs').findings, [{ message: /had not ended after 1\.0 s and was killed/ }])
  const alive = await site.host.run('kill', ['-0', readFileSync(pid, 'utf8').trim()])
  t.not(alive.exit, 0, 'nobody waits any more')
})

function spawnable(
  site: CallerSite,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): [string, string[], { env: Record<string, string>; stdio: ['ignore', 'pipe', 'inherit'] }] {
  const [program, argv] = site.host.command(ctl, words)
  return [program, [...argv], { env: { ...env }, stdio: ['ignore', 'pipe', 'inherit'] }]
}

function signalGroup({ pid, exitCode }: ReturnType<typeof spawn>): void {
  if (pid === undefined || exitCode !== null) return
  try {
    process.kill(-pid, 'SIGINT')
  } catch {
    // It has ended already.
  }
}

/** To the program that nsenter started. */
function signal(nsenter: ReturnType<typeof spawn>, name: NodeJS.Signals): void {
  try {
    process.kill(onlyChildOf(nsenter), name)
  } catch {
    // It has ended already.
  }
}
