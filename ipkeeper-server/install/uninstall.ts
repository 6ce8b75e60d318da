import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Problem } from '../../shared/problem/problem.ts'
import { counted } from '../../shared/text/counted.ts'
import { readNetworks } from '../conf-dir/read-conf-dir.ts'
import { usesIpkeeper } from '../diagnose/lint/uses-ipkeeper.ts'
import { renameDurably, syncFolder } from '../host/durable-file.ts'

export interface Removal {
  readonly binDir: string
  readonly confDir: string
  /** Name of the network configuration that was installed. */
  readonly conflist: string
  /** How many sandboxes of this node the daemon has attachments for. Rejects when it does not answer. */
  readonly attachments: () => Promise<number>
  /** Remove the plugin although pods may need it. */
  readonly force: boolean
}

/** Behind the name of what is put aside; no runtime reads a file that ends so. */
const aside = '.uninstalled'

/**
 * Takes ipkeeper away from a node: the network first, so that no new pod gets it, and the plugin only when no pod needs it
 * any more. A network that somebody may have adapted is put aside, not removed.
 *
 * @returns what was done and what stays, in lines
 * @throws Problem IPK_UNINSTALL_REFUSED
 */
export async function uninstall({ binDir, confDir, conflist, attachments, force }: Removal): Promise<string> {
  const lines: string[] = []
  const path = join(confDir, conflist)
  const users = async (): Promise<readonly string[]> =>
    (await readNetworks(confDir)).filter(({ plugins }) => plugins.some(usesIpkeeper)).map(({ path }) => path)
  if ((await users()).includes(path)) {
    await renameDurably(path, `${path}${aside}`)
    lines.push(`put aside ${path}${aside}`)
  }
  const plugin = join(binDir, 'ipkeeper')
  const refused = (why: string, hint: string): Problem =>
    new Problem('IPK_UNINSTALL_REFUSED', `${plugin} stays: ${why}`, { hint, details: lines.join('\n') })
  const there = existsSync(plugin)
  const left = await users()
  if (there && left.length > 0 && !force)
    throw refused(
      `${left.join(', ')} names it`,
      `ipkeeper-server uninstall --conflist ${basename(left[0] ?? '')}`,
    )
  if (there && !force) {
    const count = await attachments().catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error)
      throw refused(`whether pods need it is not known (${why})`, 'systemctl start ipkeeper, or add --force')
    })
    if (count > 0)
      throw refused(
        `${counted(count, 'sandbox needs', 'sandboxes need')} it to be ended`,
        'drain the node, then: ipkeeper-server uninstall (ipkeeperctl attachments lists them)',
      )
  }
  if (there) {
    await rm(plugin)
    await syncFolder(binDir)
    lines.push(`removed ${plugin}`)
  } else lines.push(`there is no ${plugin}`)
  lines.push(
    'what stays: the state folder with the ledger and its history, the configuration, bridges without ports',
  )
  return lines.map(line => `${line}\n`).join('')
}
