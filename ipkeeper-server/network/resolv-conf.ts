import { Problem } from '../../shared/problem/problem.ts'
import type { ResultDns } from '../../shared/cni/result.ts'
import { isNameserver } from '../../shared/net/address.ts'
import { boundedLooks } from '../host/bounded-looks.ts'
import { readRegularFile } from '../host/regular-file.ts'
import { systemCode } from '../../shared/system-code.ts'

const sizeLimit = 64 * 1024

/**
 * The keywords of resolv.conf(5) that a Result can carry. Later "domain" and "search" lines win; servers add up. What is
 * no address of a server is passed over, as resolvers do.
 */
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
    if (keyword === 'nameserver') nameservers.push(...values.slice(0, 1).filter(isNameserver))
    else if (keyword === 'domain') domain = values[0] ?? ''
    else if (keyword === 'search') search = values
    else if (keyword === 'options') options.push(...values)
  }
  return { nameservers, domain, search, options }
}

/**
 * Reads `ipam.resolvConf`, of a file without end the beginning.
 *
 * @throws IPK_CONFIG_INVALID with the path and the reason; IPK_FILE_HANGS
 */
export async function readResolvConf(path: string): Promise<ResultDns> {
  if (!path.startsWith('/'))
    throw new Problem('IPK_CONFIG_INVALID', `ipam.resolvConf: "${path}" is not an absolute path`)
  try {
    const bytes = await boundedLooks.run('resolv.conf', path, () =>
      readRegularFile(path, { most: sizeLimit, cut: true }),
    )
    return parseResolvConf(bytes.toString())
  } catch (error) {
    if (error instanceof Problem) throw error
    const code = systemCode(error)
    throw new Problem('IPK_CONFIG_INVALID', `ipam.resolvConf: cannot read ${path} (${code})`, {
      cause: error,
    })
  }
}
