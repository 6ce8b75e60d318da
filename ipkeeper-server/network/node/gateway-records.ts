import { join } from 'node:path'
import { withoutPrefix } from '../../../shared/net/address-text.ts'
import { stateFiles } from '../../../shared/paths.ts'
import { writeDurably } from '../../host/durable-file.ts'
import { readRegularFileSync } from '../../host/regular-file.ts'

/** Addresses in CIDR notation, by the bridges that have them. */
type ByBridge = ReadonlyMap<string, readonly string[]>

/** Bytes: thousands of addresses have less. */
const sizeLimit = 1024 * 1024

interface GatewayFile {
  readonly version: 1
  /** Addresses do not outlive their kernel: a file of another boot means nothing. */
  readonly bootId: string
  readonly bridges: Readonly<Record<string, readonly string[]>>
}

interface GatewayRecordsOptions {
  readonly stateDir: string
  readonly bootId: string
  /** What was forgotten could not be written; the next start finds out that it is not there. */
  readonly onProblem: (error: unknown) => void
}

/**
 * Which addresses ipkeeper itself put on bridges in this boot, so that it may take them away again. Nothing but that depends
 * on it: a file that cannot be read is as good as none.
 */
export class GatewayRecords {
  readonly #options: GatewayRecordsOptions
  readonly #path: string
  #known: ByBridge
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: GatewayRecordsOptions) {
    this.#options = options
    this.#path = join(options.stateDir, stateFiles.gateways)
    this.#known = read(this.#path, options.bootId)
  }

  bridges(): readonly string[] {
    return [...this.#known.keys()]
  }

  of(bridge: string): readonly string[] {
    return this.#known.get(bridge) ?? []
  }

  /** @param address without prefix */
  has(address: string): boolean {
    return [...this.#known.values()].flat().some(cidr => withoutPrefix(cidr) === address)
  }

  /** Durable when it resolves; when it rejects, nothing is recorded. */
  async add(bridge: string, addresses: readonly string[]): Promise<void> {
    this.#set(bridge, [...this.of(bridge), ...addresses])
    try {
      await this.#write()
    } catch (error) {
      this.#drop(bridge, addresses)
      throw error
    }
  }

  /** At once in memory, and soon on disk. */
  forget(bridge: string, addresses: readonly string[]): void {
    if (!this.of(bridge).some(address => addresses.includes(address))) return
    this.#drop(bridge, addresses)
    this.#write().catch(this.#options.onProblem)
  }

  /** Resolves when nothing is being written any more. */
  async idle(): Promise<void> {
    await this.#last
  }

  #drop(bridge: string, addresses: readonly string[]): void {
    this.#set(
      bridge,
      this.of(bridge).filter(address => !addresses.includes(address)),
    )
  }

  #set(bridge: string, addresses: readonly string[]): void {
    const others = [...this.#known].filter(([name]) => name !== bridge)
    this.#known = new Map(addresses.length === 0 ? others : [...others, [bridge, [...new Set(addresses)]]])
  }

  /** One at a time, each with what is known by then. */
  async #write(): Promise<void> {
    const write = async (): Promise<void> => {
      const bridges = Object.fromEntries(this.#known)
      const file: GatewayFile = { version: 1, bootId: this.#options.bootId, bridges }
      await writeDurably(this.#path, `${JSON.stringify(file, undefined, 2)}\n`, { mode: 0o600 })
    }
    const turn = this.#last.then(write)
    this.#last = turn.catch(() => undefined)
    await turn
  }
}

function read(path: string, bootId: string): ByBridge {
  try {
    const file = JSON.parse(readRegularFileSync(path, { most: sizeLimit }).toString()) as Partial<GatewayFile>
    if (file.version !== 1 || file.bootId !== bootId) return new Map()
    return new Map(Object.entries(file.bridges ?? {}).filter(([, all]) => Array.isArray(all)))
  } catch {
    return new Map()
  }
}
