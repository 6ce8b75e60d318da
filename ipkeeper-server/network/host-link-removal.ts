import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { runCommands } from './ip-commands.ts'
import type { RunTool } from './run-tool.ts'

/** Milliseconds between two looks at the list of links. */
const pauseMs = 2

/** Names of the links of the namespace that this process runs in. */
async function hasLink(name: string): Promise<boolean> {
  return (await readFile('/proc/net/dev', 'utf8')).includes(`${name}:`)
}

/**
 * Removes links of the host. The kernel first takes a link out of its lists, and the routes by it away; then it waits for
 * all CPUs to have noticed, which is most of the time of `ip link delete` and nothing that a DEL has to wait for.
 */
export class HostLinkRemoval {
  readonly #run: RunTool
  readonly #endings = new Set<Promise<unknown>>()

  constructor(run: RunTool) {
    this.#run = run
  }

  /** Resolves when the host has no link of that name any more. Throws CommandRefused, IPK_TOOL_MISSING. */
  async remove(name: string): Promise<void> {
    let ended = false
    const removal = runCommands(
      this.#run,
      [
        {
          place: 'host',
          words: ['link', 'delete', 'dev', name],
          about: `remove ${name}`,
          missing: 'fine',
        },
      ],
      undefined,
    ).finally(() => {
      ended = true
      this.#endings.delete(removal)
    })
    this.#endings.add(removal)
    const unlisted = async (): Promise<void> => {
      while (!ended && (await hasLink(name))) await delay(pauseMs)
    }
    // The kernel would not list again what it has let go of; a refusal comes before it lets go.
    await Promise.race([removal, unlisted()])
  }

  /** Resolves when no removal is under way any more. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#endings)
  }
}
