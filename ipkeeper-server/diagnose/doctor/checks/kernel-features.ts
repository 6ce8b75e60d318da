import { existsSync, readFileSync } from 'node:fs'
import { release } from 'node:os'
import { runProgram } from '../../../host/run-program.ts'
import { fail, ok, warn, type Check } from '../check.ts'
import { mainNetworks } from '../main-networks.ts'

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

export const kernelFeaturesCheck: Check = {
  id: 'kernel-features',
  title: 'the kernel has what pods are wired with',
  why: 'Small kernels leave out macvlan, nf_tables or bridges, and an ADD that needs them fails.',
  run: async node => {
    const networks = mainNetworks(node)
    const needed = new Set(
      networks.flatMap(({ mode, masquerade }) => [
        ...(mode === 'macvlan' ? ['macvlan'] : ['veth']),
        ...(mode === 'bridge' || mode === 'underlay' ? ['bridge'] : []),
        ...(masquerade === 'none' ? [] : ['nf_tables']),
      ]),
    )
    const presence = await Promise.all(
      Object.keys(features).map(async name => ({ name, state: await presenceOf(name) })),
    )
    const named = (state: Presence): string[] =>
      presence.filter(row => row.state === state).map(row => row.name)
    const missing = named('absent').filter(name => needed.has(name))
    if (missing.length > 0)
      return fail(`this kernel (${release()}) has not: ${missing.join(', ')}`, 'modprobe', '-a', ...missing)
    const doubtful = named('unknown').filter(name => needed.has(name))
    if (doubtful.length > 0)
      return warn(`cannot be told here: ${doubtful.join(', ')}`, 'modprobe', '-a', ...doubtful)
    const without = named('absent')
    return ok(
      `${named('there').join(', ') || 'nothing'}${without.length > 0 ? `; without ${without.join(', ')}` : ''}`,
    )
  },
}
