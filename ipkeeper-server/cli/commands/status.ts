import { join } from 'node:path'
import type { StatusReply } from '../../../shared/api/listing.schema.ts'
import { stateFolders } from '../../../shared/paths.ts'
import { command } from '../command.ts'
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

/** What is beside the kind of a store that nodes share is said only when there is something to look at. */
function storeLines({ store: { kind, location, state, reason, since, owed = 0 } }: StatusReply): string[] {
  const how = state === 'away' ? 'away' : 'not heard of'
  return [
    `store   ${kind} ${location}`,
    ...(reason === undefined
      ? []
      : [`        ${how}${since === undefined ? '' : ` for ${distance(since)}`}: ${reason}`]),
    ...(state === 'away'
      ? ['        what has its address on this node goes on; new claims wait until it is back']
      : []),
    ...(owed > 0 ? [`        ${owed} ${owed === 1 ? 'record waits' : 'records wait'} to be told to it`] : []),
  ]
}

/** Said only when the file is not what is in force. */
function configLines({ config: { path, loadedAt, problem } }: StatusReply): string[] {
  if (problem === null) return []
  return [`config  ${path} is not in force, that of ${loadedAt} is: ${String(problem['message'])}`]
}

/** Said only where an API is configured. */
function kubernetesLines({ kubernetes }: StatusReply): string[] {
  if (kubernetes === null) return []
  const { server, source, connected, watches, counts, missingRights, missingRules, nodeMissing } = kubernetes
  const away = watches.filter(watch => !watch.connected)
  return [
    `api     ${server} (${source}), ${connected ? `connected; ${counts.pods} pods of this node` : 'not connected'}`,
    ...away.map(
      ({ resource, lastError }) => `        ${resource}: ${lastError?.message ?? 'no watch is open yet'}`,
    ),
    ...(missingRights ?? []).map(({ verb, resource, why }) => `        may not ${verb} ${resource}: ${why}`),
    ...(missingRules === ''
      ? []
      : ['        add to its ClusterRole:', ...missingRules.trimEnd().split('\n')]),
    ...(nodeMissing
      ? [
          `        the cluster has no Node of this name${nodeMissing.meant === null ? '' : `; is it ${nodeMissing.meant}?`}`,
        ]
      : []),
  ]
}

export const statusCommand = command({
  name: 'status',
  watch: true,
  arguments: [],
  summary: 'show whether the daemon answers, its version, node, store and counts',
  options: {},
  examples: [
    { line: 'ipkeeperctl status', does: 'tells whether the daemon is well' },
    { line: 'ipkeeperctl status --watch -o json | jq -c .store', does: 'a line with each change' },
  ],
  run: async daemon => (await daemon.ask('GET', '/v1/status')) as StatusReply,
  print: status =>
    [
      `ipkeeper-server ${status.version} on node ${status.node}, pid ${status.pid}, up ${distance(status.startedAt)}`,
      ...(status.commit === undefined || status.commit === 'unknown' ? [] : [`commit  ${status.commit}`]),
      `socket  ${status.socket}`,
      `state   ${status.stateDir}`,
      ...storeLines(status),
      `leases  ${status.store.leases}, attachments ${status.store.attachments}, pools ${status.pools}`,
      ...queueLine(status),
      ...configLines(status),
      ...kubernetesLines(status),
      '',
    ].join('\n'),
})
