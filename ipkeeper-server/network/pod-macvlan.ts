import { listLinks } from './host-links.ts'
import { runCommands } from './ip-commands.ts'
import { ownMacvlan } from './plan/macvlan.ts'
import type { PodNamespace } from './pod-namespace.ts'
import type { RunTool } from './run-tool.ts'

/**
 * Takes the macvlan of an attachment out of its pod, and nobody else's; closes the namespace. A look comes first, as the
 * interface may be another plugin's by now.
 *
 * @param namespace undefined when it is gone, and the link with it
 * @param wired what the record says of the link; undefined where there is none
 */
export async function removeMacvlan(
  run: RunTool,
  namespace: PodNamespace | undefined,
  alias: string,
  wired?: { readonly ifname: string; readonly macs: readonly string[] },
): Promise<void> {
  if (!namespace) return
  try {
    const links = await listLinks(run, ['type', 'macvlan'], namespace.fd)
    const own = ownMacvlan(links, alias, wired)
    if (!own) return
    const removal = {
      place: 'pod',
      words: ['link', 'delete', 'dev', own.name],
      about: `remove ${own.name} of the pod`,
      missing: 'fine',
    } as const
    await runCommands(run, [removal], namespace.fd)
  } finally {
    namespace.close()
  }
}
