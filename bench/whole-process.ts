import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { distFolder } from '../test/rigs/requirements.ts'
import { SeededRandom } from '../test/rigs/seeded-random.ts'
import { makeTempFolder } from '../test/rigs/temp-folder.ts'
import { makeDaemonHome } from './measured-daemon.ts'
import { findExecutables, findReferences, type ToReferences } from './measured-plugins.ts'
import type { WholeProcessPlan } from './plan.ts'
import { startPluginRunner, type RunFigures } from './plugin-runner.ts'
import { median, rounded, summarizeRuns, type RunSummary } from './statistics.ts'
import { freshPod, networkConfig, pluginEnvironment } from './workload.ts'

type Verb = 'ADD' | 'DEL'

export interface WholeProcessLine extends RunSummary {
  /** "ipkeeper" is the plugin with Node, "ipkeeper-static" the one without. */
  readonly program: string
  readonly verb: Verb | null
  /** Median, as a multiple of the trivial executable's. */
  readonly toTrivial: number
  /** Median over the rounds of the quotient within the round; drift of the machine cancels out. */
  readonly toTrivialPaired: number
  /** Median, as a multiple of that of host-local for this verb. */
  readonly toReferences: ToReferences
}

/** A program that is started once in its turn of each round, or twice for a pair of verbs. */
interface Contestant {
  readonly program: string
  readonly path: string
  readonly verbs: readonly (Verb | null)[]
  readonly input: string
}

const programOf = { Node: 'ipkeeper', static: 'ipkeeper-static' } as const

/** What is not there is left out. */
function contestants(config: (ipam: 'ipkeeper' | 'host-local') => object): readonly Contestant[] {
  const input = (ipam: 'ipkeeper' | 'host-local'): string => JSON.stringify(config(ipam))
  const own = input('ipkeeper')
  return [
    { program: '/bin/true', path: '/bin/true', verbs: [null], input: own },
    { program: 'trivial', path: join(distFolder, 'trivial'), verbs: [null], input: own },
    ...findExecutables().map(({ name, folder }) => ({
      program: programOf[name],
      path: join(folder, 'ipkeeper'),
      verbs: ['ADD', 'DEL'] as const,
      input: own,
    })),
    ...findReferences().map(({ version, folder }) => ({
      program: `host-local ${version}`,
      path: join(folder, 'host-local'),
      verbs: ['ADD', 'DEL'] as const,
      input: input('host-local'),
    })),
  ]
}

/**
 * Whole life of each program, in turns in one run: whatever the machine does meanwhile, it does to all of them. Each round
 * has another order, so that none always runs in the wake of the same other.
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
  const all = contestants(ipam => networkConfig(ipam, places))
  const daemon = await home.start()
  const runner = startPluginRunner()
  progress(`whole process: ${plan.rounds} rounds of ${all.map(one => one.program).join(', ')}`)

  const random = new SeededRandom(1)
  const series = new Map<string, RunFigures[]>()
  for (let round = -plan.warmUp; round < plan.rounds; round++) {
    const pod = freshPod()
    for (const { program, path, verbs, input } of random.shuffle(all)) {
      for (const verb of verbs) {
        // The same for all, also for those that do not look.
        const run = { program: path, env: pluginEnvironment(verb ?? 'ADD', pod), input }
        const { each } = await runner.run({ runs: [run], atOnce: 1 })
        const name = `${program} ${verb ?? ''}`
        if (round >= 0) series.set(name, [...(series.get(name) ?? []), ...each])
      }
    }
    // Signals are heard only between two turns of the event loop.
    await turn()
  }
  await runner.close()
  await daemon.stop()
  folder.remove()

  const timesOf = (program: string, verb: Verb | null): readonly number[] =>
    (series.get(`${program} ${verb ?? ''}`) ?? []).map(({ ms }) => ms)
  const yardstick = timesOf('trivial', null)
  const references = findReferences().map(({ version }) => version)
  return all.flatMap(({ program, verbs }) =>
    verbs.map((verb): WholeProcessLine => {
      const samples = timesOf(program, verb)
      const quotients = samples.map((ms, round) => ms / (yardstick[round] ?? NaN))
      const quotient = (others: readonly number[]): number => rounded(median(samples) / median(others))
      return {
        program,
        verb,
        ...summarizeRuns(series.get(`${program} ${verb ?? ''}`) ?? []),
        toTrivial: quotient(yardstick),
        toTrivialPaired: rounded(median(quotients)),
        toReferences:
          verb === null
            ? {}
            : Object.fromEntries(
                references.map(version => [version, quotient(timesOf(`host-local ${version}`, verb))]),
              ),
      }
    }),
  )
}
