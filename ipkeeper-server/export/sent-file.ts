import { join } from 'node:path'
import { isJsonObject } from '../../shared/json/fold.ts'
import { stateFiles } from '../../shared/paths.ts'
import { failedBy, systemCode } from '../../shared/system-code.ts'
import { writeDurably } from '../host/durable-file.ts'
import { readRegularFileSync } from '../host/regular-file.ts'
import type { SentMark } from './plan/sent-marks.ts'

/** What is known of the entries that a receiver has. */
export interface Sent {
  /** The newest first. */
  readonly marks: readonly SentMark[]
  /** The first entry of which none is missing, when the first one was sent: what was pruned before was never to be sent. */
  readonly begin: number
}

export const nothingSent: Sent = { marks: [], begin: 0 }

/** Some dozens of marks are a few kilobytes. */
const sizeLimit = 64 * 1024

/** Which entries of the history a receiver has, in the state folder. Without it all of them are sent once more. */
export class SentFile {
  readonly path: string

  constructor(stateDir: string) {
    this.path = join(stateDir, stateFiles.historyExport)
  }

  /** @param onUnusable called where a file is there and cannot be used, with the reason */
  read(onUnusable: (why: string) => void): Sent {
    try {
      const text = readRegularFileSync(this.path, { most: sizeLimit, noLink: true }).toString()
      return readSent(JSON.parse(text))
    } catch (error) {
      if (!failedBy(error, 'ENOENT'))
        onUnusable(error instanceof SyntaxError ? 'not as it is written' : systemCode(error))
      return nothingSent
    }
  }

  async write({ marks, begin }: Sent): Promise<void> {
    const text = { version: 1, begin, marks: marks.map(({ id, link }) => [id, link]) }
    await writeDurably(this.path, `${JSON.stringify(text)}\n`, { mode: 0o600 })
  }
}

/** Throws where it is not as `write` writes it. */
function readSent(value: unknown): Sent {
  if (!isJsonObject(value) || value['version'] !== 1 || !Array.isArray(value['marks']))
    throw new SyntaxError('not as it is written')
  const marks = value['marks'].map((mark: unknown): SentMark => {
    const [id, link] = Array.isArray(mark) ? (mark as unknown[]) : []
    if (typeof id !== 'number' || !Number.isSafeInteger(id) || (link !== null && typeof link !== 'string'))
      throw new SyntaxError('not as it is written')
    return { id, link }
  })
  return { marks, begin: Number.isSafeInteger(value['begin']) ? Number(value['begin']) : 0 }
}
