/**
 * A machine inside the machine: one set of mount, network and PID namespaces in which a rig runs everything it
 * starts. Two rigs at once cannot collide (each has its own bridges, routes, /run/netns and /var/lib/cni), and nothing
 * can be left behind: when its first process ends, the kernel kills all others and drops mounts, links and
 * namespaces. That process ends when its stdin closes, which the kernel also does for a test that was SIGKILLed.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { cgroupName, removeCgroup, removeStaleCgroups } from './cgroups.ts'
import { atProcessEnd } from './finish.ts'
import { findProgram } from './find-program.ts'
import { mustRun, runProgram, type Finished, type ProgramOptions } from './run-program.ts'

export interface PrivateHost {
  /** Absolute name of a control group for what runs inside; removed with the host. */
  readonly cgroup: string
  /** Program and arguments that run the given program inside. */
  command(program: string, args: readonly string[]): readonly [program: string, args: readonly string[]]
  /**
   * The same, but what is started becomes the program: signals reach it, and it does not see the processes inside. It is
   * to be ended by who started it.
   */
  become(program: string, args: readonly string[]): readonly [program: string, args: readonly string[]]
  /** Runs a program inside to its end. Its working directory is the root folder. */
  run(program: string, args: readonly string[], options?: ProgramOptions): Promise<Finished>
  /** The same for a step that must succeed. */
  must(program: string, args: readonly string[], options?: ProgramOptions): Promise<string>
  /** Kills everything inside, and with it every mount, link and namespace. */
  close(): Promise<void>
}

/** Folders that runtimes and plugins write to by default: each private host has its own, empty at first. */
export const ownFolders = ['/run/netns', '/run/containerd', '/var/lib/cni']

/**
 * The first process: mounts the folders, says so, and lives until its stdin closes. It waits in the shell, so that
 * orphans (containerd's shims) are reaped.
 */
const firstProcess = `
set -e
for folder in ${ownFolders.join(' ')}; do mount -t tmpfs -o mode=0755 tmpfs "$folder"; done
ip link set lo up
echo ready
exec 3<&0
cat <&3 >/dev/null &
wait $!
`

/** Starts a private host. Needs root, `ip`, and util-linux (`unshare`, `nsenter`: essential on Debian). */
export async function startPrivateHost(): Promise<PrivateHost> {
  // A mount needs the folder to be there; an empty one is all that this leaves on the real machine.
  for (const folder of ownFolders) mkdirSync(folder, { recursive: true, mode: 0o755 })
  const unshare = findProgram('unshare') ?? 'unshare'
  const namespaces = ['--mount', '--net', '--pid', '--fork', '--mount-proc', '--kill-child']
  const outer = spawn(unshare, [...namespaces, 'sh', '-c', firstProcess], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` },
  })
  // Ctrl-C reaches the whole foreground group; the host must outlive it until the clean-up has run.
  const ended = once(outer, 'close')
  let complaint = ''
  outer.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  const first: { pid?: number } = {}
  const cgroup = cgroupName(randomBytes(3).toString('hex'))
  removeStaleCgroups()
  const withdraw = atProcessEnd(() => {
    if (first.pid !== undefined) killAndWait(first.pid)
    outer.kill('SIGKILL')
    removeCgroup(cgroup)
  })
  const ready = await Promise.race([once(outer.stdout, 'data'), ended.then(() => undefined)])
  if (ready === undefined) {
    withdraw()
    throw new Error(`no private namespaces: ${complaint.trim()}`)
  }
  const target = onlyChildOf(outer)
  first.pid = target
  const nsenter = findProgram('nsenter') ?? 'nsenter'
  const enter = ['--target', String(target), '--mount', '--net']
  const command = (program: string, args: readonly string[]): readonly [string, readonly string[]] => [
    nsenter,
    [...enter, '--pid', '--', program, ...args],
  ]
  return {
    cgroup: `/${cgroup}`,
    command,
    become: (program, args) => [nsenter, [...enter, '--', program, ...args]],
    run: (program, args, options) => runProgram(...command(program, args), options),
    must: (program, args, options) => mustRun(...command(program, args), options),
    close: async () => {
      outer.stdin.end()
      await ended
      removeCgroup(cgroup)
      withdraw()
    },
  }
}

/** Sets a setting of the kernel inside, by its path below /proc/sys. */
export async function setSysctl(host: PrivateHost, setting: string, value: string): Promise<void> {
  await host.must('tee', [`/proc/sys/${setting}`], { input: value })
}

/** Kills the first process and waits, at most 2 s, until it has gone, and so everything inside with it. */
function killAndWait(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    return
  }
  const clock = new Int32Array(new SharedArrayBuffer(4))
  for (let tries = 0; tries < 200 && existsSync(`/proc/${pid}`); tries++) Atomics.wait(clock, 0, 0, 10)
}

/**
 * Process id (as seen from here) of the one child of a process, such as the program that `nsenter` started: signals
 * to `nsenter` itself are not passed on.
 */
export function onlyChildOf(parent: Pick<ChildProcess, 'pid'>): number {
  const pid = String(parent.pid)
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  if (child === undefined || child === '') throw new Error(`process ${pid} has no child`)
  return Number(child)
}
