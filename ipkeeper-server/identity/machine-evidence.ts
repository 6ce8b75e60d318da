import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { readRegularFileSync } from '../host/regular-file.ts'
import type { MachineMarks } from './plan/judge-machine.ts'

/** Makes of an ID something that is of use to ipkeeper alone: machine-id(5) wants it neither stored nor told as it is. */
const application = 'ipkeeper.io/node-identity'
/** Hexadecimal digits: 128 bits. */
const hashLength = 32

/** Bytes; mountinfo has some hundred for each mount. */
const sizeLimit = 64 * 1024 * 1024

/** undefined for what cannot be read, as well: then it tells nothing. */
function readText(path: string): string | undefined {
  try {
    return readRegularFileSync(path, { most: sizeLimit }).toString().replaceAll('\0', '').trim()
  } catch {
    return undefined
  }
}

const hashOf = (id: string): string =>
  createHmac('sha256', id).update(application).digest('hex').slice(0, hashLength)

const isOneDigit = (hex: string): boolean => /^(.)\1*$/.test(hex)

/**
 * Whether systemd has made an ID up for this boot, because it could not write one: then /etc/machine-id is a mount of
 * /run/machine-id (machine-id(5), "First boot semantics"). proc_pid_mountinfo(5): the fourth word is what is mounted, the fifth is where.
 */
function isTransient(mountinfo: string | undefined): boolean {
  return (mountinfo ?? '').split('\n').some(line => {
    const words = line.split(' ')
    return words[3] === '/machine-id' && words[4] === '/etc/machine-id' && words.includes('tmpfs')
  })
}

/** "uninitialized", an empty file, and what is no ID tell nothing. */
function readMachineId(root: string): string | undefined {
  const id = readText(join(root, 'etc/machine-id'))?.toLowerCase()
  if (id === undefined || !/^[0-9a-f]{32}$/.test(id) || isOneDigit(id)) return undefined
  return isTransient(readText(join(root, 'proc/self/mountinfo'))) ? undefined : id
}

/** What makers of boards write who do not care. */
const careless = new Set(['03000200040005000006000700080009', '00020003000400050006000700080009'])

/**
 * UUID of the system. Kernels and hypervisors disagree about the order of the bytes of its first three parts (SMBIOS 2.6,
 * 7.2.1), so that one machine may show two: of both forms the first in order counts.
 */
function readSystemUuid(root: string): string | undefined {
  const text = readText(join(root, 'sys/class/dmi/id/product_uuid'))?.toLowerCase()
  const [, a = '', b = '', c = '', rest = ''] =
    /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4}-[0-9a-f]{12})$/.exec(text ?? '') ?? []
  if (a === '') return undefined
  const swap = (hex: string): string => (hex.match(/../g) ?? []).reverse().join('')
  const tail = rest.replace('-', '')
  const forms = [a + b + c + tail, swap(a) + swap(b) + swap(c) + tail].sort()
  const [id = ''] = forms
  return isOneDigit(id) || forms.some(form => careless.has(form)) ? undefined : id
}

/** Of boards that have no DMI. */
function readSerialNumber(root: string): string | undefined {
  const serial = readText(join(root, 'sys/firmware/devicetree/base/serial-number'))
  return serial === undefined || serial === '' || isOneDigit(serial) ? undefined : serial
}

/**
 * What tells this machine from others, as far as this process sees it: in a container, what the container was given.
 *
 * @param root of the file system; another one in tests
 */
export function readMachineMarks(root = '/'): MachineMarks {
  const machineId = readMachineId(root)
  const hardware = readSystemUuid(root) ?? readSerialNumber(root)
  return {
    ...(machineId !== undefined && { machineId: hashOf(machineId) }),
    ...(hardware !== undefined && { hardware: hashOf(hardware) }),
  }
}
