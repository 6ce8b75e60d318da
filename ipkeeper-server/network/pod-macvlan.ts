import { listLinks, type LinkState } from './host-links.ts'
import { runCommands } from './ip-commands.ts'
import { linkWord } from './plan/command.ts'
import { ownMacvlan } from './plan/macvlan.ts'
import type { LinkNames } from './plan/wiring-job.ts'
import type { PodNamespace } from './pod-namespace.ts'
import type { RunTool } from './run-tool.ts'

/**
 * Takes the macvlan of an attachment out of its pod, and nobody else's; closes the namespace. A look comes first, as the
 * interface may be another plugin's by now. Who may change links in the pod cannot make it fail: what is told of its links
 * and cannot be understood is not ours.
 *
 * @param namespace undefined when it is gone, and the link with it
 */
export async function removeMacvlan(
  run: RunTool,
  namespace: PodNamespace | undefined,
  names: Pick<LinkNames, 'alias' | 'hostLink'>,
): Promise<void> {
  if (!namespace) return
  try {
    const links = await understoodLinks(run, namespace.fd)
    const own = ownMacvlan(links, names)
    if (!own) return
    const removal = {
      place: 'pod',
      words: ['link', 'delete', 'dev', linkWord(own)],
      about: `remove macvlan ${own.index} of the pod`,
      missing: 'fine',
    } as const
    await runCommands(run, [removal], namespace.fd)
  } finally {
    namespace.close()
  }
}

async function understoodLinks(run: RunTool, fd: number): Promise<readonly LinkState[]> {
  try {
    return await listLinks(run, ['type', 'macvlan'], fd)
  } catch (error) {
    // Such as a list that was cut off, since it is too long.
    if (error instanceof SyntaxError) return []
    throw error
  }
}
