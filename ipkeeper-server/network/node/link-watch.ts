import { networkInterfaces } from 'node:os'
import { toProblem } from '../../../shared/problem/problem.ts'
import type { OwnAddress } from '../../ipam/pools/own-addresses.ts'
import { IpMonitor } from './ip-monitor.ts'
import { NodeLinks, readNewsLine, type KernelNews, type NodeLink } from '../plan/node-links.ts'
import type { RunTool } from '../run-tool.ts'
import type { NewsListener, NewsMonitor } from './news-monitor.ts'

interface LinkWatchOptions {
  readonly run: RunTool
  /** Has the kernel's news told to a listener; throws why they cannot be. Default: by `ip monitor`. */
  readonly openMonitor?: (listener: NewsListener) => NewsMonitor | Promise<NewsMonitor>
  /** Why the kernel's news cannot be heard; undefined once they are again. Told on change only. */
  readonly onTrouble: (why: string | undefined) => void
  /** The kernel's news say that a link has lost an address, be it to come back at once. */
  readonly onAddressGone?: (address: OwnAddress) => void
  /** Milliseconds before a monitor that ended is started again, for the next who asks. */
  readonly pauseMs?: number
}

const standardPause = 10_000

/** What the kernel has told, by the keys of plan/node-links.ts. */
class Known {
  readonly #addresses = new Map<string, OwnAddress>()
  readonly #links = new Map<string, NodeLink>()
  /** Made when somebody asks; undefined once something has changed. */
  #seen: NodeLinks | undefined

  /** Returns an address that is gone, with the link that had it. */
  hear(news: KernelNews): OwnAddress | undefined {
    this.#seen = undefined
    if (news.kind === 'link') {
      const { name, mac, master } = news
      put(this.#links, news, { name, mac, master: master === undefined ? undefined : this.#nameOf(master) })
      return undefined
    }
    const address = { cidr: news.cidr, link: this.#nameOf(news.link) }
    // News of a link that is gone by now do not name it.
    const gone = news.gone ? (this.#addresses.get(news.key) ?? address) : undefined
    put(this.#addresses, news, address)
    return gone
  }

  /** Of one whose news have not come, it is what `ip` calls it then. */
  #nameOf(link: string | number): string {
    return typeof link === 'string' ? link : (this.#links.get(String(link))?.name ?? `if${link}`)
  }

  links(): NodeLinks {
    return (this.#seen ??= new NodeLinks(this.#addresses.values(), this.#links.values()))
  }
}

function put<T>(things: Map<string, T>, { key, gone }: KernelNews, thing: T): void {
  if (gone) things.delete(key)
  else things.set(key, thing)
}

/**
 * Which links and addresses the node has at this moment. An ADD cannot start a program for it each time, so the kernel's news
 * are followed, and once they are, the lists are read. While they are not, each one who asks reads the lists.
 */
export class LinkWatch {
  readonly #options: LinkWatchOptions
  #isStopped = false
  #monitor: NewsMonitor | undefined
  /** undefined while the news are not followed. */
  #known: Known | undefined
  #begun: Promise<void> | undefined
  #beginAgainAt = Infinity
  #look: Promise<NodeLinks> | undefined
  #trouble: string | undefined

  constructor(options: LinkWatchOptions) {
    this.#options = options
  }

  /** Begins to follow; nobody has to wait for it. */
  start(): void {
    this.#begun ??= this.#begin()
  }

  stop(): void {
    this.#isStopped = true
    this.#monitor?.end()
  }

  /**
   * As they are at the call or later. Never rejects: where even the lists cannot be read, it is what the C library knows of
   * links that are up, without their masters.
   */
  async now(): Promise<NodeLinks> {
    if (performance.now() >= this.#beginAgainAt) this.#begun = undefined
    this.start()
    await this.#begun
    const monitor = this.#monitor
    if (!this.#known || !monitor || !(await monitor.hasToldAll())) return await this.#lookOnce()
    return this.#known.links()
  }

  /** Resolves when the news are followed, or cannot be. */
  async #begin(): Promise<void> {
    this.#beginAgainAt = Infinity
    if (this.#isStopped) return
    const before: KernelNews[] = []
    const { openMonitor = (listener: NewsListener) => new IpMonitor(listener), run } = this.#options
    try {
      const monitor = await openMonitor({
        onNews: news => {
          if (this.#known) this.#hear(this.#known, news)
          else before.push(news)
        },
        onEnd: why => {
          this.#lose(why)
        },
      })
      this.#take(monitor)
      if (!(await monitor.listens())) return
      const known = await readLists(run).catch((error: unknown) => {
        monitor.end(toProblem(error).message)
      })
      if (!known || this.#monitor !== monitor) return
      for (const news of before) this.#hear(known, news)
      this.#known = known
      this.#tell(undefined)
    } catch (error) {
      this.#lose(toProblem(error).message)
    }
  }

  #take(monitor: NewsMonitor): void {
    this.#monitor = monitor
    // While it was opened.
    if (this.#isStopped) monitor.end()
  }

  #hear(known: Known, news: KernelNews): void {
    const gone = known.hear(news)
    if (gone) this.#options.onAddressGone?.(gone)
  }

  #lose(why: string): void {
    this.#known = undefined
    this.#monitor = undefined
    this.#beginAgainAt = performance.now() + (this.#options.pauseMs ?? standardPause)
    if (!this.#isStopped) this.#tell(why)
  }

  #tell(why: string | undefined): void {
    if (why !== this.#trouble) this.#options.onTrouble(why)
    this.#trouble = why
  }

  /** Those who ask at once share one look. */
  async #lookOnce(): Promise<NodeLinks> {
    this.#look ??= this.#lookAnyhow()
    return await this.#look
  }

  async #lookAnyhow(): Promise<NodeLinks> {
    await Promise.resolve()
    // Who asks once the programs run may ask for what they have missed.
    this.#look = undefined
    try {
      return (await readLists(this.#options.run)).links()
    } catch {
      const up = Object.entries(networkInterfaces()).flatMap(([link, own = []]) =>
        own.map(({ address, cidr, mac }) => ({ cidr: cidr ?? address, link, mac })),
      )
      return new NodeLinks(
        up,
        up.map(({ link, mac }) => ({ name: link, master: undefined, mac })),
      )
    }
  }
}

async function readLists(run: RunTool): Promise<Known> {
  const known = new Known()
  for (const object of ['link', 'address']) {
    const { exit, stdout, stderr } = await run({ tool: 'ip', args: ['-oneline', object, 'show'] })
    if (exit !== 0) throw new Error(`ip ${object} show: ${stderr.trim() || `exit ${exit}`}`)
    for (const line of stdout.split('\n')) {
      const news = readNewsLine(line)
      if (news) known.hear(news)
    }
  }
  return known
}
