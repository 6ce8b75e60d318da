import { openSync, readSync, closeSync } from 'node:fs'
import { Problem } from '../../shared/problem/problem.ts'
import type { ResultDns } from '../../shared/cni/result.ts'

const sizeLimit = 64 * 1024

/** The keywords of resolv.conf(5) that a Result can carry. Later "domain" and "search" lines win; servers add up. */
export function parseResolvConf(text: string): ResultDns {
  const nameservers: string[] = []
  const options: string[] = []
  let search: string[] = []
  let domain = ''
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/)
    if (keyword === 'nameserver') nameservers.push(...values.slice(0, 1))
    else if (keyword === 'domain') domain = values[0] ?? ''
    else if (keyword === 'search') search = values
    else if (keyword === 'options') options.push(...values)
  }
  return { nameservers, domain, search, options }
}

/** Reads `ipam.resolvConf`. Throws IPK_CONFIG_INVALID with the path and the system's reason. */
export function readResolvConf(path: string): ResultDns {
  if (!path.startsWith('/'))
    throw new Problem('IPK_CONFIG_INVALID', `ipam.resolvConf: "${path}" is not an absolute path`)
  try {
    const file = openSync(path, 'r')
    try {
      const buffer = Buffer.alloc(sizeLimit)
      return parseResolvConf(buffer.toString('utf8', 0, readSync(file, buffer, 0, sizeLimit, 0)))
    } finally {
      closeSync(file)
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new Problem('IPK_CONFIG_INVALID', `ipam.resolvConf: cannot read ${path} (${code})`, {
      cause: error,
    })
  }
}
