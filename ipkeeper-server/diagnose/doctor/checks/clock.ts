import { existsSync, readFileSync, statSync } from 'node:fs'
import { fail, ok, skip, warn, type Check } from '../check.ts'

/** As systemd-timesyncd and others leave it once the clock was set. */
const synchronised = '/run/systemd/timesync/synchronized'
const day = 24 * 60 * 60 * 1000

export const clockCheck: Check = {
  id: 'clock',
  title: 'clock and boot ID',
  why: 'Retention and cool-down are times of the clock; by the boot ID the daemon knows sandboxes that died with the node.',
  run: async node => {
    let bootId: string
    try {
      bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    } catch {
      return fail('the boot ID cannot be read', 'ls', '-l', '/proc/sys/kernel/random/boot_id')
    }
    const now = node.now()
    const built = statSync(process.execPath, { throwIfNoEntry: false })?.mtimeMs
    if (built === undefined) return skip('the age of this program cannot be told')
    if (now < built - day)
      return fail(
        `it is ${new Date(now).toISOString()}, which is before this program was installed`,
        ...['timedatectl', 'status'],
      )
    if (existsSync('/run/systemd/timesync') && !existsSync(synchronised))
      return warn('the clock was not set since the node started', 'timedatectl', 'status')
    const last = (await node.status().catch(() => undefined))?.clock?.last
    if (last && Math.abs(now - Date.parse(last.at)) < day)
      return warn(`${last.says} while the daemon ran, at ${last.at}`, 'timedatectl', 'status')
    return ok(`${new Date(now).toISOString()}, boot ${bootId}`)
  },
}
