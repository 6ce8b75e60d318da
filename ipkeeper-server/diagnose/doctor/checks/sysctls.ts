import { readFileSync } from 'node:fs'
import { ok, warn, type Check } from '../check.ts'
import { oursIn } from '../our-plugin.ts'
import type { NodeView } from '../node-view.ts'

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
    because: 'pods reach nothing beyond their node',
    matters: routes,
  },
  {
    name: 'net.bridge.bridge-nf-call-iptables',
    good: value => value === 1,
    wanted: '1',
    because: 'pods on one bridge do not reach each other by a Service',
    matters: routes,
  },
  {
    name: 'net.ipv4.conf.all.rp_filter',
    good: value => value !== 1,
    wanted: '2',
    because: 'packets of pods whose way back is another link are dropped',
    matters: routes,
  },
  {
    name: 'fs.inotify.max_user_instances',
    good: value => value >= 128,
    wanted: '1024',
    because: 'runtime, kubelet and daemon may not be told when files change',
    matters: always,
  },
  {
    name: 'fs.inotify.max_user_watches',
    good: value => value >= 8192,
    wanted: '65536',
    because: 'runtime, kubelet and daemon may not be told when files change',
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
  title: 'settings of the kernel',
  why: 'With these settings wrong pods have their addresses and reach nobody, or changes of files go unnoticed.',
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
