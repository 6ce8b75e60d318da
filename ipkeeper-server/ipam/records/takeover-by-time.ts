import type { MainConfig } from './main-config.ts'
import { leavesNode } from './main-config.ts'
import { spellTime, type Silence } from './last-contact.ts'
import type { LeaseRecord } from './records.ts'

/**
 * Whether an ADD may take addresses from a sandbox of another node that says nothing: where they stand on a link that both
 * nodes have, so that somebody who still has one can answer, and where this ADD asks before it uses them.
 */
export interface TakeoverByTime {
  readonly allowed: boolean
  /** For people: how it stands; undefined where takeover by time is no matter here. */
  readonly says: string | undefined
}

const noMatter: TakeoverByTime = { allowed: false, says: undefined }

/**
 * @param leases what the sandbox has
 * @param main of the ADD; undefined in the IPAM role
 * @param silence of the sandbox's node
 */
export function judgeTakeover(
  node: string,
  leases: readonly Pick<LeaseRecord, 'carried'>[],
  main: Pick<MainConfig, 'mode' | 'duplicateProbe'> | undefined,
  silence: Silence,
): TakeoverByTime {
  if (silence.kind === 'off') return noMatter
  const onLink = leases.length > 0 && leases.every(({ carried }) => carried === 'link')
  if (!onLink || main === undefined || !leavesNode(main.mode)) {
    const says = 'takeover by time is for modes underlay and macvlan only'
    return { allowed: false, says }
  }
  if (!main.duplicateProbe)
    return {
      allowed: false,
      says: 'no takeover by time: "duplicateProbe" is false in the network\'s configuration',
    }
  return { allowed: silence.kind === 'over', says: describeSilence(node, silence) }
}

/** "node n1 has been silent for 4 min; takeover by time in 6 min", and the like; undefined where nothing is counted. */
export function describeSilence(node: string, silence: Silence): string | undefined {
  switch (silence.kind) {
    case 'off':
      return undefined
    case 'unpromised':
      return `no takeover by time: node ${node} does not tell that it lives ("takeover.byTime" is off there)`
    case 'counting':
      return (
        `node ${node} has been silent for ${spellTime(silence.silentFor)}; ` +
        `takeover by time in ${spellTime(silence.needed - silence.silentFor)} unless it is heard of`
      )
    case 'over':
      return `node ${node} has been silent for ${spellTime(silence.silentFor)}, long enough for a takeover by time`
  }
}
