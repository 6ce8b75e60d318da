import { lstatSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { AddressReply } from '../../../shared/api/address.schema.ts'
import type { AttachmentsReply } from '../../../shared/api/listing.schema.ts'
import { resultCacheFolders } from '../../../shared/paths.ts'
import { describeAttachmentItem, describeFlight } from './describe-record.ts'
import { describeFinding, lintNetworks } from './networks.ts'
import type { CaptureName, Captures } from './messages/text-group.ts'
import type { NodeView } from './probe-node.ts'

/** What this node and its daemon know of one thing that a text names; each line is a sentence. */
type LookUp = (node: NodeView, value: string) => Promise<readonly string[]> | readonly string[]

const mostLines = 6

async function attachmentsOf(node: NodeView): Promise<AttachmentsReply['attachments'] | undefined> {
  if (!(await node.status())) return undefined
  return ((await node.ask('/v1/attachments')) as AttachmentsReply).attachments
}

/** Files of the result cache that bear the sandbox's ID. */
function cacheFilesOf(containerId: string): readonly string[] {
  const folders = [...resultCacheFolders.results, ...resultCacheFolders.flannel, ...resultCacheFolders.multus]
  return folders.flatMap(folder => {
    let names: string[]
    try {
      names = readdirSync(folder)
    } catch {
      return []
    }
    return names
      .filter(
        name =>
          name === containerId || name.includes(`-${containerId}-`) || name.startsWith(`${containerId}-`),
      )
      .flatMap(name => {
        const path = join(folder, name)
        const stats = lstatSync(path, { throwIfNoEntry: false })
        return stats ? [`file ${path} has ${stats.size} bytes`] : []
      })
  })
}

const ofContainer: LookUp = async (node, id) => {
  const attachments = await attachmentsOf(node)
  const here = (await node.status())?.node
  const known = attachments?.filter(({ containerId }) => containerId.startsWith(id))
  const flights = node.flights().filter(flight => flight.containerId?.startsWith(id))
  return [
    ...(known === undefined
      ? ['no daemon answers, so the holders are not known']
      : known.length === 0
        ? [`the daemon has no record of sandbox ${id}`]
        : known.map(item => describeAttachmentItem(item, here))),
    ...cacheFilesOf(id),
    ...flights.slice(-3).map(describeFlight),
    ...(flights.length === 0 ? [`no run of the plugin for sandbox ${id} is on record`] : []),
  ]
}

const ofPod: LookUp = async (node, pod) => {
  const attachments = await attachmentsOf(node)
  const here = (await node.status())?.node
  const known = attachments?.filter(item => item.pod && `${item.pod.namespace}/${item.pod.name}` === pod)
  if (!known) return []
  return known.length === 0
    ? [`the daemon has no record of a sandbox of pod ${pod}`]
    : known.map(item => describeAttachmentItem(item, here))
}

const ofAddress: LookUp = async (node, address) => {
  if (!(await node.status())) return []
  const reply = (await node.ask(`/v1/addresses/default/${encodeURIComponent(address)}`)) as AddressReply
  return [reply.sentence]
}

const ofSocket: LookUp = (_node, socket) => {
  const stats = lstatSync(socket, { throwIfNoEntry: false })
  return [
    stats
      ? stats.isSocket()
        ? `socket ${socket} exists`
        : `${socket} is not a socket`
      : `there is no socket ${socket}`,
  ]
}

const ofPlugin: LookUp = ({ binDirs }, plugin) => {
  const found = binDirs
    .map(folder => join(folder, plugin))
    .filter(path => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
  return [
    found.length === 0
      ? `plugin ${plugin} is not in ${binDirs.join(', ') || 'the usual folders'}`
      : `plugin ${plugin} is ${found.join(', ')}`,
  ]
}

const ofNetwork: LookUp = (node, network) => {
  const file = node.networks.find(({ name }) => name === network)
  return [
    file
      ? `network ${network} is defined in ${file.path}`
      : `no file in ${node.confDir} defines network ${network}`,
  ]
}

const ofPath: LookUp = async (node, path) =>
  dirname(path) === node.confDir
    ? (await lintNetworks(node)).findings
        .filter(({ file, severity }) => file === path && severity === 'error')
        .map(describeFinding)
    : []

/** In the order in which they are told. */
const lookUps: readonly (readonly [CaptureName, LookUp])[] = [
  ['containerId', ofContainer],
  ['pod', ofPod],
  ['address', ofAddress],
  ['network', ofNetwork],
  ['plugin', ofPlugin],
  ['path', ofPath],
  ['socket', ofSocket],
]

/** Who holds what a text speaks of: of each thing that it names, what can be told of it here. Never rejects. */
export async function whoHolds(node: NodeView, captures: Captures): Promise<readonly string[]> {
  const told = await Promise.all(
    lookUps.map(async ([name, lookUp]) => {
      const value = captures[name]
      if (value === undefined) return []
      try {
        return (await lookUp(node, value)).slice(0, mostLines)
      } catch (error) {
        return [
          `what is known about ${value} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
        ]
      }
    }),
  )
  return [...new Set(told.flat())]
}
