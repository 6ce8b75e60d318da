import type { Finding } from '../../shared/api/audit.schema.ts'
import { findingKinds } from '../../shared/findings.ts'
import { suspectAddresses, suspectAnswers, suspectOwnAddresses } from './plan-addresses.ts'
import { suspectAttachments } from './plan-attachments.ts'
import { suspectConfig, suspectPools } from './plan-config.ts'
import { suspectLinks } from './plan-links.ts'
import { suspectLostNodes, suspectNames, suspectUnrecorded } from './plan-nodes.ts'
import { suspectSandboxes, suspectTwins } from './plan-sandboxes.ts'
import type { NodeSnapshot } from './plan-snapshot.ts'
import type { Action, Suspicion } from './plan-suspicion.ts'
import { limitsOf, type ReconcileSettings } from './plan-settings.ts'

/** How long a suspicion has lasted, by its key. */
export type Doubts = ReadonlyMap<string, Doubt>

export interface Doubt {
  /** In how many passes, one after another. */
  readonly passes: number
  /** Milliseconds of a clock that nobody sets. */
  readonly since: number
}

export interface Planned {
  /** The same for the same thing in the next pass. */
  readonly key: string
  readonly finding: Finding
  /** What is to be done in this pass: nothing, unless the finding is due and its mode says so. */
  readonly action: Action
}

export interface ReconcilePlan {
  readonly planned: readonly Planned[]
  /** For the next pass. */
  readonly doubts: Doubts
}

/**
 * What one look at the node finds, and what is to be done about it (DESIGN.md, rule 8). Pure: the daemon acts on
 * the plan, the audit prints it.
 *
 * @param doubts of the pass before
 * @param now milliseconds of a clock that nobody sets
 */
export function planReconcile(
  snapshot: NodeSnapshot,
  doubts: Doubts,
  settings: ReconcileSettings,
  now: number,
): ReconcilePlan {
  return planAll(
    rules.flatMap(suspect => suspect(snapshot, settings)),
    doubts,
    settings,
    now,
  )
}

/**
 * The same; others have a turn of the event loop between the rules.
 *
 * @param turn resolves when they had
 */
export async function planInTurns(
  turn: () => Promise<unknown>,
  ...[snapshot, doubts, settings, now]: Parameters<typeof planReconcile>
): Promise<ReconcilePlan> {
  const suspicions: Suspicion[] = []
  for (const suspect of rules) {
    for (const suspicion of suspect(snapshot, settings)) suspicions.push(suspicion)
    await turn()
  }
  return planAll(suspicions, doubts, settings, now)
}

/** In the order in which findings are listed. */
const rules: readonly ((snapshot: NodeSnapshot, settings: ReconcileSettings) => readonly Suspicion[])[] = [
  suspectAttachments,
  suspectSandboxes,
  suspectTwins,
  (snapshot, { links }) => suspectLinks(snapshot, links),
  suspectAddresses,
  suspectOwnAddresses,
  suspectLostNodes,
  suspectNames,
  suspectUnrecorded,
  suspectAnswers,
  suspectConfig,
  suspectPools,
]

function planAll(
  found: readonly Suspicion[],
  doubts: Doubts,
  settings: ReconcileSettings,
  now: number,
): ReconcilePlan {
  const suspicions = found.filter(({ kind }) => limitsOf(settings, kind).mode !== 'off')
  const next = new Map(
    suspicions.map(({ key }) => {
      const before = doubts.get(key)
      return [key, { passes: (before?.passes ?? 0) + 1, since: before?.since ?? now }]
    }),
  )
  return {
    planned: suspicions.map(suspicion => plan(suspicion, next.get(suspicion.key), settings, now)),
    doubts: next,
  }
}

function plan(
  suspicion: Suspicion,
  { passes, since }: Doubt = { passes: 1, since: 0 },
  settings: ReconcileSettings,
  now: number,
): Planned {
  const { kind, key, says, why, remedy, about, action, certainty } = suspicion
  const own = limitsOf(settings, kind)
  const proved = certainty.by === 'proof'
  const wanted = proved ? { passes: 1, age: own.minAge } : { passes: own.passes, age: own.minAgeUnproved }
  const age = certainty.age ?? now - since
  const certain = passes >= wanted.passes && age >= wanted.age
  const missing = [
    ...(age < wanted.age ? [`is ${seconds(age)} old, waits for ${seconds(wanted.age)}`] : []),
    ...(passes < wanted.passes ? [`seen in ${passes} of ${wanted.passes} passes`] : []),
  ]
  const acts = action.kind !== 'none' && own.mode === 'repair'
  return {
    key,
    action: certain && acts ? action : { kind: 'none' },
    finding: {
      kind,
      severity: findingKinds[kind].severity,
      says,
      why: certain ? why : `${why}; ${missing.join(', ')}`,
      remedy: remedy === '' && !acts ? 'set reconcile.mode to repair' : remedy,
      action: action.kind,
      state: !certain ? 'waiting' : action.kind === 'none' ? 'reported' : 'due',
      address: about.address ?? null,
      pod: about.pod ?? null,
      podUid: about.podUid ?? null,
      network: about.network ?? null,
      containerId: about.containerId ?? null,
      ifname: about.ifname ?? null,
      link: about.link ?? null,
    },
  }
}

const seconds = (milliseconds: number): string => `${Math.max(0, Math.floor(milliseconds / 1000))} s`
