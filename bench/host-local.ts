import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startPluginRunner } from './plugin-runner.ts'
import { findReferences } from './measured-plugins.ts'
import { median, rounded } from './statistics.ts'
import { freshPod, hostLocalFolder, networkConfig, nthAddress, pluginEnvironment } from './workload.ts'

/**
 * host-local with a growing data folder, for comparison. It keeps a file for each address and reads them all at each
 * ADD; the files are written here as it writes them itself, since 60,000 ADDs of it would take hours.
 */
export class HostLocal {
  readonly #path: string
  readonly #dataDir: string
  /** Addresses 0 and 1 are the network and the gateway. */
  #next = 2

  private constructor(path: string, dataDir: string) {
    this.#path = path
    this.#dataDir = dataDir
    mkdirSync(join(dataDir, hostLocalFolder), { recursive: true })
  }

  /** undefined where it is not installed. */
  static find(dataDir: string): HostLocal | undefined {
    const folder = findReferences().at(-1)?.folder
    return folder === undefined ? undefined : new HostLocal(join(folder, 'host-local'), dataDir)
  }

  fillTo(leases: number): void {
    for (; this.#next < leases + 2; this.#next++) {
      const file = join(this.#dataDir, hostLocalFolder, nthAddress(this.#next))
      writeFileSync(file, `${freshPod().containerId}\r\neth0`)
    }
    // Where its search for a free address goes on.
    const last = join(this.#dataDir, hostLocalFolder, 'last_reserved_ip.0')
    if (leases > 0) writeFileSync(last, nthAddress(this.#next - 1))
  }

  /** Median of whole-process ADDs, each followed by its DEL; milliseconds. */
  async medianAdd(samples: number): Promise<number> {
    const input = JSON.stringify(
      networkConfig('host-local', { socket: '', stateDir: '', dataDir: this.#dataDir }),
    )
    const runner = startPluginRunner()
    const times: number[] = []
    for (let sample = 0; sample < samples; sample++) {
      const pod = freshPod()
      const runs = (['ADD', 'DEL'] as const).map(verb => ({
        program: this.#path,
        env: pluginEnvironment(verb, pod),
        input,
      }))
      const { each } = await runner.run({ runs, atOnce: 1 })
      times.push(each[0]?.ms ?? NaN)
    }
    await runner.close()
    return rounded(median(times))
  }
}
