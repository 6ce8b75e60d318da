import { spawnSync } from 'node:child_process'
import { closeSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { distFolder, findReferencePlugins } from '../test/rigs/requirements.ts'
import { makeTempFolder } from '../test/rigs/temp-folder.ts'
import { makeDaemonHome } from './measured-daemon.ts'
import type { WholeProcessPlan } from './plan.ts'
import { median, rounded, summarize, type Summary } from './statistics.ts'
import { WaitingInput } from '../scripts/waiting-input.ts'
import { freshPod, networkConfig, type FreshPod } from './workload.ts'

export interface WholeProcessLine extends Summary {
  readonly program: string
  readonly verb: 'ADD' | 'DEL' | null
  /** Median, as a multiple of the trivial executable's. */
  readonly toTrivial: number
  /** Median over the rounds of the quotient within the round; drift of the machine cancels out. */
  readonly toTrivialPaired: number
}

/** A program that is started once in its turn of each round, or twice for a pair of verbs. */
interface Contestant {
  readonly program: string
  readonly path: string
  readonly verbs: readonly ('ADD' | 'DEL' | null)[]
  readonly input: string
}

/** What is not there is left out: host-local is a Debian package of its own. */
function contestants(config: (ipam: 'ipkeeper' | 'host-local') => object): readonly Contestant[] {
  const input = (ipam: 'ipkeeper' | 'host-local'): string => JSON.stringify(config(ipam))
  const reference = findReferencePlugins()
  const own = input('ipkeeper')
  return [
    { program: '/bin/true', path: '/bin/true', verbs: [null], input: own },
    { program: 'trivial', path: join(distFolder, 'trivial'), verbs: [null], input: own },
    { program: 'ipkeeper', path: join(distFolder, 'ipkeeper'), verbs: ['ADD', 'DEL'], input: own },
    ...(reference === undefined
      ? []
      : [
          {
            program: 'host-local',
            path: join(reference, 'host-local'),
            verbs: ['ADD', 'DEL'] as const,
            input: input('host-local'),
          },
        ]),
  ]
}

/**
 * Milliseconds from before the start of a program until its exit and the end of its output are known. spawnSync, not
 * spawn: it waits in one system call, so nothing of this process (its event loop, its garbage collection, another
 * callback) runs beside the program or delays the moment at which its end is noticed.
 */
function timeRun(
  { path, program }: Contestant,
  verb: 'ADD' | 'DEL' | null,
  pod: FreshPod,
  stdin: number,
): number {
  // The same for all, also for those that do not look.
  const env = {
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    CNI_COMMAND: verb ?? 'ADD',
    CNI_CONTAINERID: pod.containerId,
    CNI_NETNS: pod.netns,
    CNI_IFNAME: pod.ifname,
    CNI_ARGS: pod.args,
    CNI_PATH: '/opt/cni/bin',
  }
  const started = performance.now()
  const { status, stdout, stderr } = spawnSync(path, [], {
    env,
    stdio: [stdin, 'pipe', 'pipe'],
    timeout: 60_000,
  })
  const ms = performance.now() - started
  if (status !== 0) {
    throw new Error(
      `${program} ${verb ?? ''}: exit ${String(status)}\n${stderr.toString()}${stdout.toString()}`,
    )
  }
  return ms
}

/**
 * Whole life of each program, round-robin in one run: whatever the machine does meanwhile, it does to all of them. The
 * order shifts by one each round, so that none always runs in the wake of the same other.
 */
export async function measureWholeProcess(
  plan: WholeProcessPlan,
  progress: (line: string) => void,
): Promise<readonly WholeProcessLine[]> {
  const trivial = join(distFolder, 'trivial')
  if (!existsSync(trivial)) throw new Error(`${trivial} is missing: "make bench" builds it`)
  const folder = makeTempFolder()
  const home = makeDaemonHome(folder, 'd')
  const places = { socket: home.socket, stateDir: home.stateDir, dataDir: folder.file('host-local') }
  const waiting = new WaitingInput(folder.file('stdin'))
  const all = contestants(ipam => networkConfig(ipam, places))
  const daemon = await home.start()
  progress(`whole process: ${plan.rounds} rounds of ${all.map(one => one.program).join(', ')}`)

  const series = new Map<string, number[]>()
  for (let round = -plan.warmUp; round < plan.rounds; round++) {
    const pod = freshPod()
    for (let place = 0; place < all.length; place++) {
      const contestant = all[(place + round + plan.warmUp) % all.length]
      for (const verb of contestant?.verbs ?? []) {
        if (!contestant) continue
        const stdin = waiting.open(contestant.input)
        const ms = timeRun(contestant, verb, pod, stdin)
        closeSync(stdin)
        const name = `${contestant.program} ${verb ?? ''}`
        if (round >= 0) series.set(name, [...(series.get(name) ?? []), ms])
      }
    }
    // Signals are heard only between two turns of the event loop.
    await turn()
  }
  await daemon.stop()
  folder.remove()

  const yardstick = series.get('trivial ') ?? []
  return all.flatMap(({ program, verbs }) =>
    verbs.map(verb => {
      const samples = series.get(`${program} ${verb ?? ''}`) ?? []
      const quotients = samples.map((ms, round) => ms / (yardstick[round] ?? NaN))
      return {
        program,
        verb,
        ...summarize(samples),
        toTrivial: rounded(median(samples) / median(yardstick)),
        toTrivialPaired: rounded(median(quotients)),
      }
    }),
  )
}
