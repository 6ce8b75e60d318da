import { readdirSync } from 'node:fs'
import { pluginInput } from './plugin-call.ts'
import { pluginType } from './read-network.ts'
import { failure, remark, warning, type Earlier, type TryFinding } from './report.ts'
import { runStep } from './run-cni-plugin.ts'
import { isOwnName, type ScratchNamespaces } from './scratch-namespace.ts'
import { leftNotes, removeNote, type TryNote } from './try-notes.ts'
import { failedBy } from '../../../shared/system-code.ts'

export interface EarlierParts {
  readonly stateDir: string
  readonly namespaces: ScratchNamespaces
  readonly env: Readonly<Record<string, string | undefined>>
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Sends the DELs of tries that were killed before they could, and deletes their namespaces. */
export async function cleanEarlier({
  stateDir,
  namespaces,
  env,
  now,
}: EarlierParts): Promise<readonly Earlier[]> {
  const { notes, unusable } = leftNotes(stateDir, now)
  const earlier: Earlier[] = unusable.map(what => ({
    namespace: '',
    findings: [warning(`a note of an earlier try cannot be used: ${what}`, 'look at it, and remove it')],
  }))
  for (const note of notes) {
    const findings: TryFinding[] = [remark('an earlier try was killed before it had cleaned up')]
    findings.push(...(await sendDels(note, env)))
    if (!(await namespaces.remove(note.namespace)))
      findings.push(failure('its namespace cannot be deleted', `ip netns delete ${note.namespace}`))
    removeNote(stateDir, note.namespace)
    earlier.push({ namespace: note.namespace, findings })
  }
  return [...earlier, ...withoutNote()]
}

async function sendDels(note: TryNote, env: EarlierParts['env']): Promise<readonly TryFinding[]> {
  const { network, attachment, timeoutMs, result } = note
  const findings: TryFinding[] = []
  for (const plugin of network.plugins.toReversed()) {
    const stdin = pluginInput(network, plugin, attachment, result ?? undefined)
    const { step, verdict } = await runStep({
      ...{ verb: 'DEL', plugin: pluginType(plugin), attachment, stdin, env, timeoutMs },
      cniVersion: network.cniVersion,
      judge: () => Promise.resolve([]),
    })
    findings.push(
      verdict.succeeded ? remark(`DEL of ${step.plugin} sent`) : failure(step.runtimeSays ?? 'DEL failed'),
    )
  }
  return findings
}

/** Of a try with another state folder: only that one knows which DELs are owed. */
function withoutNote(): readonly Earlier[] {
  let names: readonly string[]
  try {
    names = readdirSync('/run/netns')
  } catch {
    return []
  }
  return names
    .filter(isOwnName)
    .filter(isOrphan)
    .map(namespace => ({
      namespace,
      findings: [
        warning(
          'an earlier try, with another --state-dir, was killed before it had cleaned up',
          `name its --state-dir; without one: ip netns delete ${namespace}`,
        ),
      ],
    }))
}

function isOrphan(namespace: string): boolean {
  const [, pid] = /-([0-9]+)-/.exec(namespace) ?? []
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return failedBy(error, 'ESRCH')
  }
}
