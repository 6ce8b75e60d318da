import { missing } from '../test/rigs/requirements.ts'
import { SeededRandom } from '../test/rigs/seeded-random.ts'
import { findExecutables, findReferences, type ToReferences } from './measured-plugins.ts'
import type { MainPluginPlan } from './plan.ts'
import type { RunFigures } from './plugin-runner.ts'
import { makePodSite, wirings, type PodSite, type Wiring } from './pod-site.ts'
import { median, rounded, summarize, summarizeRuns, type RunSummary, type Summary } from './statistics.ts'

/** Times of one contestant at one number of pods, and their quotients by those that were taken in turns with them. */
export interface MainPluginLine {
  /**
   * "all ADDs" is the time until the last of so many at once has ended. "ADD beside a machine" is on a bridge with a port that is
   * no pod, where it is asked first whether the address is free.
   */
  readonly what:
    'ADD' | 'DEL' | 'all ADDs' | 'all DELs' | 'RunPodSandbox' | 'StopPodSandbox' | 'ADD beside a machine'
  /** Pods that are on the node already. */
  readonly pods: number
  readonly atOnce: number
  /** ipkeeper's executable; null for the reference plugins. */
  readonly plugin: 'static' | 'Node' | null
  /** How ipkeeper's daemon wires; null for the reference plugins. */
  readonly wiring: Wiring | null
  /** Version of the reference plugins; null for ipkeeper. */
  readonly reference: string | null
  /** More than times where it is processes of the plugin that were measured. */
  readonly times: Summary | RunSummary
  /** Median / that of bridge with host-local. */
  readonly toReferences: ToReferences
  /** Median / that of a node without pods, asked in turns with this one; null where that was not measured. */
  readonly toEmpty: number | null
}

export interface MainPluginFigures {
  readonly lines: readonly MainPluginLine[]
}

/** One that wires pods at a site, with the plugins of a folder. */
export interface Contestant extends Pick<MainPluginLine, 'plugin' | 'wiring' | 'reference'> {
  readonly site: PodSite
  readonly folder: string
  /** Beside pods that are there, or on a node without. */
  readonly isFilled: boolean
}

/** Of a process of the plugin, or of something that takes nothing but time. */
type Sample = RunFigures | Pick<RunFigures, 'ms'>

const isRun = (sample: Sample): sample is RunFigures => 'processorMs' in sample

/** Samples of one kind. */
export class Series extends Map<Contestant, Sample[]> {
  static of(contestants: readonly Contestant[]): Series {
    return new Series(contestants.map(one => [one, []]))
  }

  note(contestant: Contestant, ...samples: readonly Sample[]): void {
    this.get(contestant)?.push(...samples)
  }
}

/** In turns, each time in another order, so that none always runs in the wake of the same other. */
async function inTurns(
  contestants: readonly Contestant[],
  turns: number,
  ask: (contestant: Contestant) => Promise<void>,
): Promise<void> {
  const random = new SeededRandom(1)
  for (let turn = 0; turn < turns; turn++)
    for (const contestant of random.shuffle(contestants)) await ask(contestant)
}

const msOf = (samples: readonly Sample[]): readonly number[] => samples.map(({ ms }) => ms)

/** A line for each of those that have samples of this kind, but for those of the empty node, which others are compared with. */
export function linesOf(
  series: Series,
  shape: Pick<MainPluginLine, 'what' | 'pods' | 'atOnce'>,
): MainPluginLine[] {
  return [...series].flatMap(([{ plugin, wiring, reference, isFilled }, runs]): MainPluginLine[] => {
    if (!isFilled) return []
    const quotient = (others: readonly Sample[]): number => rounded(median(msOf(runs)) / median(msOf(others)))
    const references = [...series].filter(([other]) => other.reference !== null)
    const [empty] = [...series].filter(
      ([other]) => !other.isFilled && other.plugin === plugin && other.wiring === wiring,
    )
    return [
      {
        ...shape,
        ...{ plugin, wiring, reference },
        times: runs.every(isRun) ? summarizeRuns(runs) : summarize(msOf(runs)),
        toReferences: Object.fromEntries(
          references.map(([other, theirs]) => [other.reference ?? '', quotient(theirs)]),
        ),
        toEmpty: empty === undefined ? null : quotient(empty[1]),
      },
    ]
  })
}

interface Site {
  readonly site: PodSite
  readonly isFilled: boolean
  /** null: of the reference plugins. */
  readonly wiring: Wiring | null
}

/** A node for each way of wiring, one for the reference plugins, and one that stays without pods. */
async function makeSites(namespaces: number): Promise<readonly Site[]> {
  const withContainerd = missing('containerd') === false
  const sites: Site[] = []
  for (const wiring of [...wirings, null]) {
    const site = await makePodSite({ wiring, withContainerd, namespaces })
    sites.push({ site, isFilled: true, wiring })
  }
  const site = await makePodSite({ wiring: wirings[0], withContainerd: false, namespaces })
  return [...sites, { site, isFilled: false, wiring: wirings[0] }]
}

function contestantsOf(sites: readonly Site[]): readonly Contestant[] {
  return sites.flatMap((site): readonly Contestant[] =>
    site.wiring === null
      ? findReferences().map(({ version, folder }) => ({ ...site, folder, plugin: null, reference: version }))
      : findExecutables().map(({ name, folder }) => ({ ...site, folder, plugin: name, reference: null })),
  )
}

/** So many pods that come and go at a time. */
async function measureCrowd(
  contestants: readonly Contestant[],
  { pods, atOnce }: Pick<MainPluginLine, 'pods' | 'atOnce'>,
  rounds: number,
): Promise<readonly MainPluginLine[]> {
  const series = {
    ADD: Series.of(contestants),
    DEL: Series.of(contestants),
    'all ADDs': Series.of(atOnce === 1 ? [] : contestants),
    'all DELs': Series.of(atOnce === 1 ? [] : contestants),
  }
  await inTurns(contestants, rounds, async one => {
    const { add, del } = await one.site.addAndDelete(one.folder, atOnce)
    series.ADD.note(one, ...add.each)
    series.DEL.note(one, ...del.each)
    series['all ADDs'].note(one, { ms: add.wholeMs })
    series['all DELs'].note(one, { ms: del.wholeMs })
  })
  return (['ADD', 'DEL', 'all ADDs', 'all DELs'] as const).flatMap(what =>
    linesOf(series[what], { what, pods, atOnce }),
  )
}

/** As after a node's start, without pods yet. Not with the plugin that holds a Node: a hundred of them need 4 GiB. */
async function measureBursts(
  contestants: readonly Contestant[],
  { bursts, burstRounds }: MainPluginPlan,
): Promise<readonly MainPluginLine[]> {
  const asked = contestants.filter(({ plugin }) => plugin !== 'Node')
  const lines: MainPluginLine[] = []
  for (const atOnce of bursts) lines.push(...(await measureCrowd(asked, { pods: 0, atOnce }, burstRounds)))
  return lines
}

/** Pods that come and go, each way of it, beside those that are there. */
async function measureLevel(
  contestants: readonly Contestant[],
  pods: number,
  plan: MainPluginPlan,
): Promise<readonly MainPluginLine[]> {
  const lines: MainPluginLine[] = []
  for (const atOnce of plan.atOnce) {
    const rounds = atOnce === 1 ? plan.samples : plan.crowds
    lines.push(...(await measureCrowd(contestants, { pods, atOnce }, rounds)))
  }
  const withSandboxes = contestants.filter(({ site }) => site.sandbox !== undefined)
  const [run, stop] = [Series.of(withSandboxes), Series.of(withSandboxes)]
  await inTurns(withSandboxes, plan.sandboxes, async one => {
    const times = await one.site.sandbox?.(one.folder)
    run.note(one, { ms: times?.runMs ?? NaN })
    stop.note(one, { ms: times?.stopMs ?? NaN })
  })
  return [
    ...lines,
    ...linesOf(run, { what: 'RunPodSandbox', pods, atOnce: 1 }),
    ...linesOf(stop, { what: 'StopPodSandbox', pods, atOnce: 1 }),
  ]
}

/** While nobody else is on the nodes. No budget is for it: the asking alone takes a second. */
async function besideMachine(
  contestants: readonly Contestant[],
  { atOnce, crowds }: MainPluginPlan,
): Promise<readonly MainPluginLine[]> {
  const one = contestants.find(({ plugin, isFilled }) => plugin !== null && isFilled)
  const others = contestants.filter(({ reference }) => reference !== null)
  if (one === undefined) return []
  const unplug = await one.site.plugIn()
  const lines: MainPluginLine[] = []
  for (const pods of atOnce) {
    const asked = [one, ...others]
    const series = Series.of(asked)
    await inTurns(asked, crowds, async each => {
      series.note(each, ...(await each.site.addAndDelete(each.folder, pods)).add.each)
    })
    lines.push(...linesOf(series, { what: 'ADD beside a machine', pods: 0, atOnce: pods }))
  }
  await unplug()
  return lines
}

/**
 * The whole plugin in bridge mode, each executable and each way of wiring, against the reference bridge with host-local, with the
 * same features: gateway, hairpin, one IPv4 range, a default route. All are asked in turns, and a node without other pods with
 * them: whatever the machine does meanwhile, it does to all.
 */
export async function measureMainPlugin(
  plan: MainPluginPlan,
  progress: (line: string) => void,
): Promise<MainPluginFigures> {
  const sites = await makeSites(Math.max(...plan.atOnce, ...plan.bursts))
  try {
    const contestants = contestantsOf(sites)
    for (const { site, folder } of contestants)
      for (let pair = 0; pair < plan.warmUp; pair++) await site.addAndDelete(folder, 1)
    const lines = [...(await besideMachine(contestants, plan)), ...(await measureBursts(contestants, plan))]
    for (const pods of plan.levels) {
      progress(`main plugin: ${pods} pods`)
      for (const { site, isFilled } of sites) {
        const folder = contestants.find(one => one.site === site)?.folder
        if (isFilled && folder !== undefined) await site.fillTo(folder, pods)
      }
      lines.push(...(await measureLevel(contestants, pods, plan)))
    }
    return { lines }
  } finally {
    for (const { site } of sites) await site.close()
  }
}
