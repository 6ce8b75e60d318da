import { clipped, showJson, type JsonObject } from '../../../shared/json/fold.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { Sysctl } from '../../ipam/request/main-config.ts'

/** Stands for the pod's interface, as in the reference tuning plugin. */
const interfacePart = 'IFNAME'

const plainPart = /^[a-z0-9_-]+$/i

/** Bytes. Printable, so that one line of a file of /proc/sys is what is written. */
const plainValue = /^[\t\x20-\x7e]{0,256}$/

/**
 * Parts of a setting's name. As sysctl(8) has it: the separator that comes first is the separator, be it a dot or a
 * slash, and the other one belongs to the parts.
 */
function partsOf(name: string): string[] {
  const [separator = '.'] = /[./]/.exec(name) ?? []
  return name.split(separator)
}

function readKey(name: string, path: string): string {
  const parts = partsOf(name)
  const bad = parts.find(part => !plainPart.test(part))
  if (bad !== undefined || name.length > 256) {
    throw new Problem('IPK_CONFIG_INVALID', `${path}: no name of a kernel setting`, {
      hint: 'write it like net.core.somaxconn or net/core/somaxconn; IFNAME stands for the interface of the pod',
    })
  }
  if (parts[0] !== 'net' || parts.length < 2) {
    throw new Problem('IPK_CONFIG_INVALID', `${path}: only settings below net can be set`, {
      hint: 'others are not of the pod alone; for those that Kubernetes allows use securityContext.sysctls of the pod',
    })
  }
  return parts.join('/')
}

function readValue(value: unknown, path: string): string {
  if (Number.isSafeInteger(value)) return String(value)
  if (typeof value === 'string' && plainValue.test(value)) return value
  throw new Problem('IPK_CONFIG_INVALID', `${path}: ${showJson(value)} is no value of a kernel setting`, {
    hint: 'a whole number, or a text of at most 256 printable characters on one line',
  })
}

/**
 * Reads `sysctl` of a netconf: names with dots or slashes, limited to net, whose values are texts or whole numbers. In
 * their order.
 *
 * @throws Problem IPK_CONFIG_INVALID that names the setting
 */
export function readSysctls({
  sysctl = {},
}: {
  readonly sysctl?: JsonObject | undefined
}): readonly Sysctl[] {
  const sysctls = new Map<string, Sysctl>()
  for (const [name, value] of Object.entries(sysctl)) {
    if (value === null) continue
    const path = `"sysctl.${clipped(name)}"`
    const key = readKey(name, path)
    if (sysctls.has(key)) {
      throw new Problem('IPK_CONFIG_INVALID', `${path}: ${key} is given twice`, {
        hint: 'a name with dots and one with slashes are the same setting',
      })
    }
    sysctls.set(key, { key, value: readValue(value, path) })
  }
  return [...sysctls.values()]
}

/** The settings of one pod. `ifname` has passed podInterfaceFault. */
export function sysctlsOf(sysctls: readonly Sysctl[], ifname: string): readonly Sysctl[] {
  return sysctls.map(({ key, value }) => ({
    key: key
      .split('/')
      .map(part => (part === interfacePart ? ifname : part))
      .join('/'),
    value,
  }))
}
