import { Problem } from '../problem/problem.ts'
import { containerIdFault, interfaceNameFault, type IdentifierFault } from './identifiers.ts'
import { isVerb, type Verb } from './versions.ts'

/** What the environment says one run of the plugin is to do; variables that are not set are ''. */
export interface CniEnvironment {
  /** CNI_COMMAND as it was set; `verb` is undefined when it is none that the specification has. */
  readonly command: string
  readonly verb: Verb | undefined
  readonly containerId: string
  readonly netns: string
  readonly ifname: string
  /** Raw CNI_ARGS. */
  readonly args: string
  readonly path: string
  /** CNI_NETNS_OVERRIDE: the caller says that CNI_NETNS may be the plugin's own namespace (cni-protocol B8). */
  readonly netnsOverride: boolean
}

export type Environment = Readonly<Record<string, string | undefined>>

interface Variable {
  readonly name: string
  readonly requiredFor: readonly Verb[]
  /** Asked only where the variable is required and not empty; what a verb does not use is not looked at. */
  readonly fault?: (value: string) => IdentifierFault | undefined
}

/** Which verb needs what, in the order in which missing ones are listed (cni:pkg/skel; cni-protocol 1.B). */
const variables: readonly Variable[] = [
  { name: 'CNI_CONTAINERID', requiredFor: ['ADD', 'CHECK', 'DEL'], fault: containerIdFault },
  { name: 'CNI_NETNS', requiredFor: ['ADD', 'CHECK'] },
  { name: 'CNI_IFNAME', requiredFor: ['ADD', 'CHECK', 'DEL'], fault: interfaceNameFault },
  { name: 'CNI_PATH', requiredFor: ['ADD', 'CHECK', 'DEL', 'GC', 'STATUS'] },
]

/**
 * Reads CNI_* as the reference library does: the first value that is not valid is reported before all that are
 * missing. A command that is no verb passes, with `verb` undefined: it is reported only after stdin was decoded.
 *
 * @throws Problem IPK_ENVIRONMENT (CNI code 4)
 */
export function readEnvironment(env: Environment): CniEnvironment {
  const command = env['CNI_COMMAND'] ?? ''
  const verb = isVerb(command) ? command : undefined
  const missing = command === '' ? ['CNI_COMMAND'] : []
  for (const { name, requiredFor, fault } of variables) {
    if (verb === undefined || !requiredFor.includes(verb)) continue
    const value = env[name] ?? ''
    if (value === '') {
      missing.push(name)
      continue
    }
    const found = fault?.(value)
    if (found === undefined) continue
    // The specification wants the variable's name in the error, which the library's message lacks (row B4).
    const details = `${name}: ${found.details === '' ? value : found.details}`
    throw new Problem('IPK_ENVIRONMENT', found.message, { details })
  }
  if (missing.length > 0) {
    throw new Problem('IPK_ENVIRONMENT', `required env variables [${missing.join(',')}] missing`)
  }
  const override = env['CNI_NETNS_OVERRIDE']?.toLowerCase()
  return {
    command,
    verb,
    containerId: env['CNI_CONTAINERID'] ?? '',
    netns: env['CNI_NETNS'] ?? '',
    ifname: env['CNI_IFNAME'] ?? '',
    args: env['CNI_ARGS'] ?? '',
    path: env['CNI_PATH'] ?? '',
    netnsOverride: override === '1' || override === 'true',
  }
}
