import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { findReferencePlugins } from '../test/rigs/requirements.ts'
import { median, rounded } from './statistics.ts'
import { freshPod, hostLocalFolder, networkConfig, nthAddress } from './workload.ts'

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
    const folder = findReferencePlugins()
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
    const times: number[] = []
    for (let sample = 0; sample < samples; sample++) {
      const pod = freshPod()
      const run = (verb: string): number => {
        const env = {
          CNI_COMMAND: verb,
          CNI_CONTAINERID: pod.containerId,
          CNI_NETNS: pod.netns,
          CNI_IFNAME: pod.ifname,
          CNI_ARGS: pod.args,
          CNI_PATH: '/opt/cni/bin',
        }
        const started = performance.now()
        const { status, stdout } = spawnSync(this.#path, [], { env, input, stdio: 'pipe', timeout: 120_000 })
        const ms = performance.now() - started
        if (status !== 0) throw new Error(`host-local ${verb}: exit ${String(status)}\n${stdout.toString()}`)
        return ms
      }
      times.push(run('ADD'))
      run('DEL')
      await turn()
    }
    return rounded(median(times))
  }
}
