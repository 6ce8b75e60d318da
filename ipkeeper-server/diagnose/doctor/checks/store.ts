import { counted } from '../../../../shared/text/counted.ts'
import type { NodeItem, NodesReply } from '../../../../shared/api/node.schema.ts'
import { accessSync, closeSync, constants, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Check, fail, noDaemon, ok, skip, warn } from '../check-result.ts'
import { freeRoom } from '../../../host/free-room.ts'
import { openRegularFile } from '../../../host/regular-file.ts'
import { migrations } from '../../../store/sqlite/migrations.ts'
import { systemCode } from '../../../../shared/system-code.ts'

const mebibyte = 1024 * 1024
/** Below this a burst of pods can fill it. */
const little = 64 * mebibyte
/** Below this the next write may fail. */
const none = 1 * mebibyte

/** Where a SQLite file says how many steps made its layout: PRAGMA user_version (sqlite.org, file format, 1.3). */
const layoutOffset = 60

/** undefined where there is no such file, or nothing in it yet. */
function readLayout(path: string): number | undefined {
  let file
  try {
    file = openRegularFile(path, { most: Infinity })
    const bytes = Buffer.alloc(4)
    return readSync(file, bytes, 0, 4, layoutOffset) === 4 ? bytes.readUInt32BE() : undefined
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

export const storeCheck: Check = {
  id: 'store',
  title: 'the state folder is writable',
  why: 'The daemon answers only after a change is on disk: with a full or read-only disk every ADD fails.',
  run: async node => {
    const status = await node.status()
    const folder = status?.stateDir ?? node.stateDir
    const show = ['df', '-h', folder]
    let stats
    try {
      stats = statSync(folder)
      accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    } catch (error) {
      const code = systemCode(error)
      if (code === 'ENOENT')
        return fail(`there is no state folder ${folder}`, 'systemctl', 'restart', 'ipkeeper')
      if (code === 'EROFS')
        return fail(`${folder} is on a file system that is read-only`, 'findmnt', '-T', folder)
      return fail(`${folder} cannot be written to (${code})`, 'ls', '-ld', folder)
    }
    if ((stats.mode & 0o022) !== 0)
      return fail(`users other than its owner may write to ${folder}`, 'chmod', '0700', folder)
    const { fault, findings = [] } = status?.store.file ?? {}
    if (fault) return fail(fault.message, 'ipkeeperctl', 'rescue')
    const lost = status ? undefined : await node.missingLedger(folder)
    if (lost !== undefined)
      return fail(
        `${lost}: the daemon does not create a new one by itself`,
        ...['journalctl', '-u', 'ipkeeper', '-n', '50'],
      )
    // Of a daemon that runs it is known.
    const layout = status ? undefined : readLayout(join(folder, 'leases.db'))
    if (layout !== undefined && layout > migrations.length)
      return fail(
        `${join(folder, 'leases.db')} is of a newer ipkeeper-server (layout ${layout}, this one knows ${migrations.length}): start that version again, or restore the copy from before the upgrade`,
        ...['ipkeeper-server', '--version'],
      )
    if (status?.disk?.refuses)
      return fail(`${status.disk.refuses.reason}: no pod can be added until there is space again`, ...show)
    const { bytes: free, files } = freeRoom(folder)
    const says = `${folder} has ${Math.floor(free / mebibyte)} MiB free`
    if (free < none) return fail(says, ...show)
    if (files < 16) return fail(`${folder} has no free inodes`, 'df', '-i', folder)
    if (free < little) return warn(says, ...show)
    const file = status?.store.file?.path
    if (file !== undefined) {
      const database = statSync(file, { throwIfNoEntry: false })
      if (!database) return fail(`the database ${file} is gone`, 'ipkeeperctl', 'rescue')
      if ((database.mode & 0o022) !== 0)
        return fail(`users other than its owner may write to ${file}`, 'chmod', '0600', file)
    }
    if (findings.length > 0)
      return warn(
        `${counted(findings.length, 'history entry', 'history entries')} in ${file ?? folder} ${findings.length === 1 ? 'is' : 'are'} damaged, but no lease`,
        ...['ipkeeperctl', 'rescue'],
      )
    return ok(`${says}${status ? `; ${status.store.kind}, ${counted(status.store.leases, 'lease')}` : ''}`)
  },
}

export const engineCheck: Check = {
  id: 'engine',
  title: 'the engine that nodes share is reachable, and has all leases',
  why: 'While it is unreachable or has lost records, pods on this node keep their addresses, but every new claim has to wait.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    const { kind, location, state, reason, since, owed, waitsFor = [], lacks } = status.store
    if (state === undefined) return skip(`the store (${kind}) is this node's own`)
    const where = `${kind} ${location}`
    const behind = owed !== undefined && owed > 0 ? `; ${counted(owed, 'pending write')}` : ''
    if (state === 'away')
      return fail(
        `${where} has been unreachable since ${since ?? '?'} (${reason ?? 'cause not known'})${behind}`,
        ...['journalctl', '-u', 'ipkeeper', '-n', '50'],
      )
    if (state === 'incomplete') {
      const whom = waitsFor.length === 0 ? '' : `; waiting for ${waitsFor.join(', ')}`
      return fail(
        `${where} has lost records (${reason ?? 'cause not known'}), and no new address is assigned since ${since ?? '?'}${whom}${behind}`,
        ...['ipkeeperctl', 'status'],
      )
    }
    if (reason !== undefined)
      return warn(
        `${where} accepts changes, but changes of other nodes are not received since ${since ?? '?'} (${reason})`,
        ...['journalctl', '-u', 'ipkeeper', '-n', '50'],
      )
    if (lacks !== undefined) return warn(`${where}: ${lacks}`, 'ipkeeperctl', 'status')
    return ok(`${where}${behind}`)
  },
}

/** How nodes are that keep addresses and may never come back to end anything there. */
const absent: Partial<Record<NodeItem['state'], string>> = {
  silent: 'is out of contact',
  gone: 'is gone',
  'out-of-service': 'is out of service',
  'waited-for': 'has to report what is in use there',
}

export const otherNodesCheck: Check = {
  id: 'other-nodes',
  title: 'the other nodes are in contact, or have no addresses',
  why: 'An address that is bound on a node that has failed stays bound until somebody says that its machine is off.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    if (status.store.state === undefined) return skip(`the store (${status.store.kind}) is this node's own`)
    const { nodes } = (await node.ask('/v1/nodes?limit=1000')) as NodesReply
    const [first, ...more] = nodes.filter(({ here, state, leases }) => !here && leases > 0 && absent[state])
    if (!first) return ok(counted(nodes.length, 'node'))
    const { name, state, leases, lastContact } = first
    const contact = lastContact === null ? '' : `, last contact ${lastContact}`
    const others =
      more.length === 0
        ? ''
        : `; and ${counted(more.length, 'other')}: ${more.map(other => other.name).join(', ')}`
    return warn(
      `node ${name} ${absent[state] ?? ''} (${counted(leases, 'address', 'addresses')} bound there${contact})${others}`,
      ...['ipkeeperctl', 'nodes'],
    )
  },
}

export const severalNodesCheck: Check = {
  id: 'several-nodes',
  title: 'all nodes that assign these addresses share one store',
  why: 'The embedded store knows only its own node: another node could assign the same address.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    const nodes = status.kubernetes?.counts.nodes
    if (nodes === undefined) return skip('no Kubernetes API is configured, so other nodes are not known')
    if (nodes > 1 && ['sqlite', 'memory'].includes(status.store.kind))
      return warn(
        `the cluster has ${nodes} nodes, and the store (${status.store.kind}) belongs to this one alone`,
        ...['ipkeeperctl', 'pools'],
      )
    return ok(`${counted(nodes, 'node')}, store ${status.store.kind}`)
  },
}
