import { join } from 'node:path'
import type { StatusReply } from '../../../shared/api/listing.schema.ts'
import { stateFolders } from '../../../shared/paths.ts'
import { command, expectPositionals } from '../command.ts'
import { distance } from '../distance.ts'

/** Said only when there is something to look at. */
function queueLine({ stateDir, deferredDels: { waiting, quarantined } }: StatusReply): string[] {
  if (waiting + quarantined === 0) return []
  const aside =
    quarantined === 0
      ? ''
      : `, ${quarantined} ${quarantined === 1 ? 'file' : 'files'} put aside in ${join(stateDir, stateFolders.quarantine)}`
  return [`queue   ${waiting} ${waiting === 1 ? 'DEL' : 'DELs'} waiting${aside}`]
}

export const statusCommand = command({
  name: 'status',
  arguments: '',
  summary: 'show whether the daemon answers, its version, node, store and counts',
  options: {},
  example: 'ipkeeperctl status',
  run: async (daemon, args) => {
    expectPositionals(args, [])
    return (await daemon.ask('GET', '/v1/status')) as StatusReply
  },
  print: status =>
    [
      `ipkeeper-server ${status.version} on node ${status.node}, pid ${status.pid}, up ${distance(status.startedAt)}`,
      `socket  ${status.socket}`,
      `state   ${status.stateDir}`,
      `store   ${status.store.kind} ${status.store.location}`,
      `leases  ${status.store.leases}, attachments ${status.store.attachments}, pools ${status.pools}`,
      ...queueLine(status),
      '',
    ].join('\n'),
})
