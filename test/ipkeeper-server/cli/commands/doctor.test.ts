/** ipkeeperctl doctor as a process: what it says of a pod and of a pasted text, with a daemon and without. */
import { chmodSync, cpSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startDaemon, type Daemon } from '../../../rigs/daemon.ts'
import { distFolder, missing, testedPlugin } from '../../../rigs/requirements.ts'
import { runPlugin } from '../../../rigs/run-plugin.ts'
import { runProgram, type Finished } from '../../../rigs/run-program.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'

const skip = missing('executables')
const sandbox = '3f2a91c0d1e24b7d8e9f0a1b2c3d4e5f60718293a4b5c6d7e8f9a0b1c2d3e4f5'

interface Site {
  readonly daemon: Daemon
  /** One run of the plugin for a pod of namespace shop that asks for 10.22.0.50. */
  readonly call: (command: 'ADD' | 'DEL', containerId: string, pod: string) => Promise<Finished>
  readonly doctor: (words: readonly string[], input?: string) => Promise<Finished>
}

/** A daemon with one pod, shop/web-0, that has 10.22.0.50. */
async function makeSite(t: Test): Promise<Site> {
  const folder = tempFolder(t)
  const [socket, stateDir, nets] = [folder.file('s'), folder.file('state'), folder.file('net.d')]
  const daemon = await startDaemon({ socket, stateDir })
  t.teardown(() => daemon.stop('SIGKILL'))
  const ipam = { type: 'ipkeeper', socket, stateDir, ranges: [[{ subnet: '10.22.0.0/24' }]] }
  const plugin = { type: 'bridge', capabilities: { 'io.kubernetes.cri.pod-annotations': true }, ipam }
  mkdirSync(nets)
  writeFileSync(
    join(nets, '10-fixed.conflist'),
    JSON.stringify({ cniVersion: '1.0.0', name: 'fixed', plugins: [plugin] }),
  )
  const call = (command: 'ADD' | 'DEL', containerId: string, pod: string): Promise<Finished> =>
    runPlugin({
      ...{ plugin: testedPlugin, command, containerId, path: '/opt/cni/bin' },
      ...{ netns: '/run/netns/none', ifname: 'eth0' },
      args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${pod};IP=10.22.0.50`,
      config: { ...plugin, cniVersion: '1.0.0', name: 'fixed' },
    })
  const added = await call('ADD', sandbox, 'web-0')
  if (added.exit !== 0) throw new Error(added.stdout)
  const places = ['--socket', socket, '--state-dir', stateDir, '--conf-dir', nets]
  return {
    ...{ daemon, call },
    doctor: (words, input = '') =>
      runProgram(join(distFolder, 'ipkeeperctl'), ['doctor', ...words, ...places], { input }),
  }
}

t.test('a pod', { skip }, async t => {
  const { doctor, daemon } = await makeSite(t)
  const { stdout, exit } = await doctor(['--pod', 'shop/web-0'])
  t.equal(exit, 0)
  t.match(stdout, /^ {2}leases:\n {4}10\.22\.0\.50\/24 bound since .* from pool fixed, by CNI_ARGS/m)
  t.match(
    stdout,
    new RegExp(`^ {4}sandbox ${sandbox} of pod shop/web-0 has 10\\.22\\.0\\.50/24 in network fixed`, 'm'),
  )
  t.match(stdout, /namespace \/run\/netns\/none is gone/)
  t.match(stdout, /^ {2}runs of the plugin:\n {4}\S+ ADD eth0: 10\.22\.0\.50\/24 \(sandbox 3f2a91c0d1e24\)$/m)
  t.match(stdout, /^ {2}its next ADD:\n {4}would /m)
  const unknown = await doctor(['--pod', 'shop/web-9', '-o', 'json'])
  t.equal(unknown.exit, 1)
  t.match(JSON.parse(unknown.stdout), {
    checks: null,
    message: null,
    pod: { pod: 'shop/web-9', known: false },
  })
  await daemon.stop()
  const away = await doctor(['--pod', 'shop/web-0'])
  t.equal(away.exit, 0, 'the flight record knows it')
  t.match(away.stdout, /not known: cannot reach the daemon/)
})

t.test(
  'why a pod does not run: what it was refused, and what to type, also when the next ADD would do',
  { skip },
  async t => {
    const { doctor, call } = await makeSite(t)
    const why = async (pod: string): Promise<string> => {
      const { stdout } = await doctor(['--pod', `shop/${pod}`])
      return /^ {2}what happened last:\n((?: {4}.*\n)*)/m.exec(stdout)?.[1] ?? stdout
    }
    t.match(await why('web-0'), /^ {4}its ADD at \S+ succeeded: 10\.22\.0\.50\/24\n {4}if it does not run/)
    t.match(await why('web-9'), /^ {4}no ADD is recorded for it on this node/)
    for (const container of ['c1', 'c2']) {
      t.equal((await call('ADD', container, 'api-0')).exit, 1)
      t.equal((await call('DEL', container, 'api-0')).exit, 0, 'as runtimes do after a refusal')
    }
    const refused =
      /^ {4}its ADD at \S+ failed, and so did 1 ADD before since \S+:\n {4}.*10\.22\.0\.50.* \[IPK_ADDRESS_HELD\]\n {4}means: /
    t.match(await why('api-0'), refused)
    t.match(await why('api-0'), /^ {4}now: 10\.22\.0\.50 is bound to shop\/web-0 /m)
    t.match(await why('api-0'), /^ {4}type: ipkeeperctl who --socket \S+ 10\.22\.0\.50 /m)
    t.equal((await call('DEL', sandbox, 'web-0')).exit, 0)
    t.match(await why('web-0'), /^ {4}its ADD at \S+ succeeded: 10\.22\.0\.50\/24; deleted at \S+\n$/)
    t.match(await why('api-0'), refused, 'that failed, whatever the next one would get')
  },
)

t.test('a user other than root is told to be root', { skip }, async t => {
  const folder = tempFolder(t)
  const tool = folder.file('ipkeeperctl')
  cpSync(realpathSync(join(distFolder, 'ipkeeperctl')), tool)
  chmodSync(folder.path, 0o755)
  const { stdout } = await runProgram('setpriv', [
    '--reuid=65534',
    '--regid=65534',
    '--clear-groups',
    tool,
    'doctor',
  ])
  t.match(
    stdout,
    /^warn {2}user +run by user 65534: run as root to see all\n +impact .*\n +fix +sudo ipkeeperctl doctor$/m,
  )
})

t.test('a text that was pasted', { skip }, async t => {
  const { doctor, daemon } = await makeSite(t)
  const text = `failed to destroy network for sandbox "${sandbox}": failed to get network "fixed" cached result: decoding version from network config: unexpected end of JSON input`
  const { stdout, exit } = await doctor(['--message', text])
  t.equal(exit, 0)
  t.match(stdout, /^cached-result-empty\n {2}it says {2}failed to destroy/)
  t.match(stdout, new RegExp(`known +sandbox ${sandbox} of pod shop/web-0 has 10\\.22\\.0\\.50/24`))
  t.match(stdout, /ipkeeperctl cache scan/)

  const taken = await doctor(
    ['--message', '-', '-o', 'json'],
    'x\u001b[31m annotation ipkeeper.io/ip asks for 10.22.0.50, which is held by shop/web-0; [IPK_ADDRESS_HELD, request 1]\r\n',
  )
  t.match(JSON.parse(taken.stdout), {
    checks: null,
    message: {
      answers: [
        {
          id: 'IPK_ADDRESS_HELD',
          about: { address: '10.22.0.50' },
          known: [/^10\.22\.0\.50 is bound to shop\/web-0 /],
          mend: [
            { command: `ipkeeperctl who --socket ${daemon.socket} 10.22.0.50` },
            { command: `ipkeeperctl leases --socket ${daemon.socket}` },
          ],
        },
      ],
    },
  })

  const nothing = await doctor(['--message', 'Back-off restarting failed container'])
  t.equal(nothing.exit, 1)
  t.match(
    nothing.stdout,
    /^no known text was found; these commands show more:\n {2}ipkeeperctl flights --state-dir \S+ --failed /,
  )

  await daemon.stop()
  const away = await doctor(['--message', '-'], text)
  t.equal(away.exit, 0, 'it needs no daemon')
  t.match(away.stdout, /no daemon answers, so the holders are not known/)
})

t.test('any input', { skip }, async t => {
  const { doctor } = await makeSite(t)
  for (const [what, input] of [
    ['ten mebibytes', 'name is reserved \u0000\u001b[2J\n'.repeat(400_000)],
    ['no UTF-8', '\ufffd'.repeat(1000)],
  ] as const) {
    const { stdout, stderr, exit } = await doctor(['--message', '-'], input)
    t.equal(exit, what === 'ten mebibytes' ? 0 : 1, what)
    t.equal(stderr, '')
    t.notMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u007f]/, 'nothing that a terminal would obey')
  }
  t.equal((await doctor(['--message', ''])).exit, 1)
})

t.test('called wrongly', { skip }, async t => {
  const { doctor } = await makeSite(t)
  const whole = 'for example: ipkeeperctl doctor'
  const rows: readonly (readonly [words: readonly string[], hint: string])[] = [
    [['--pod', 'web-0'], '--pod NS/NAME: .*'],
    [['--pod', 'a/b/c'], '--pod NS/NAME: .*'],
    [['more'], whole],
    [['--message'], '--message TEXT: .*'],
    [['--mesage', 'x'], '--message TEXT: .*'],
  ]
  for (const [words, hint] of rows) {
    const { exit, stdout, stderr } = await doctor(words)
    t.equal(exit, 2, words.join(' '))
    t.equal(stdout, '')
    t.match(
      stderr,
      new RegExp(`^error: .* \\[IPK_USAGE\\]\nhint: ${hint}; see: ipkeeperctl doctor --help\n$`),
    )
  }
})
