import { readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Check, fail, noDaemon, ok, skip, warn } from '../check-result.ts'
import type { NodeView } from '../probe-node.ts'
import { type CacheFolder, foldersOf } from '../../../result-cache/list-cache-files.ts'
import { type BadFile, CacheScanner } from '../../../result-cache/scan-cache.ts'
import type { AuditReply } from '../../../../shared/api/audit.schema.ts'
import type { CacheReply } from '../../../../shared/api/cache.schema.ts'
import { cacheReasons } from '../../../../shared/cache-reasons.ts'
import { resultCacheFolders, stateFolders } from '../../../../shared/paths.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { isSpareFolder, isWaitingSpare } from '../../../../shared/spare-dels.ts'
import { counted } from '../../../../shared/text/counted.ts'
import { systemCode } from '../../../../shared/system-code.ts'

/** Names that begin with a dot are being written. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter(name => !name.startsWith('.'))
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Paths of DELs that wait: in the queue, and those that came on a full disk. */
function waitingIn(stateDir: string): readonly string[] {
  const queue = join(stateDir, stateFolders.deferredDels)
  const spares = join(stateDir, stateFolders.spareDels)
  return [
    ...namesIn(queue).map(name => join(queue, name)),
    ...namesIn(spares)
      .filter(isSpareFolder)
      .map(name => join(spares, name))
      .flatMap(folder =>
        namesIn(folder)
          .filter(isWaitingSpare)
          .map(name => join(folder, name)),
      ),
  ]
}

const patience = 60_000

export const deferredDelsCheck: Check = {
  id: 'deferred-dels',
  title: 'no DEL is waiting',
  why: 'The address of a DEL that is waiting, or that was quarantined because it could not be read, may still be bound.',
  run: async node => {
    const status = await node.status()
    const stateDir = status?.stateDir ?? node.stateDir
    const quarantine = join(stateDir, stateFolders.quarantine)
    let aside: number
    let waiting: readonly string[]
    try {
      aside = namesIn(quarantine).filter(
        name => name.startsWith(`${stateFolders.deferredDels}-`) && !name.endsWith('.reason'),
      ).length
      waiting = waitingIn(stateDir)
    } catch (error) {
      return skip(`${stateDir} cannot be read (${systemCode(error)})`)
    }
    if (aside > 0)
      return fail(
        `${counted(aside, 'DEL was', 'DELs were')} quarantined in ${quarantine}`,
        'grep',
        '-r',
        '.',
        quarantine,
      )
    if (waiting.length === 0) return ok('none')
    const folders = [...new Set(waiting.map(path => relative(stateDir, path).split('/')[0]))]
    const says = `${waiting.length} in ${folders.map(name => join(stateDir, name ?? '')).join(' and ')}`
    if (!status) return warn(`${says}, until the daemon is back`, 'systemctl', 'restart', 'ipkeeper')
    const old = waiting.some(path => {
      const stats = statSync(path, { throwIfNoEntry: false })
      return stats !== undefined && Math.abs(node.now() - stats.mtimeMs) > patience
    })
    return old
      ? warn(`${says}, and the daemon does not complete them`, 'journalctl', '-u', 'ipkeeper')
      : ok(says)
  },
}

/** Of the daemon; undefined where there is none, an older one, or one that does not look. */
async function askDaemon(node: NodeView): Promise<CacheReply | undefined> {
  if (!(await node.status())) return undefined
  return (await node.ask('/v1/cache').catch(() => undefined)) as CacheReply | undefined
}

/** What can be told of the files by themselves; whose sandbox is gone, the daemon knows. */
async function scan(folders: readonly CacheFolder[]): Promise<{ bad: readonly BadFile[]; looked: number }> {
  const scanner = new CacheScanner({ folders, monotonic: () => performance.now() })
  const { bad, looked } = await scanner.scan({
    ...{ attachments: new Map(), containers: new Set(), recordsKnown: false, sandboxes: undefined },
    ...{ isOwnNetwork: () => false, networks: new Set() },
    // Without the runtimes, the age of a file proves nothing.
    ...{ bootedAt: 0, now: Date.now(), orphanAge: Infinity },
  })
  return { bad, looked }
}

const mend = ['ipkeeperctl', 'cache', 'scan']

const say = (count: string, files: readonly string[]): string =>
  `${count}: ${files.slice(0, 3).join('; ')}${files.length > 3 ? '; …' : ''}`

export const resultCacheCheck: Check = {
  id: 'result-cache',
  title: 'cached results can be read',
  why: 'containerd before 2.0 cannot delete a pod whose cached result is empty or broken: it stays Terminating forever.',
  run: async node => {
    const told = await askDaemon(node)
    const { bad, looked } = await scan(told?.folders ?? foldersOf(resultCacheFolders))
    const broken = bad.filter(({ reason }) => cacheReasons[reason].fault === 'broken')
    const files = broken.map(({ path, detail }) => `${path.toString()} ${detail}`)
    if (files.length > 0) return fail(say(`${files.length} of ${counted(looked, 'file')}`, files), ...mend)
    const odd = bad.map(({ path, detail }) => `${path.toString()} ${detail}`)
    if (odd.length > 0) return warn(say(`${odd.length} of ${counted(looked, 'file')}`, odd), ...mend)
    const reported = told?.files.map(({ path, reason }) => `${path} (${reason})`) ?? []
    if (reported.length > 0) return warn(say(`the daemon reports ${reported.length}`, reported), ...mend)
    return ok(counted(looked, 'file'))
  },
}

export const auditCheck: Check = {
  id: 'audit',
  title: 'leases, sandboxes and kernel agree',
  why: 'Where they differ, an address is wasted, or two pods have the same one.',
  run: async node => {
    if (!(await node.status())) return noDaemon
    let audit: AuditReply
    try {
      audit = (await node.ask('/v1/audit')) as AuditReply
    } catch (error) {
      if (error instanceof Problem && error.code === 'IPK_ROUTE_UNKNOWN')
        return skip('this version of the daemon does not compare them')
      throw error
    }
    // The checks of the configuration and of IPPools say those.
    const findings = audit.findings.filter(
      ({ kind }) => kind !== 'configuration-refused' && kind !== 'ippool-refused',
    )
    const of = (severity: string): AuditReply['findings'] =>
      findings.filter(finding => finding.severity === severity)
    const [error] = of('error')
    const [warning] = of('warning')
    const count = counted(findings.length, 'finding')
    if (error) return fail(`${count}: ${error.says}`, 'ipkeeperctl', 'audit')
    if (warning) return warn(`${count}: ${warning.says}`, 'ipkeeperctl', 'audit')
    return ok(`${counted(audit.attachments, 'attachment agrees', 'attachments agree')} with the node`)
  },
}

const recent = 60 * 60 * 1000
const shown = 10

export const flightRecordCheck: Check = {
  id: 'flight-record',
  title: 'runs of the plugin succeed',
  why: 'A run that failed recently usually fails again; the record has the output that the runtime discarded.',
  run: node => {
    const all = node.flights()
    const failed = all
      .filter(({ exit, at }) => exit !== 0 && Math.abs(node.now() - Date.parse(at)) < recent)
      .slice(-shown)
    if (failed.length === 0) return ok(`${all.length} recorded, none failed in the last hour`)
    const counts = new Map<string, number>()
    for (const { verb, code, cniCode } of failed) {
      const what = `${verb} ${code ?? `code ${cniCode ?? '-'}`}`
      counts.set(what, (counts.get(what) ?? 0) + 1)
    }
    const summary = [...counts].map(([what, count]) => `${count} x ${what}`).join(', ')
    return warn(`failed in the last hour: ${summary}`, 'ipkeeperctl', 'flights', '--failed')
  },
}
