/**
 * What tells a machine from others. The first two are keyed hashes (machine-evidence.ts), and absent where there is nothing
 * that could be hashed.
 */
export interface MachineMarks {
  /** Of /etc/machine-id: of one installation of an operating system. */
  readonly machineId?: string
  /** Of the hardware, or of what a hypervisor gives out as such. */
  readonly hardware?: string
}

/** What is seen of the machine and the state folder at a start. */
export interface MachineSight {
  readonly marks: MachineMarks
  /** Of the running kernel. Nodes that are containers of one machine share it. */
  readonly bootId: string
  /** "DEV:INO" of the state folder: a copy has another one. */
  readonly folder: string
}

export interface MachineVerdict {
  readonly same: boolean
  /** For people. */
  readonly why: string
}

const same = (why: string): MachineVerdict => ({ same: true, why })
const other = (why: string): MachineVerdict => ({ same: false, why })

/** undefined where one of them is not known. */
const agree = (before: string | undefined, now: string | undefined): boolean | undefined =>
  before === undefined || now === undefined ? undefined : before === now

/**
 * Whether a state folder is still on the machine that wrote it last. A machine ID changes where somebody makes a new one, and
 * on images that boot without a place for it; hardware changes where a disk is cloned, or moved. So within one boot the
 * folder itself decides, and after another one the hardware does, where it is known.
 */
export function judgeMachine(before: MachineSight, now: MachineSight): MachineVerdict {
  const machineId = agree(before.marks.machineId, now.marks.machineId)
  if (before.bootId === now.bootId) {
    if (before.folder === now.folder) return same('it is the same folder under the same kernel')
    return machineId === false
      ? other('the machine ID is another one, and the folder is a copy')
      : same('it is the same kernel')
  }
  const hardware = agree(before.marks.hardware, now.marks.hardware)
  if (hardware !== undefined)
    return hardware ? same('it is the same hardware') : other('the hardware is another one')
  if (machineId !== undefined)
    return machineId ? same('it has the same machine ID') : other('the machine ID is another one')
  return same('nothing distinguishes it from another machine')
}
