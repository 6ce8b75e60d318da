import { missing } from '../test/rigs/requirements.ts'
import type { MainPluginPlan } from './plan.ts'
import { makePodSite, type PodSite } from './pod-site.ts'
import { median, rounded, summarize, type Summary } from './statistics.ts'

/** Times of both programs, taken in turns, and their quotient. */
export interface MainPluginLine {
  /** The last one: on a bridge with a port that is no pod, where it is asked first whether the address is free. */
  readonly what: 'ADD' | 'DEL' | 'RunPodSandbox' | 'StopPodSandbox' | 'ADD beside a machine'
  /** Pods that are on the node already. */
  readonly pods: number
  readonly atOnce: number
  readonly ipkeeper: Summary
  readonly reference: Summary
  /** Median / median. */
  readonly toReference: number
  /** Median / that of a node without pods, asked in turns with this one; null where that was not measured. */
  readonly toEmpty: number | null
}

export interface MainPluginFigures {
  readonly lines: readonly MainPluginLine[]
}

type What = MainPluginLine['what']
type Samples = Map<string, number[]>

function note(samples: Samples, name: string, values: readonly number[]): void {
  samples.set(name, [...(samples.get(name) ?? []), ...values])
}

/**
 * The whole plugin in bridge mode against the reference bridge with host-local, with the same features: gateway, hairpin,
 * one IPv4 range, a default route. Both are asked in turns, and a third node without other pods with them: whatever the
 * machine does meanwhile, it does to all.
 */
export async function measureMainPlugin(
  plan: MainPluginPlan,
  progress: (line: string) => void,
): Promise<MainPluginFigures> {
  const withContainerd = missing('containerd') === false
  const namespaces = Math.max(...plan.atOnce)
  const ipkeeper = await makePodSite('ipkeeper', { withContainerd, namespaces })
  const reference = await makePodSite('bridge', { withContainerd, namespaces })
  const empty = await makePodSite('ipkeeper', { withContainerd: false, namespaces })
  const sites: readonly (readonly [string, PodSite])[] = Object.entries({ ipkeeper, reference, empty })
  try {
    for (const [, site] of sites) await site.addAndDelete(namespaces, 1)
    const lines = await besideMachine(empty, reference, plan)
    for (const pods of plan.levels) {
      progress(`main plugin: ${pods} pods`)
      for (const site of [ipkeeper, reference]) await site.fillTo(pods)
      const samples: Samples = new Map()
      const inTurns = async (
        turn: number,
        ask: (name: string, site: PodSite) => Promise<void>,
      ): Promise<void> => {
        // The order shifts, so that none always runs in the wake of the same other.
        for (let place = 0; place < sites.length; place++) {
          const [name, site] = sites[(place + turn) % sites.length] ?? []
          if (name !== undefined && site !== undefined) await ask(name, site)
        }
      }
      for (const atOnce of plan.atOnce) {
        for (let turn = 0; turn < (atOnce === 1 ? plan.samples : plan.crowds); turn++) {
          await inTurns(turn, async (name, site) => {
            const { add, del } = await site.addAndDelete(atOnce, atOnce)
            note(samples, `ADD ${atOnce} ${name}`, add.each)
            note(samples, `DEL ${atOnce} ${name}`, del.each)
          })
        }
      }
      for (let turn = 0; turn < (withContainerd ? plan.sandboxes : 0); turn++) {
        await inTurns(turn, async (name, site) => {
          const times = await site.sandbox?.()
          if (times === undefined) return
          note(samples, `RunPodSandbox 1 ${name}`, [times.runMs])
          note(samples, `StopPodSandbox 1 ${name}`, [times.stopMs])
        })
      }
      const line = (what: What, atOnce: number): MainPluginLine => {
        const of = (name: string): readonly number[] => samples.get(`${what} ${atOnce} ${name}`) ?? []
        const [ours, theirs, without] = [of('ipkeeper'), of('reference'), of('empty')]
        return {
          ...{ what, pods, atOnce },
          ipkeeper: summarize(ours),
          reference: summarize(theirs),
          toReference: rounded(median(ours) / median(theirs)),
          toEmpty: without.length === 0 ? null : rounded(median(ours) / median(without)),
        }
      }
      lines.push(
        ...plan.atOnce.flatMap(atOnce => [line('ADD', atOnce), line('DEL', atOnce)]),
        ...(withContainerd ? [line('RunPodSandbox', 1), line('StopPodSandbox', 1)] : []),
      )
    }
    return { lines }
  } finally {
    for (const [, site] of sites) await site.close()
  }
}

/** While nobody else is on the node. No budget is for it: the asking alone takes a second. */
async function besideMachine(
  ours: PodSite,
  reference: PodSite,
  { atOnce, crowds }: MainPluginPlan,
): Promise<MainPluginLine[]> {
  const unplug = await ours.plugIn()
  const lines: MainPluginLine[] = []
  for (const pods of atOnce) {
    const samples: Record<'ours' | 'theirs', number[]> = { ours: [], theirs: [] }
    for (let turn = 0; turn < crowds; turn++) {
      samples.ours.push(...(await ours.addAndDelete(pods, pods)).add.each)
      samples.theirs.push(...(await reference.addAndDelete(pods, pods)).add.each)
    }
    lines.push({
      ...{ what: 'ADD beside a machine', pods: 0, atOnce: pods, toEmpty: null },
      ipkeeper: summarize(samples.ours),
      reference: summarize(samples.theirs),
      toReference: rounded(median(samples.ours) / median(samples.theirs)),
    })
  }
  await unplug()
  return lines
}
