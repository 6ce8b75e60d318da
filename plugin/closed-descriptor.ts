import { fstatSync, readFileSync } from 'node:fs'

/** Device 1:3 of Linux. */
const nullDevice = 0x103
const accessMode = 3
const readWrite = 2

/**
 * Whether a standard descriptor is /dev/null, and if so, whose. Where the caller had closed it, Node has put /dev/null
 * there, open for reading and writing; what callers put there themselves is open in one direction only. Without /proc
 * nobody can tell, and it counts as the caller's.
 *
 * @throws the error of fstat
 */
export function nullDescriptor(descriptor: number): 'closed by the caller' | 'null' | undefined {
  const stats = fstatSync(descriptor)
  if (!stats.isCharacterDevice() || stats.rdev !== nullDevice) return undefined
  return (openFlags(descriptor) & accessMode) === readWrite ? 'closed by the caller' : 'null'
}

function openFlags(descriptor: number): number {
  try {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')
    return Number.parseInt(/^flags:\s*([0-7]+)$/m.exec(info)?.[1] ?? '0', 8)
  } catch {
    return 0
  }
}
