/**
 * A node that can lose its power: a machine inside the machine with a disk of its own, on which containerd, kubelet and kube-proxy
 * are kept running as an init system would. It is part of a private host, and goes with it.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { removeCgroup } from '../cgroups.ts'
import type { ContainerdRelease } from '../containerd-release.ts'
import { findProgram } from '../find-program.ts'
import { enterCgroups, forgotten, mountMachine } from '../machine-mounts.ts'
import { onlyChildOf, type PrivateHost } from '../private-host.ts'
import { mustRun, runProgram, type Finished, type ProgramOptions } from '../run-program.ts'

/** What is kept running, in the order of the start. */
export const keptPrograms = ['containerd', 'kubelet', 'kube-proxy'] as const
export type KeptProgram = (typeof keptPrograms)[number]

export interface NodeMachineOptions {
  readonly name: string
  readonly address: string
  /** Of its network. */
  readonly router: string
  readonly release: ContainerdRelease
  /** Folder that becomes its disk; in the private host alone, if it is to go with that. */
  readonly disk: string
  /** Folder of files that are put on its disk at each boot, by their paths; `programFile` says where programs are looked for. */
  readonly files: string
  /** Folders of the real machine that it sees, read-only. */
  readonly shared: readonly string[]
}

/** The script on a node that becomes the program. */
export const programFile = (program: KeptProgram): string => `/etc/programs/${program}`

export interface NodeMachine {
  readonly name: string
  readonly address: string
  readonly release: ContainerdRelease
  /** Starts it, and resolves when its programs have been started. */
  boot(): Promise<void>
  /** The power fails: everything in it ends at once. Its disk stays. */
  cut(): Promise<void>
  /** Path by which this machine sees a file of the node; only while it is on. */
  path(file: string): string
  run(program: string, args: readonly string[], options?: ProgramOptions): Promise<Finished>
  /** The same for a step that must succeed: its stdout. */
  must(program: string, args: readonly string[], options?: ProgramOptions): Promise<string>
  /** SIGKILL to a kept program, which comes back in a second. */
  kill(program: KeptProgram): Promise<void>
  /** Keeps a program from coming back, and ends it; then it may come back. */
  stop(program: KeptProgram): Promise<void>
  start(program: KeptProgram): Promise<void>
}

/** kubelet sets these, which are the real machine's: it finds them set. */
const kernelSettings = {
  'vm/overcommit_memory': 1,
  'vm/panic_on_oom': 0,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
}

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** What an earlier installation of anything that runs pods may have left on the real machine. */
const alsoForgotten = ['/etc/containerd', '/etc/kubernetes', '/var/lib/kubelet', '/var/lib/cni', '/var/log/*']

/** Arguments: group, namespace, then those of the machine. Enters what belongs to no namespace, and becomes the rest. */
const enter = (machine: string): string => `
set -eu
${enterCgroups('"$1"')}
netns=$2
shift 2
exec nsenter --net="/run/netns/$netns" -- unshare --mount --pid --cgroup --uts --ipc --fork --kill-child \\
  sh -c '${machine.replaceAll("'", `'\\''`)}' sh "$@"
`

/** Arguments: disk, files, name, folder of CNI plugins, then the folders that are shared. Its stdin's end is its own. */
const machine = `
set -eu
mount --make-rprivate /
disk=$1 files=$2 node=$3 plugins=$4
shift 4
cd "$disk"
mkdir -p root upper work containerd
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
if [ ! -e installed ]; then
  for path in ${[...forgotten, ...alsoForgotten].join(' ')}; do rm -rf root$path; done
  mkdir -p root/opt/cni/bin root/etc/cni/net.d root/var/lib/containerd root/mnt
  for plugin in loopback portmap bridge host-local; do cp "$plugins/$plugin" root/opt/cni/bin/; done
  rm -f root/etc/resolv.conf
  touch installed
fi
cp -r "$files/." root/
${mountMachine(['run', 'tmp', 'var/tmp'])}
mount --bind containerd root/var/lib/containerd
touch root/dev/kmsg
mount --bind /dev/kmsg root/dev/kmsg
for folder in "$@"; do
  mkdir -p "root$folder"
  mount --bind "$folder" "root$folder"
  mount -o remount,bind,ro "root$folder"
done
mkdir root/run/kernel
for setting in ${Object.entries(kernelSettings)
  .map(([name, value]) => `${name}=${value}`)
  .join(' ')}; do
  file=root/run/kernel/$(basename "\${setting%=*}")
  echo "\${setting#*=}" >"$file"
  mount --bind "$file" "root/proc/sys/\${setting%=*}"
done
hostname "$node"
cd root
pivot_root . mnt
umount -l /mnt
cd /
mount --make-rshared /
[ "$(stat -f -c %T /)" = overlayfs ]
mkdir -p /run/programs /run/netns
echo 1 >/proc/sys/net/ipv4/ip_forward
for program in ${keptPrograms.join(' ')}; do
  while :; do
    [ -e "/run/programs/$program.stopped" ] ||
      sh -c 'echo $$ >"/run/programs/$0.pid"; . "/etc/programs/$0"' "$program" >>"/var/log/$program.log" 2>&1 || true
    sleep 1
  done &
done
echo ready
exec 3<&0
cat <&3 >/dev/null &
wait $!
`

/** Makes a node in a private host that has a bridge "switch". It is off. */
export function makeNodeMachine(room: PrivateHost, options: NodeMachineOptions): NodeMachine {
  const { name, address, release } = options
  const group = join(room.cgroup, name)
  let on: { readonly child: ChildProcess; readonly ended: Promise<unknown>; readonly pid: number } | undefined
  const first = (): number => {
    if (!on) throw new Error(`node ${name} is off`)
    return on.pid
  }
  const command = (program: string, args: readonly string[]): [string, readonly string[]] => [
    findProgram('nsenter') ?? 'nsenter',
    [
      ...['--target', String(first()), '--mount', '--net', '--pid', '--uts', '--ipc', '--cgroup', '--'],
      ...['env', '-i', `PATH=${release.path}`, 'HOME=/root', 'LC_ALL=C', program, ...args],
    ],
  ]
  const must: NodeMachine['must'] = (program, args, more) => mustRun(...command(program, args), more)

  const boot = async (): Promise<void> => {
    removeCgroup(group)
    await room.must('ip', ['netns', 'add', name])
    await room.must('ip', ['-batch', '-'], {
      input: `link add ${name} type veth peer name eth0 netns ${name}\nlink set ${name} master switch up\n`,
    })
    await room.must('ip', ['-netns', name, '-batch', '-'], {
      input: [
        ...['link set lo up', 'link set eth0 up', `address add ${address}/24 dev eth0`],
        `route add default via ${options.router}\n`,
      ].join('\n'),
    })
    const script = enter(machine)
    const [program, args] = room.command('sh', [
      ...['-c', script, 'sh', group, name],
      ...[options.disk, options.files, name, release.referencePlugins, ...options.shared],
    ])
    const child = spawn(program, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: systemPath, HOME: '/root' },
    })
    let complaint = ''
    child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
    const ended = once(child, 'exit')
    const ready = await Promise.race([once(child.stdout, 'data'), ended.then(() => undefined)])
    if (ready === undefined) throw new Error(`node ${name} did not boot: ${complaint.trim()}`)
    on = { child, ended, pid: onlyChildOf({ pid: onlyChildOf(child) }) }
  }
  const cut = async (): Promise<void> => {
    const { ended } = on ?? {}
    process.kill(first(), 'SIGKILL')
    on = undefined
    await ended
    // The pair of links is there for as long as something holds the namespace.
    await room.run('ip', ['link', 'delete', name])
    await room.must('ip', ['netns', 'delete', name])
  }
  const kill = (program: KeptProgram): Promise<string> =>
    must('sh', ['-c', `kill -KILL "$(cat /run/programs/${program}.pid)"`])
  return {
    ...{ name, address, release, boot, cut, must },
    path: file => join('/proc', String(first()), 'root', file),
    run: (program, args, more) => runProgram(...command(program, args), more),
    kill: async program => {
      await kill(program)
    },
    stop: async program => {
      await must('touch', [`/run/programs/${program}.stopped`])
      await kill(program)
    },
    start: async program => {
      await must('rm', ['-f', `/run/programs/${program}.stopped`])
    },
  }
}
