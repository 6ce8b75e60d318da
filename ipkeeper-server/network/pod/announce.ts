import { setTimeout as delay } from 'node:timers/promises'
import { isIpv6 } from '../../../shared/net/address-text.ts'
import type { RunTool } from '../run-tool.ts'

/** A pod's link that has its final MAC and its addresses, and is up. */
export interface AnnouncedLink {
  readonly ifname: string
  readonly mac: string
  /** Without prefix. */
  readonly addresses: readonly string[]
}

/** The namespace of a pod, held open. */
interface OpenNamespace {
  readonly fd: number
  readonly close: () => void
}

/** When the announcement is repeated, counted from the first one, and how: some hosts heed one of the two only. */
const repetitions = [
  { atMs: 500, kind: '-U' },
  { atMs: 1500, kind: '-A' },
] as const

/**
 * Tells the neighbours of a pod again where its addresses are now, so that they need not wait for their caches to expire.
 * The first announcement is the kernel's, by the settings and the command of plan/announcement.ts among those that wire
 * the pod. An IPv6 address that is still tentative then is announced by the kernel itself, when it is decided.
 */
export class Announcer {
  readonly #run: RunTool
  readonly #stopped = new AbortController()
  readonly #atWork = new Set<Promise<void>>()

  constructor(run: RunTool) {
    this.#run = run
  }

  /**
   * Announces IPv4 addresses twice more in the background, in case the first announcement was lost. It ends early when the
   * namespace is gone or the link is, and keeps the namespace for no longer than each arping takes, 1 s. IPv6 is not
   * repeated: only the kernel sends neighbour advertisements, and to make it do so would empty the neighbour cache of a pod
   * that is at work.
   *
   * @param reopen opens the pod's namespace; undefined when it is gone, or another one stands in its place
   */
  repeat(
    link: AnnouncedLink,
    reopen: () => OpenNamespace | undefined | Promise<OpenNamespace | undefined>,
  ): void {
    const { ifname } = link
    const addresses = link.addresses.filter(address => !isIpv6(address))
    if (addresses.length === 0 || this.#stopped.signal.aborted) return
    // Nobody waits for it, and what is lost is a second copy: a fault is the end of it, no error.
    const work = this.#repeat(ifname, addresses, reopen).catch(() => undefined)
    this.#atWork.add(work)
    void work.finally(() => this.#atWork.delete(work))
  }

  /** Starts no repetition any more, and resolves when those that go out now are done. */
  async close(): Promise<void> {
    this.#stopped.abort()
    await Promise.all(this.#atWork)
  }

  async #repeat(
    ifname: string,
    addresses: readonly string[],
    reopen: () => OpenNamespace | undefined | Promise<OpenNamespace | undefined>,
  ): Promise<void> {
    const started = performance.now()
    for (const { atMs, kind } of repetitions) {
      const wait = Math.max(0, started + atMs - performance.now())
      await delay(wait, undefined, { signal: this.#stopped.signal })
      const namespace = await reopen()
      if (!namespace) return
      try {
        const inside = namespace.fd
        const ends = await Promise.all(
          addresses.map(address =>
            this.#run({ tool: 'arping', args: [kind, '-q', '-c', '1', '-I', ifname, address], inside }),
          ),
        )
        if (ends.some(({ exit }) => exit !== 0)) return
      } finally {
        namespace.close()
      }
    }
  }
}
