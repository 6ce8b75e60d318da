import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { runCommands } from '../ip-commands.ts'
import type { Command } from '../plan/command.ts'
import type { RunTool } from '../run-tool.ts'
import { findLink } from '../ip-show.ts'

/** Milliseconds between two looks whether a link is there. */
const pauseMs = 1

/**
 * Whether the namespace that this process runs in has a link of that name. Its folder of settings goes just after its name is
 * free again; to look for it costs some microseconds, however many links there are, and the list of /proc/net/dev as many
 * for each link. Every link with an MTU of at least 68 has such a folder, and a veth has no less.
 */
function hasLink(name: string): boolean {
  return existsSync(`/proc/sys/net/ipv4/conf/${name}`)
}

/** Removals at a time: what waits meanwhile goes together. */
const mostAtWork = 2

/** In which links are put that go together: nobody else would call a group so (0x69706b is "ipk"). */
const dyingGroup = String(0x69706b)

interface WaitingLink {
  readonly name: string
  readonly gone: () => void
  readonly refused: (reason: unknown) => void
}

/**
 * Removes links of the host. The kernel first takes a link out of its lists, and the routes by it away; then it waits for
 * all CPUs to have noticed, which is most of the time of `ip link delete` and nothing that a DEL has to wait for.
 */
export class HostLinkRemoval {
  readonly #run: RunTool
  /** Removals under way by the name of their link. */
  readonly #underWay = new Map<string, Promise<void>>()
  #waiting: WaitingLink[] = []
  #atWork = 0

  constructor(run: RunTool) {
    this.#run = run
  }

  /**
   * Resolves when the host has no link of that name any more. For one that is not there nothing is started, so that
   * nothing late can meet a link that gets the name a moment later. Throws CommandRefused, IPK_TOOL_MISSING.
   */
  async remove(name: string): Promise<void> {
    await this.settled(name)
    if (!hasLink(name)) return
    const removal = this.#underWay.get(name) ?? this.#start(name)
    const vanished = async (): Promise<void> => {
      while (this.#underWay.get(name) === removal && hasLink(name)) await delay(pauseMs)
    }
    // The kernel would not list again what it has let go of; a refusal comes before it lets go.
    await Promise.race([removal, vanished()])
  }

  /**
   * Resolves when no removal of that name is under way any more; to be awaited before a link of that name is made, as a
   * removal that has not reached the kernel yet would take the new one. Never throws: who asked for it is told.
   */
  async settled(name: string): Promise<void> {
    await this.#underWay.get(name)?.catch(() => undefined)
  }

  /** Resolves when no removal is under way any more. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#underWay.values())
  }

  #start(name: string): Promise<void> {
    const removal = new Promise<void>((gone, refused) => {
      this.#waiting.push({ name, gone, refused })
    }).finally(() => {
      this.#underWay.delete(name)
    })
    this.#underWay.set(name, removal)
    this.#serve()
    return removal
  }

  #serve(): void {
    if (this.#waiting.length === 0 || this.#atWork === mostAtWork) return
    const links = this.#waiting
    this.#waiting = []
    this.#atWork++
    void this.#carryOut(links).then(() => {
      this.#atWork--
      this.#serve()
    })
  }

  /** Never rejects. */
  async #carryOut(links: readonly WaitingLink[]): Promise<void> {
    // One that is refused must not keep the others: then each goes by itself.
    const together = links.length > 1 && (await this.#removeTogether(links).catch(() => false))
    for (const { name, gone, refused } of links)
      if (together) gone()
      else await runCommands(this.#run, [removalCommand('dev', name)], undefined).then(gone, refused)
  }

  async #removeTogether(links: readonly WaitingLink[]): Promise<true> {
    const marks = links.map(({ name }): Command => ({
      place: 'host',
      words: ['link', 'set', 'dev', name, 'group', dyingGroup],
      about: `put ${name} among those to be removed`,
      missing: 'fine',
    }))
    await runCommands(this.#run, [...marks, removalCommand('group', dyingGroup)], undefined)
    return true
  }
}

const removalCommand = (what: 'dev' | 'group', name: string): Command => ({
  place: 'host',
  words: ['link', 'delete', what, name],
  about: `remove ${name}`,
  missing: 'fine',
})

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
  await runCommands(run, [{ ...removalCommand('dev', word), about }], undefined)
  return true
}
