import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { delAttachment } from '../../ipkeeper-server/leases/verbs/del.ts'
import type { AttachmentKey } from '../../ipkeeper-server/ipam/records/records.ts'
import type { MachineMarks } from '../../ipkeeper-server/identity/plan/judge-machine.ts'
import type { Disk } from './disk.ts'
import type { Machine } from './machine.ts'
import type { PoolForm } from './pools.ts'
import type { Step } from './steps.ts'

/** Copies of disks: older ones that are put back, and machines that start from one. */

/** Milliseconds after the boot at which a runtime ends what it had on its list. */
const tidiesUpAfter = 2_000

/** A disk as of one moment, as a snapshot of a volume or of a virtual machine has it. */
class DiskCopy {
  readonly marks: MachineMarks
  readonly name: string
  readonly pool: PoolForm
  /** What its runtime had on its list. */
  readonly containers: readonly string[]
  readonly #disk: Disk
  readonly #files: readonly (readonly [name: string, text: string])[]

  constructor({ disk, marks, name, pool, listed, stateDir }: Machine) {
    this.marks = marks
    this.name = name
    this.pool = pool
    this.containers = [...listed.keys()]
    this.#disk = disk.copy()
    this.#files = readdirSync(stateDir).map(file => [file, readFileSync(join(stateDir, file), 'utf8')])
  }

  /** What other programs have on that disk stays as it is. No daemon may run. */
  putFolder(machine: Machine): void {
    const { fallback } = machine.disk
    this.#put(machine)
    machine.disk = Object.assign(this.#disk.copy(), { fallback })
    machine.folders++
  }

  /** The machine is off. */
  putDisk(machine: Machine): void {
    this.#put(machine)
    machine.disk = this.#disk.copy()
    machine.pool = this.pool
  }

  #put(machine: Machine): void {
    emptyFolder(machine.stateDir)
    for (const [file, text] of this.#files) writeFileSync(join(machine.stateDir, file), text)
  }
}

export function emptyFolder(folder: string): void {
  for (const file of readdirSync(folder)) rmSync(join(folder, file))
}

/** What is done to machines by others. */
export interface CopiesOptions {
  readonly pass: (milliseconds: number) => Promise<void>
  readonly switchOff: (machine: Machine) => void
  /** Resolves when its daemon serves. */
  readonly switchOn: (machine: Machine) => Promise<void>
  readonly rename: (machine: Machine, name: string) => void
  /** A machine that is off; undefined: there cannot be one more. */
  readonly addMachine: () => Machine | undefined
  /** What a machine has on its disk is older than it was. */
  readonly onGoneBack: (machine: Machine) => void
  /** A machine has the disk and the hardware of another one. */
  readonly onTwin: (twin: Machine, original: Machine) => void
}

export class Copies {
  readonly #options: CopiesOptions
  readonly #copies = new Map<Machine, DiskCopy>()

  constructor(options: CopiesOptions) {
    this.#options = options
  }

  take(machine: Machine): void {
    this.#copies.set(machine, new DiskCopy(machine))
  }

  async putBack(machine: Machine, { what, away }: Step & { readonly do: 'put back' }): Promise<void> {
    const { pass, switchOff, switchOn, rename, onGoneBack } = this.#options
    const copy = this.#copies.get(machine)
    const isOn = (): boolean => machine.isOn
    if (!copy || !isOn() || machine.isPutBack) return
    if (what === 'disk') {
      switchOff(machine)
      copy.putDisk(machine)
      if (machine.name !== copy.name) rename(machine, copy.name)
      onGoneBack(machine)
      await pass(away)
      if (isOn()) return
      void this.#endListed(machine, copy.containers)
      await switchOn(machine)
      return
    }
    machine.isPutBack = true
    // Who is killed while it stops says no more.
    await Promise.race([machine.stop(), machine.daemon?.life.over])
    if (isOn()) {
      copy.putFolder(machine)
      onGoneBack(machine)
      await pass(away)
    }
    machine.isPutBack = false
    await machine.start()
  }

  async clone(original: Machine, { of, same, named }: Step & { readonly do: 'clone' }): Promise<void> {
    const { switchOff, switchOn, rename, addMachine, onGoneBack, onTwin } = this.#options
    const older = of === 'copy' ? this.#copies.get(original) : undefined
    const copy = older ?? new DiskCopy(original)
    const isAlone = original.around.engine === undefined
    if (isAlone && !original.isOn) return
    const machine = isAlone ? original : addMachine()
    if (!machine) return
    if (isAlone) switchOff(machine)
    copy.putDisk(machine)
    machine.folders++
    machine.marks = same ? copy.marks : { ...copy.marks, hardware: `board ${machine.number} of a clone` }
    rename(machine, named ? copy.name : 'n3')
    if (older && isAlone) onGoneBack(machine)
    if (same && !isAlone) onTwin(machine, original)
    void this.#endListed(machine, copy.containers)
    await switchOn(machine)
  }

  /** A runtime finds after a boot that nothing of its list runs, and sends a DEL for each. */
  async #endListed(machine: Machine, containers: readonly string[]): Promise<void> {
    await this.#options.pass(tidiesUpAfter)
    for (const containerId of containers) {
      const key: AttachmentKey = { network: 'net', containerId, ifname: 'eth0' }
      if (!machine.isOn) return
      const [began, { daemon }] = [machine.moment, machine]
      const done =
        daemon?.service &&
        (await Promise.race([
          daemon.life.edge(delAttachment(daemon.service, key, began)).then(
            () => true,
            () => false,
          ),
          daemon.life.over,
          this.#options.pass(10_000),
        ]))
      if (done !== true && machine.bootId === began.bootId) machine.disk.queue.push({ key, began })
    }
  }
}
