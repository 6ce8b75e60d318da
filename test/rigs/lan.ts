/**
 * Several hosts on one machine, joined by a switch: each is a network and mount namespace with its own /run/netns, /run
 * and plugin state, and an uplink eth0 in the common L2 network. All are inside one private host, and go with it.
 * The last machine, "outside", is their router; behind it is a network that no host has a link to.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { findProgram } from './find-program.ts'
import { onlyChildOf, ownFolders, setSysctl, startPrivateHost, type PrivateHost } from './private-host.ts'
import { mustRun, runProgram } from './run-program.ts'

/** A machine of the LAN. Whatever a private host can do, it can; `close` ends the whole LAN's part of it. */
export interface LanHost extends PrivateHost {
  readonly name: string
  /** Its addresses on eth0, without prefix. */
  readonly ipv4: string
  readonly ipv6: string
}

export interface Lan {
  /** Hosts of pods; their default routes lead to `outside`. */
  readonly hosts: readonly LanHost[]
  /** The router. It knows no way to any pod that is not in the LAN. */
  readonly outside: LanHost
  close(): Promise<void>
}

/** The L2 network that all machines have a link to: ranges of pods that are on it themselves are cut from these. */
export const lanSubnets = { ipv4: '10.30.0.0/24', ipv6: 'fd00:30::/64' } as const

/** Addresses of the router behind the LAN: packets to them leave a host by its default route. */
export const beyond = { ipv4: '198.51.100.1', ipv6: '2001:db8:51::1' } as const

/** Name of each machine's link to the switch. */
export const uplink = 'eth0'

/** The mounts of a machine, then its life: it ends with its stdin, as the private host around it does. */
const machineProcess = `
set -e
for folder in ${ownFolders.join(' ')}; do mount -t tmpfs -o mode=0755 tmpfs "$folder"; done
echo ready
exec cat >/dev/null
`

/**
 * Starts a LAN. Needs what a private host needs.
 *
 * @param options.hosts how many hosts of pods; the first is host-1
 * @param options.mtu of every link of the LAN, in bytes; default: 1500
 */
export async function startLan(options: { readonly hosts: number; readonly mtu?: number }): Promise<Lan> {
  const { hosts: count, mtu = 1500 } = options
  const room = await startPrivateHost()
  const endings: (() => Promise<void>)[] = []
  const close = async (): Promise<void> => {
    for (const end of endings) await end()
    await room.close()
  }
  try {
    const batch = ['link add switch type bridge forward_delay 0 mcast_snooping 0', 'link set switch up']
    await ipBatch(room, batch)
    const machine = async (name: string, number: number): Promise<LanHost> => {
      const { host, end } = await startMachine(room, name, mtu, number)
      endings.push(end)
      return host
    }
    const outside = await machine('outside', 1)
    const hosts: LanHost[] = []
    for (let number = 1; number <= count; number++) {
      const host = await machine(`host-${number}`, 10 + number)
      await ipBatch(host, [`route add default via ${outside.ipv4}`, `route add ::/0 via ${outside.ipv6}`])
      hosts.push(host)
    }
    const behind = [`address add ${beyond.ipv4}/32 dev lo`, `address add ${beyond.ipv6}/128 dev lo nodad`]
    await ipBatch(outside, behind)
    await forwardPackets(outside)
    return { hosts, outside, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function startMachine(
  room: PrivateHost,
  name: string,
  mtu: number,
  number: number,
): Promise<{ readonly host: LanHost; readonly end: () => Promise<void> }> {
  const [ipv4, ipv6] = [`10.30.0.${number}`, `fd00:30::${number}`]
  await room.must('ip', ['netns', 'add', name])
  await ipBatch(room, [
    `link add ${name} mtu ${mtu} type veth peer name ${uplink} mtu ${mtu} netns ${name}`,
    `link set ${name} master switch up`,
  ])
  // The namespace has its name in the room, whose /run/netns the machine does not see.
  const [program, args] = room.command('nsenter', [
    ...[`--net=/run/netns/${name}`, '--', 'unshare', '--mount', 'sh', '-c', machineProcess],
  ])
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  const ready = await Promise.race([once(child.stdout, 'data'), ended.then(() => undefined)])
  if (ready === undefined) throw new Error(`the machine ${name} did not come up`)
  const enter = ['--target', String(onlyChildOf(child)), '--mount', '--net']
  const nsenter = findProgram('nsenter') ?? 'nsenter'
  const command: LanHost['command'] = (wanted, words) => [
    nsenter,
    [...enter, '--pid', '--', wanted, ...words],
  ]
  const become: LanHost['become'] = (wanted, words) => [nsenter, [...enter, '--', wanted, ...words]]
  const end = async (): Promise<void> => {
    child.stdin.end()
    await ended
  }
  const host: LanHost = {
    ...{ name, ipv4, ipv6, cgroup: room.cgroup, command, become, close: end },
    run: (wanted, words, runOptions) => runProgram(...command(wanted, words), runOptions),
    must: (wanted, words, runOptions) => mustRun(...command(wanted, words), runOptions),
  }
  // Its addresses are in use at once: whoever asks for one of them gets an answer.
  await setSysctl(host, `net/ipv6/conf/${uplink}/accept_dad`, '0')
  await ipBatch(host, [
    'link set lo up',
    `link set ${uplink} up`,
    `address add ${ipv4}/24 dev ${uplink}`,
    `address add ${ipv6}/64 dev ${uplink} nodad`,
  ])
  return { host, end }
}

/** Runs commands of `ip`, all or the first that fails. */
async function ipBatch(host: PrivateHost, lines: readonly string[]): Promise<void> {
  await host.must('ip', ['-batch', '-'], { input: `${lines.join('\n')}\n` })
}

/** What a router does. */
export async function forwardPackets(host: PrivateHost): Promise<void> {
  for (const setting of ['net/ipv4/ip_forward', 'net/ipv6/conf/all/forwarding'])
    await setSysctl(host, setting, '1')
}
