import { findLink } from './host-links.ts'
import { runCommands } from './ip-commands.ts'
import type { RunTool } from './run-tool.ts'

/**
 * Removes a link of the host that was seen: that very one, by its index, as another may have its name by now.
 *
 * @returns false when it was not there any more
 * @throws IPK_WIRING_FAILED, IPK_TOOL_MISSING
 */
export async function removeSeenLink(
  run: RunTool,
  { index, name }: { readonly index: number; readonly name: string },
): Promise<boolean> {
  const word = `if${index}`
  const found = await findLink(run, word)
  // A link may be called if7, and ip would take that one for the seventh.
  if (found?.index !== index || found.name !== name) return false
  const about = `remove ${name}`
  await runCommands(
    run,
    [{ place: 'host', words: ['link', 'delete', 'dev', word], about, missing: 'fine' }],
    undefined,
  )
  return true
}
