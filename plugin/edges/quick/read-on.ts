import type { InputListener } from '../../stdin.ts'
import { Buffer } from './buffer.ts'
import { watch } from './event-loop.ts'
import { system, systemError } from './system.ts'

/** Reads what has come to a descriptor, ever again, and never waits; what it returns ends that. */
export function readOn(file: number, { received, ended, failed }: InputListener): () => void {
  return watch(file, 'read', () => {
    const bytes = Buffer.allocUnsafe(64 * 1024)
    const count = system.read(file, bytes, 0)
    if (count > 0) received(bytes.subarray(0, count) as unknown as globalThis.Buffer)
    else if (count === 0) ended()
    else if (system.errnoName(-count) !== 'EAGAIN') failed(systemError(-count, 'read'))
  })
}
