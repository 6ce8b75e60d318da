import { existsSync, readFileSync } from 'node:fs'
import { release } from 'node:os'
import { type Check, fail, ok, skip, warn } from '../check-result.ts'
import { mainNetworks, oursIn } from '../networks.ts'
import type { NodeView } from '../probe-node.ts'
import { probeDaemonProcess, sharesMounts } from './machine.ts'
import { runProgram } from '../../../host/run-program.ts'

/** A module, and what a namespace of its own can show that it is there. */
const features: Readonly<Record<string, readonly string[] | undefined>> = {
  veth: ['ip', 'link', 'add', 'ipk0', 'type', 'veth', 'peer', 'name', 'ipk1'],
  bridge: ['ip', 'link', 'add', 'ipk0', 'type', 'bridge'],
  macvlan: [
    'sh',
    '-ec',
    'ip link add ipk0 type veth peer name ipk1; ip link add ipk2 link ipk0 type macvlan',
  ],
  nf_tables: ['nft', 'add', 'table', 'inet', 'ipk'],
  br_netfilter: undefined,
}

const environment = { LC_ALL: 'C', PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}

type Presence = 'there' | 'absent' | 'unknown'

/**
 * Loaded, built in, or on disk to be loaded. Where the kernel's folder of modules is not here, nothing can be loaded by
 * trying, so it is tried, in a namespace that goes away again.
 */
async function presenceOf(feature: string): Promise<Presence> {
  const loaded = linesOf('/proc/modules').some(line => line.startsWith(`${feature} `))
  if (loaded || existsSync(`/sys/module/${feature}`)) return 'there'
  const folder = `/lib/modules/${release()}`
  if (existsSync(`${folder}/modules.dep`)) {
    const file = new RegExp(`/${feature.replaceAll('_', '[_-]')}\\.ko`)
    const known = [...linesOf(`${folder}/modules.builtin`), ...linesOf(`${folder}/modules.dep`)]
    return known.some(line => file.test(line.split(':')[0] ?? '')) ? 'there' : 'absent'
  }
  const trial = features[feature]
  if (!trial || !existsSync('/usr/bin/unshare')) return 'unknown'
  const end = await runProgram({
    path: '/usr/bin/unshare',
    args: ['--net', '--', ...trial],
    env: environment,
    timeoutMs: 2000,
  })
  if (end.kind !== 'ended') return 'unknown'
  if (end.exit === 0) return 'there'
  // Not being allowed to try, or having no program for it, says nothing of the kernel.
  return /unshare|not found|No such file or directory|not permitted|denied/i.test(end.stderr)
    ? 'unknown'
    : 'absent'
}

/** Features of the kernel by what is known of them here, and which of them networks need. */
interface KernelFeatures {
  readonly needed: ReadonlySet<string>
  readonly named: (state: Presence) => readonly string[]
}

async function lookAtKernel(node: Pick<NodeView, 'networks'>): Promise<KernelFeatures> {
  const needed = new Set(
    mainNetworks(node).flatMap(({ mode, masquerade }) => [
      ...(mode === 'macvlan' ? ['macvlan'] : ['veth']),
      ...(mode === 'bridge' || mode === 'underlay' ? ['bridge'] : []),
      ...(masquerade === 'none' ? [] : ['nf_tables']),
    ]),
  )
  const presence = await Promise.all(
    Object.keys(features).map(async name => ({ name, state: await presenceOf(name) })),
  )
  return {
    needed,
    named: state => presence.filter(row => row.state === state).map(row => row.name),
  }
}

/** What the kernel certainly lacks of what networks need. */
export async function lackingFeatures(node: Pick<NodeView, 'networks'>): Promise<readonly string[]> {
  const { needed, named } = await lookAtKernel(node)
  return named('absent').filter(name => needed.has(name))
}

export const kernelFeaturesCheck: Check = {
  id: 'kernel-features',
  title: 'the kernel has the features that pods need',
  why: 'Without macvlan, nf_tables or bridges, which small kernels leave out, an ADD that needs them fails.',
  run: async node => {
    const { needed, named } = await lookAtKernel(node)
    const missing = named('absent').filter(name => needed.has(name))
    if (missing.length > 0)
      return fail(`this kernel (${release()}) lacks ${missing.join(', ')}`, 'modprobe', '-a', ...missing)
    const doubtful = named('unknown').filter(name => needed.has(name))
    if (doubtful.length > 0)
      return warn(`not known here: ${doubtful.join(', ')}`, 'modprobe', '-a', ...doubtful)
    const without = named('absent')
    return ok(
      `${named('there').join(', ') || 'nothing'}${without.length > 0 ? `; without ${without.join(', ')}` : ''}`,
    )
  },
}

interface Setting {
  readonly name: string
  /** Whether a value will do; settings that are not there are passed over. */
  readonly good: (value: number) => boolean
  readonly wanted: string
  readonly because: string
  /** Whether it matters on this node. */
  readonly matters: (node: NodeView) => boolean
}

const routes = (node: NodeView): boolean => node.networks.some(file => oursIn(file))
const always = (): boolean => true

const settings: readonly Setting[] = [
  {
    name: 'net.ipv4.ip_forward',
    good: value => value === 1,
    wanted: '1',
    because: 'pods cannot reach anything beyond their node',
    matters: routes,
  },
  {
    name: 'net.bridge.bridge-nf-call-iptables',
    good: value => value === 1,
    wanted: '1',
    because: 'pods on the same bridge cannot reach each other through a Service',
    matters: routes,
  },
  {
    name: 'net.ipv4.conf.all.rp_filter',
    good: value => value !== 1,
    wanted: '2',
    because: 'packets of pods whose return path is another link are dropped',
    matters: routes,
  },
  {
    name: 'fs.inotify.max_user_instances',
    good: value => value >= 128,
    wanted: '1024',
    because: 'runtime, kubelet and daemon may miss changes of files',
    matters: always,
  },
  {
    name: 'fs.inotify.max_user_watches',
    good: value => value >= 8192,
    wanted: '65536',
    because: 'runtime, kubelet and daemon may miss changes of files',
    matters: always,
  },
]

function valueOf(name: string): number | undefined {
  try {
    // A dot within a name, such as that of a VLAN link, does not come up here.
    return Number(readFileSync(`/proc/sys/${name.replaceAll('.', '/')}`, 'utf8'))
  } catch {
    return undefined
  }
}

export const sysctlsCheck: Check = {
  id: 'sysctls',
  title: 'kernel settings',
  why: 'With wrong settings, pods have addresses but no connectivity, or changes of files go unnoticed.',
  run: node => {
    const seen = settings.map(setting => ({ ...setting, value: valueOf(setting.name) }))
    const bad = seen.filter(
      ({ value, good, matters }) => value !== undefined && !good(value) && matters(node),
    )
    if (bad.length > 0)
      return warn(
        bad.map(({ name, value, because }) => `${name} is ${value ?? ''}: ${because}`).join('; '),
        ...['sysctl', '-w', ...bad.map(({ name, wanted }) => `${name}=${wanted}`)],
      )
    return ok(seen.flatMap(({ name, value }) => (value === undefined ? [] : [`${name}=${value}`])).join(', '))
  },
}

interface Mount {
  readonly point: string
  readonly propagates: boolean
}

/** Lines of proc(5) mountinfo: the optional fields, up to "-", say whether mounts come through. */
function readMounts(text: string): readonly Mount[] {
  return text.split('\n').flatMap(line => {
    const fields = line.split(' ')
    const point = fields[4]
    const end = fields.indexOf('-')
    if (point === undefined || end < 6) return []
    return [{ point, propagates: fields.slice(6, end).some(field => /^(shared|master):/.test(field)) }]
  })
}

const covers = (point: string, path: string): boolean =>
  point === path || point === '/' || path.startsWith(`${point}/`)

export const netnsPropagationCheck: Check = {
  id: 'netns-propagation',
  title: 'the daemon sees new pod namespaces',
  why: 'A daemon in a container sees the namespaces that the runtime mounts in /run/netns only with HostToContainer propagation; without it the daemon cannot set up pod networks.',
  run: async node =>
    await probeDaemonProcess(node, folder => {
      if (sharesMounts(folder)) return ok('it has the mounts of the node')
      const mounts = readMounts(readFileSync(`${folder}/mountinfo`, 'utf8'))
      const [mount] = mounts
        .filter(({ point }) => covers(point, '/run/netns') || covers(point, '/var/run/netns'))
        .sort((a, b) => b.point.length - a.point.length)
      if (!mount) return skip('its mounts do not show it')
      return mount.propagates
        ? ok(`${mount.point} is propagated`)
        : fail(
            `mounts below ${mount.point} do not reach it: mount /run/netns with HostToContainer`,
            ...['kubectl', 'get', 'daemonset', '--all-namespaces', '-o', 'yaml'],
          )
    }),
}
