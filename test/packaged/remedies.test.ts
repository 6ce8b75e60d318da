/** What is advised works where it is read: the real daemon, plugin and tool, in a pod, in no cluster, on other paths. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { ValueOffer } from '../../ipkeeper-server/cli/framework/command.ts'
import { commonOptions } from '../../ipkeeper-server/cli/framework/options.ts'
import { remedyHere, type Place } from '../../shared/remedy/place.ts'
import { shellLine } from '../../shared/text/shell-word.ts'
import { startDaemon } from '../rigs/daemon.ts'
import { distFolder, missing, testedPlugin } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import { runProgram } from '../rigs/run-program.ts'
import { startPrivateHost } from '../rigs/private-host.ts'
import { makeTempFolder } from '../rigs/temp-folder.ts'
import {
  callsIn,
  commandOf,
  cutSentence,
  faultOf,
  hole,
  productTexts,
  type Found,
} from '../rigs/typed-commands.ts'
import { typedSite } from '../rigs/typed-site.ts'

const skip = missing('executables')

/** A daemon as the DaemonSet starts it, that has ended. */
async function podThatEnded(t: Test) {
  const folder = makeTempFolder()
  const [socket, stateDir] = [folder.file('s'), folder.file('state')]
  t.teardown(() => {
    folder.remove()
  })
  const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', IPKEEPER_NODE: 'n1' }
  const daemon = await startDaemon({ socket, stateDir, env })
  const noted = readFileSync(`${socket}.started-as.json`, 'utf8')
  await daemon.stop()
  return { socket, stateDir, noted }
}

const restart =
  'kubectl -n ipkeeper-system delete pod -l app.kubernetes.io/name=ipkeeper --field-selector spec.nodeName=n1'

t.test('a daemon of a DaemonSet that is away: nobody says systemctl alone', { skip }, async t => {
  const { socket, stateDir, noted } = await podThatEnded(t)
  t.match(JSON.parse(noted), { service: 'pod', node: 'n1' })
  const added = await runPlugin({
    ...{ plugin: testedPlugin, command: 'ADD', containerId: 'c1' },
    config: {
      ...{ cniVersion: '1.0.0', name: 'net', type: 'bridge' },
      ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/24' }]], socket, stateDir, timeout: 1 },
    },
    ...{ netns: '/run/netns/none', ifname: 'eth0', path: '/opt/cni/bin' },
  })
  t.match(JSON.parse(added.stdout), {
    details: `ipkeeperctl status --socket ${socket}; where it is a DaemonSet: kubectl get pods -A `,
  })
  const words = ['doctor', '--state-dir', stateDir, '--socket', socket]
  const { stdout } = await runProgram(join(distFolder, 'ipkeeperctl'), words)
  t.notMatch(stdout, /fix +systemctl \S+ ipkeeper\b/)
  t.ok(stdout.includes(`fix     ${restart}`), stdout)
})

t.test('a daemon on other paths: what is typed reaches it', { skip }, async t => {
  const { daemon, add } = await typedSite(t, '10.22.0.0/29')
  await add('shop/web-0')
  const refused = await daemon.control('leases', '--pool', 'nett')
  t.match(refused, { exit: 1, stderr: `see: ipkeeperctl pools --socket ${daemon.socket}\n` })
  const { body } = await daemon.ask('POST', '/v1/addresses/default/10.22.0.9/release', {})
  t.match(JSON.parse(body), { hint: `--socket ${daemon.socket}` })
})

/** What is put in where a text has a hole or a word in capitals, by what a shell would offer there. */
const given: Readonly<Partial<Record<ValueOffer & string, string>>> = {
  ...{ 'any address': '10.22.0.9', 'kept address': '10.22.0.9', 'reserved address': '10.22.0.9' },
  ...{
    'address or pod': '10.22.0.9',
    pod: 'shop/web-0',
    namespace: 'shop',
    node: 'n9',
    'lost node': 'n9',
  },
  ...{ owner: 'Deployment/web', network: 'net', pool: 'prod', segment: 'default', bridge: 'ipk0' },
}

const isOpen = (word: string): boolean => word.includes(hole) || /^[A-Z][A-Z|/-]*$/.test(word)

/** The words of a call, each hole filled, as somebody types it who says yes. */
function fillIn({ command, rest }: Found, paths: Readonly<Record<string, string>>): readonly string[] {
  const { file = '' } = paths
  const value = (word: string, instead: string | undefined): string => {
    if (!isOpen(word)) return word
    if (instead !== undefined && !word.includes(':')) return instead
    return word.includes(hole) ? word.replace(new RegExp(`(${hole})+`), () => file) : file
  }
  const offered = (offers: ValueOffer | undefined): string | undefined =>
    typeof offers === 'string' ? given[offers] : offers?.[0]
  const options = { ...command.options, ...commonOptions(command) }
  const filled: string[] = []
  let argument = 0
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index] ?? ''
    const name = word.replace(/^-+/, '')
    const known = options[name] ?? Object.values(options).find(({ letter }) => letter === name)
    const option = word.startsWith('-') ? known : undefined
    filled.push(option ? word : value(word, offered(command.arguments[argument++]?.offers)))
    if (option?.value !== undefined)
      filled.push(value(rest[++index] ?? '', paths[name] ?? offered(option.offers)))
  }
  return [...command.name.split(' '), ...filled, ...('yes' in command.options ? ['--yes'] : [])]
}

/** A name alone is a mention where a call of it needs more. */
const namesNothing = ({ command, rest }: Found): boolean =>
  faultOf({ command, rest }, true) !== undefined ||
  (['reserve', 'unreserve', 'release'].includes(command.name) && rest.length === 0)

/** Of each form of each command one call: other values make no other form. */
function advisedCalls(
  place: Place,
  paths: Readonly<Record<string, string>>,
): ReadonlyMap<string, readonly string[]> {
  const calls = new Map<string, readonly string[]>()
  for (const said of productTexts(/\bipkeeperctl\b/)) {
    // Those are the examples of its help.
    if (
      said.path.startsWith('ipkeeper-server/cli/') &&
      'text' in said &&
      said.text.startsWith('ipkeeperctl ')
    )
      continue
    if ('open' in said && said.open) continue
    const text = 'text' in said ? said.text : shellLine(['ipkeeperctl', ...said.argv])
    for (const { words } of callsIn(text)) {
      const found = commandOf(words)
      const call = found && { ...found, rest: cutSentence(found) }
      if (!call || namesNothing(call)) continue
      const typed = fillIn(call, paths)
      const form = [
        call.command.name,
        ...call.rest.filter(word => word.startsWith('-')).sort(),
        call.rest.length,
      ]
      calls.set(
        form.join(' '),
        remedyHere(`ipkeeperctl ${typed.join(' ')}`, place)
          .split(' ')
          .slice(1),
      )
    }
  }
  return calls
}

t.test(
  'every form of a call of ipkeeperctl that is advised, as it is printed',
  { skip: missing('executables', 'namespaces') },
  async t => {
    const host = await startPrivateHost()
    const folder = makeTempFolder()
    t.teardown(async () => {
      await host.close()
      folder.remove()
    })
    // What repairs the node finds another one.
    await host.must('sh', ['-c', 'if [ -d /etc/cni/net.d ]; then mount -t tmpfs tmpfs /etc/cni/net.d; fi'])
    const [socket, stateDir] = [folder.file('s'), folder.file('state')]
    const [config, file] = [folder.file('config.yaml'), folder.file('file')]
    writeFileSync(config, 'pools: [{ name: prod, ranges: [[{ subnet: 10.22.0.0/24 }]] }]')
    writeFileSync(file, JSON.stringify({ cniVersion: '1.0.0', name: 'net', type: 'none' }))
    const daemon = await startDaemon({ socket, stateDir, config, host })
    t.teardown(() => daemon.stop())
    const place = { socket, stateDir, toolIsHere: true, clustered: false }
    const calls = advisedCalls(place, { file, socket, 'state-dir': stateDir, store: `sqlite:${file}` })
    t.ok(calls.size > 20, `${calls.size} forms`)
    for (const words of calls.values()) {
      const { exit, stdout, stderr } = await host.run(join(distFolder, 'ipkeeperctl'), words, { input: '' })
      t.ok(exit === 0 || exit === 1, `${words.join(' ')}: exit ${exit}, ${stderr}`)
      t.notMatch(stdout + stderr, /\[IPK_(USAGE|DAEMON_UNREACHABLE|ROUTE_UNKNOWN|INTERNAL)/, words.join(' '))
    }
  },
)

/** Calls of programs of the system that look and change nothing. */
const looks =
  /\b(?:(?:cat|df|findmnt|ls|lsattr)(?: -\w+)* (?:\/[\w./-]+\w|VALUE)|curl --unix-socket \S+ http:[\w./-]+\w|ip(?: -\w+)* (?:address|link|route)(?: (?:show|table|all|dev|VALUE))*|ss -\w+ '[^']+')/g

t.test(
  'what else is advised to look at, as it is printed',
  { skip: missing('executables', 'namespaces') },
  async t => {
    const { daemon } = await typedSite(t, '10.22.0.0/29')
    const { socket, stateDir } = daemon
    const lines = new Set<string>()
    for (const said of productTexts(new RegExp(looks.source))) {
      if (!('text' in said)) continue
      for (const [line] of said.text.matchAll(looks)) {
        const value = line.startsWith('ip ') ? 'lo' : line.startsWith('ss ') ? '80' : stateDir
        lines.add(remedyHere(line.replaceAll(new RegExp(`(${hole})+`, 'g'), value), { socket }))
      }
    }
    t.ok(lines.size > 8, [...lines].join('; '))
    for (const line of lines) {
      const { exit, stderr } = await runProgram('sh', ['-c', line])
      // 127: not installed here.
      t.ok(
        exit === 127 || !/usage|invalid|unknown|unrecognized|could ?n.t connect/i.test(stderr),
        `${line}: ${stderr}`,
      )
    }
  },
)
