import { readFile, writeFile } from 'node:fs/promises'
import { Problem } from '../../shared/problem/problem.ts'

/** Settings of the host by which it forwards packets of each family. */
const switches = {
  4: '/proc/sys/net/ipv4/ip_forward',
  6: '/proc/sys/net/ipv6/conf/all/forwarding',
} as const

/** Lets the host forward packets of these families; writes only where it does not yet. Throws IPK_WIRING_FAILED. */
export async function enableForwarding(families: Iterable<4 | 6>): Promise<void> {
  for (const family of families) {
    const path = switches[family]
    try {
      if ((await readFile(path, 'utf8')).trim() !== '1') await writeFile(path, '1')
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new Problem('IPK_WIRING_FAILED', `cannot switch on forwarding of IPv${family}: ${why}`, { cause })
    }
  }
}
