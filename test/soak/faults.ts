/**
 * Faults of real files and real machines that were mended, and that no seed of the simulation can find, since its disks and sockets
 * are simulated: each is put back into executables of its own (build-with-fault.ts), and found by an episode.
 */
import type { Mend } from '../simulation/put-back.ts'

export interface SoakFault {
  /** What the product did. */
  readonly was: string
  /** All of them together are the fault. */
  readonly mends: readonly Mend[]
  /** Kinds of fault-kinds.ts that an episode has to have. */
  readonly kinds: readonly string[]
  /** The first one from 0 on. An episode is real time: where this one does not come to it, one of the next does. */
  readonly seed: number
  /** What is wrong then, and how the judge says so. */
  readonly broken: string
  readonly says: RegExp
}

const ofAddresses = {
  broken: 'an address is lost, or has two holders',
  says: /lost at|two holders|kept for one holder, given to another|came back, and was given another/,
}

const server = 'ipkeeper-server'
const ledgerFile = `${server}/store/sqlite/ledger-file.ts`

export const soakFaults: Readonly<Record<string, SoakFault>> = {
  'empty-ledger': {
    was: 'a ledger that was emptied (0 bytes) began anew, whatever showed that it had been in use',
    mends: [
      {
        file: `${server}/open-ledger/begin-ledger.ts`,
        from: "    const isRefused = !mayBegin && (showsUse(use) || lacks === 'empty')",
        to: '    const isRefused = false',
      },
    ],
    ...{ kinds: ['ledger emptied'], seed: 3, ...ofAddresses },
  },
  'log-believed': {
    was: 'a log with a flipped byte was read up to there, and what stands behind it was lost without a word',
    mends: [
      { file: ledgerFile, from: '    } else judgeLog(path, onNote)', to: '    }' },
      {
        file: ledgerFile,
        from: '      file.#compareLastChange(readLastChange(path), onNote)',
        to: '',
      },
    ],
    ...{ kinds: ['byte flipped'], seed: 8, ...ofAddresses },
  },
  'dead-file': {
    was: 'changes were acknowledged into a ledger whose file was gone, and nobody was told',
    mends: [
      {
        file: ledgerFile,
        from: '    const seen = this.#files?.look()',
        to: "    const seen = undefined as ReturnType<OwnFiles['look']> | undefined",
      },
    ],
    ...{ kinds: ['ledger removed'], seed: 3 },
    broken: 'the daemon does not start again',
    says: /after "ledger removed" on the stage: the daemon ended before it was ready/,
  },
  'no-room-for-dels': {
    was: 'on a full disk nothing was kept for DELs, and they were refused',
    mends: [
      {
        file: `${server}/store/room/room.ts`,
        from: '    if (fault === undefined || !lacksRoom(fault) || !this.#reserve.giveUp()) return false',
        to: '    return false',
      },
    ],
    ...{ kinds: ['disk full'], seed: 0 },
    broken: 'a DEL is refused',
    says: /the DEL of \w+ on [\w-]+ was refused with IPK_STORE_FAILED/,
  },
}
