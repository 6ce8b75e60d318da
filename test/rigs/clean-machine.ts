/**
 * A machine inside the machine that has never seen ipkeeper: all files of this one under a layer of its own, so that what
 * is installed, enabled or removed in there is gone with it, and a real systemd as first process. Beyond that it is a
 * private host: namespaces and control groups of its own, and nothing is left behind.
 *
 * Nothing of the real machine can be written from inside: its root is a lower layer only, and /tmp, /run and the like are
 * empty file systems of the machine. That is verified before systemd starts, which tidies up what it finds there.
 */
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { cgroupName, removeCgroup, removeStaleCgroups } from './cgroups.ts'
import { atProcessEnd } from './finish.ts'
import { enterCgroups, forgotten, mountMachine } from './machine-mounts.ts'
import { runProgram, type Finished, type ProgramOptions } from './run-program.ts'
import { makeTempFolder } from './temp-folder.ts'
import { hangMs } from './poll.ts'

export interface CleanMachine {
  /** The checkout as the machine has it: every change stays in there. */
  readonly checkout: string
  /** Runs a program inside to its end. */
  run(program: string, args: readonly string[], options?: ProgramOptions): Promise<Finished>
  /** Runs a script with `sh -eu` in the checkout, as somebody at a root shell would type it. */
  shell(script: string, options?: ProgramOptions): Promise<Finished>
  /** The same for a step that must succeed; gives its stdout. */
  readonly must: (script: string, options?: ProgramOptions) => Promise<string>
  /** Ends everything inside, and with it every mount, link and namespace. */
  close(): Promise<void>
}

const root = join(import.meta.dirname, '..', '..')
const systemd = '/lib/systemd/systemd'
const checkout = '/root/ipkeeper'

/** Units that would set what belongs to the kernel, and so to the real machine as well. */
const kept = [
  ...[
    'systemd-sysctl',
    'systemd-modules-load',
    'systemd-remount-fs',
    'systemd-udevd',
    'systemd-udev-trigger',
  ],
  ...['systemd-random-seed', 'systemd-timesyncd', 'systemd-tmpfiles-setup-dev', 'systemd-journal-flush'],
  ...['systemd-hwdb-update', 'systemd-binfmt', 'systemd-pstore', 'systemd-firstboot', 'ldconfig'],
]

/** Makes the root, changes into it, and becomes systemd. Arguments: an empty folder, the checkout. */
const start = `
set -eu
mount --make-rprivate /
work=$1 source=$2
mount -t tmpfs tmpfs "$work"
cd "$work"
mkdir root upper work checkout-upper checkout-work
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
${mountMachine(['run', 'tmp', 'var/tmp', 'var/log', 'var/lib/containerd'])}
mkdir -p "root${checkout}" root/mnt
mount -t overlay overlay -o "lowerdir=$source,upperdir=checkout-upper,workdir=checkout-work" "root${checkout}"
cd root
pivot_root . mnt
umount -l /mnt
cd /
# As systemd has it on a real machine; in what it takes for a container it leaves that to others.
mount --make-rshared /
# Whoever tidies up from here on must not reach what is real.
for folder in / /run /tmp /var/tmp /var/log; do mountpoint -q "$folder"; done
[ "$(stat -f -c %T /)" = overlayfs ]
[ -z "$(ls -A /tmp)" ]
rm -rf ${forgotten.join(' ')}
mkdir -p /etc/systemd/system
for unit in ${kept.join(' ')}; do ln -sf /dev/null "/etc/systemd/system/$unit.service"; done
ip link set lo up
echo node-1 >/etc/hostname
exec env -i container=ipkeeper-rig PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \\
  ${systemd} --system --unit=sysinit.target --log-target=null --show-status=0
`

/** Enters control groups of its own, starts the machine, and ends it when stdin closes, also for a test that was killed. */
const outer = `
set -eu
${enterCgroups('"$1"')}
exec 3<&0
unshare --mount --net --pid --cgroup --uts --ipc --fork --kill-child sh -c "$4" sh "$2" "$3" </dev/null &
machine=$!
cat <&3 >/dev/null &
reader=$!
# The kernel ends the rest before the first process is reaped, which unshare waits for.
end() {
  first=$(cat "/proc/$machine/task/$machine/children") || true
  kill -KILL \${first:-$machine} || true
  wait $machine || true
}
trap 'end; exit' TERM
wait $reader || true
end
`

export const hasSystemd = (): boolean => existsSync(systemd)

/**
 * Whether this machine can have another inside: overlays over what its root is (tried once), and a hierarchy of control
 * groups for each controller. In the unified one a group with processes gives nothing to groups below it, and a machine
 * would have to be put two levels down.
 */
export function canBeCleanMachine(): boolean {
  if (process.getuid?.() !== 0 || !existsSync('/sys/fs/cgroup/systemd/cgroup.procs')) return false
  works ??=
    spawnSync('unshare', [
      ...['--mount', '--net', '--pid', '--cgroup', '--fork', 'sh', '-ec'],
      'mount -t tmpfs t /mnt; cd /mnt; mkdir u w r; mount -t overlay o -o lowerdir=/,upperdir=u,workdir=w r',
    ]).status === 0
  return works
}
let works: boolean | undefined

/** Starts a clean machine and waits until its systemd answers. */
export async function startCleanMachine(): Promise<CleanMachine> {
  const folder = makeTempFolder()
  const cgroup = cgroupName(randomBytes(3).toString('hex'))
  removeStaleCgroups()
  const shell = spawn('sh', ['-c', outer, 'sh', cgroup, folder.path, root, start], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    // Ctrl-C is for the test, which then ends this one.
    detached: true,
  })
  const ended = once(shell, 'close')
  let complaint = ''
  shell.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  const withdraw = atProcessEnd(() => {
    shell.kill('SIGTERM')
    removeCgroup(cgroup)
  })
  const close = async (): Promise<void> => {
    shell.stdin.end()
    await ended
    removeCgroup(cgroup)
    withdraw()
    folder.remove()
  }

  const deadline = performance.now() + hangMs
  let first: number | undefined
  const run: CleanMachine['run'] = (program, args, options = {}) =>
    runProgram(
      'nsenter',
      [
        ...['--target', String(first), '--mount', '--net', '--pid', '--uts', '--ipc', '--cgroup', '--'],
        // tap has every Node below it load a file of the real checkout, wherever that is.
        ...['env', '-u', 'NODE_OPTIONS', program, ...args],
      ],
      {
        env: {
          HOME: '/root',
          PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
          LC_ALL: 'C',
        },
        ...options,
      },
    )
  for (;;) {
    first ??= firstProcess(shell.pid)
    if (first !== undefined) {
      const { stdout } = await run('systemctl', ['is-system-running'])
      if (/^(running|degraded)$/.test(stdout.trim())) break
    }
    if (shell.exitCode !== null || performance.now() > deadline) {
      await close()
      throw new Error(`no clean machine: ${complaint.trim()}`)
    }
    await delay(20)
  }
  const inShell: CleanMachine['shell'] = (script, options) =>
    run('sh', ['-euc', `cd ${checkout}\n${script}`], options)
  return {
    checkout,
    run,
    shell: inShell,
    must: async (script, options) => {
      const { exit, stdout, stderr } = await inShell(script, options)
      if (exit !== 0) throw new Error(`exit ${String(exit)} of: ${script}\n${stdout}${stderr}`)
      return stdout
    },
    close,
  }
}

/** Process id of systemd as seen from here, once it is systemd. */
function firstProcess(shell: number | undefined): number | undefined {
  const childrenOf = (pid: string): readonly string[] =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  try {
    const unshare = childrenOf(String(shell)).find(pid => nameOf(pid) === 'unshare')
    const [first] = unshare === undefined ? [] : childrenOf(unshare)
    return first !== undefined && nameOf(first) === 'systemd' ? Number(first) : undefined
  } catch {
    return undefined
  }
}

const nameOf = (pid: string): string => readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
