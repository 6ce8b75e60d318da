import { accessSync, constants, existsSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fail, noDaemon, ok, skip, warn, type Check, type CheckResult } from '../check-result.ts'
import type { NodeView } from '../probe-node.ts'
import { mainNetworks, oursIn } from '../networks.ts'
import { leastGlibc } from '../../../host/least-glibc.ts'
import { neededTools, type ToolName, tools } from '../../../network/plan/tools.ts'
import type { AttachmentsReply, StatusReply } from '../../../../shared/api/listing.schema.ts'
import { counted } from '../../../../shared/text/counted.ts'

const folders = ['/usr/sbin', '/sbin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/local/bin']

function isThere(tool: string): boolean {
  return folders.some(folder => {
    try {
      accessSync(join(folder, tool), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

export const toolsCheck: Check = {
  id: 'tools',
  title: 'the programs that set up pod networks are installed',
  why: 'ipkeeper sets up pod networks with ip, nft, nsenter and arping; without them an ADD of its own networks fails.',
  run: node => {
    const needed = new Set(mainNetworks(node).flatMap(neededTools))
    const missing = (Object.keys(tools) as ToolName[]).filter(tool => !isThere(tool))
    const inTheWay = missing.filter(tool => needed.has(tool))
    const install = (names: readonly ToolName[]): string[] => [
      'apt-get',
      'install',
      ...new Set(names.map(name => tools[name])),
    ]
    if (inTheWay.length > 0) return fail(`missing: ${inTheWay.join(', ')}`, ...install(inTheWay))
    if (missing.length > 0)
      return warn(`missing, but not needed by a network here: ${missing.join(', ')}`, ...install(missing))
    return ok(Object.keys(tools).join(', '))
  },
}

interface ProcessReport {
  readonly header: { readonly glibcVersionRuntime?: string }
  readonly sharedObjects: readonly string[]
}

export const librariesCheck: Check = {
  id: 'libraries',
  title: 'the host has the libraries that the executables need',
  why: `The daemon and the plugin with Node need glibc ${leastGlibc} and libstdc++; without them only the static plugin starts.`,
  run: () => {
    const { header, sharedObjects } = process.report.getReport() as unknown as ProcessReport
    const glibc = header.glibcVersionRuntime
    const standard = sharedObjects.find(path => /\/libstdc\+\+\.so/.test(path))
    // This one runs, so it has what it needs; a static one needs nothing.
    const says = `glibc ${glibc ?? 'none'}, ${standard ?? 'no libstdc++'}`
    if (glibc !== undefined && glibc.localeCompare(leastGlibc, 'en', { numeric: true }) < 0)
      return warn(`${says}: older than ${leastGlibc}`, 'ldd', '--version')
    return ok(process.env['KUBERNETES_SERVICE_HOST'] === undefined ? says : `${says}, of this container`)
  },
}

/**
 * Folder of the daemon in /proc; undefined when the process of that number is another one, as it is for a daemon with
 * process IDs of its own.
 */
function daemonProcess({ pid }: StatusReply): string | undefined {
  const folder = `/proc/${pid}`
  try {
    return readFileSync(`${folder}/cmdline`, 'utf8').includes('ipkeeper-server') ? folder : undefined
  } catch {
    return undefined
  }
}

/** The outcome of a probe of the daemon's folder in /proc, where there is one to be seen. */
export async function probeDaemonProcess(
  node: NodeView,
  probe: (folder: string) => CheckResult,
): Promise<CheckResult> {
  const status = await node.status()
  if (!status) return noDaemon
  const folder = daemonProcess(status)
  return folder === undefined
    ? skip(`process ${status.pid} here is not the daemon, which has a PID namespace of its own`)
    : probe(folder)
}

/** Whether a process has the same mounts as this one. */
export function sharesMounts(folder: string): boolean {
  return readlinkSync(`${folder}/ns/mnt`) === readlinkSync('/proc/self/ns/mnt')
}

/** Bits of linux/capability.h. */
const wanted = { CAP_NET_ADMIN: 12n, CAP_SYS_ADMIN: 21n } as const

export const processCapabilitiesCheck: Check = {
  id: 'process-capabilities',
  title: 'the daemon may set up pod networks',
  why: 'Without CAP_NET_ADMIN and CAP_SYS_ADMIN the daemon cannot create links or enter the namespace of a pod.',
  run: async node =>
    await probeDaemonProcess(node, folder => {
      const line = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync(`${folder}/status`, 'utf8'))?.[1]
      if (line === undefined) return skip(`${folder}/status does not show it`)
      const has = BigInt(`0x${line}`)
      const missing = Object.entries(wanted).flatMap(([name, bit]) => ((has >> bit) & 1n ? [] : [name]))
      if (missing.length === 0) return ok(Object.keys(wanted).join(', '))
      if (!node.networks.some(file => oursIn(file)?.main === true))
        return ok(`without ${missing.join(', ')}, which no network here needs`)
      return fail(`it lacks ${missing.join(', ')}`, 'systemctl', 'cat', 'ipkeeper')
    }),
}

/** As systemd-timesyncd and others leave it once the clock was set. */
const synchronised = '/run/systemd/timesync/synchronized'
const day = 24 * 60 * 60 * 1000

export const clockCheck: Check = {
  id: 'clock',
  title: 'clock and boot ID',
  why: 'With a wrong clock, addresses are kept for too long or not long enough; without the boot ID the daemon cannot recognise sandboxes of an earlier boot.',
  run: async node => {
    let bootId: string
    try {
      bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    } catch {
      return fail('the boot ID cannot be read', 'ls', '-l', '/proc/sys/kernel/random/boot_id')
    }
    const now = node.now()
    const built = statSync(process.execPath, { throwIfNoEntry: false })?.mtimeMs
    if (built === undefined) return skip('the age of this program is not known')
    if (now < built - day)
      return fail(
        `it is ${new Date(now).toISOString()}, which is before this program was installed`,
        ...['timedatectl', 'status'],
      )
    if (existsSync('/run/systemd/timesync') && !existsSync(synchronised))
      return warn('the clock has not been synchronised since the node started', 'timedatectl', 'status')
    const last = (await node.status().catch(() => undefined))?.clock?.last
    if (last && Math.abs(now - Date.parse(last.at)) < day)
      return warn(`${last.says} while the daemon ran, at ${last.at}`, 'timedatectl', 'status')
    return ok(`${new Date(now).toISOString()}, boot ${bootId}`)
  },
}

export const oldBootCheck: Check = {
  id: 'old-boot',
  title: 'no sandbox of an earlier boot has an address',
  why: 'Such a sandbox no longer runs, so its address is wasted until it is released.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    const { attachments } = (await node.ask('/v1/attachments')) as AttachmentsReply
    // By the boots themselves: the clock may have been set since.
    if (attachments.some(({ bootId }) => bootId === undefined))
      return skip(`ipkeeper-server ${status.version} does not report boots`)
    const old = attachments.filter(
      ({ node: its, bootId }) => its === status.node && bootId !== null && bootId !== status.bootId,
    )
    if (old.length > 0)
      return warn(
        `${old.length} of ${counted(attachments.length, 'attachment')} ${old.length === 1 ? 'is' : 'are'} older than this boot`,
        'ipkeeperctl',
        'audit',
      )
    return ok(`${counted(attachments.length, 'attachment')}, none older than this boot`)
  },
}

export const userCheck: Check = {
  id: 'user',
  title: 'the doctor is run as root',
  why: "What belongs to root, such as the daemon's socket and its records, is skipped for other users.",
  run: () => {
    const user = process.geteuid?.()
    if (user === 0) return ok('root')
    return warn(`run by user ${user ?? '?'}: run as root to see all`, 'sudo', 'ipkeeperctl', 'doctor')
  },
}
