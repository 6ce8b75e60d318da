import type { OpenInput } from '../../stdin.ts'
import { Buffer } from './buffer.ts'
import { watch } from './event-loop.ts'
import { system, systemError } from './system.ts'

const stdin = 0

/** Reads only what has come already, so that a descriptor that others share can stay one that waits. */
export const openInput: OpenInput = () =>
  Promise.resolve(({ received, ended, failed }) =>
    watch(stdin, 'read', () => {
      const bytes = Buffer.allocUnsafe(64 * 1024)
      const count = system.read(stdin, bytes, 0)
      if (count > 0) received(bytes.subarray(0, count) as unknown as globalThis.Buffer)
      else if (count === 0) ended()
      else failed(systemError(-count, 'read'))
    }),
  )
