import { containerIdFault } from '../../../shared/cni/identifiers.ts'
import { isJsonObject, jsonTypeName } from '../../../shared/json/fold.ts'
import { parseAddress } from '../../../shared/net/address.ts'
import type { resultCacheFolders } from '../../../shared/paths.ts'
import { decodeJson, cachedResultFault, wrongKind, type ContentFault } from './content-fault.ts'

export type CacheKind = keyof typeof resultCacheFolders

/** Whose file it is, as far as the file itself says so. */
export interface NamedSandbox {
  readonly network?: string
  readonly containerId?: string
  readonly ifname?: string
}

/** What stands in a file. */
export interface Content {
  readonly fault?: ContentFault
  readonly sandbox: NamedSandbox
}

export interface CacheKindRow {
  /** Who writes and reads the files. */
  readonly keeper: string
  /** Whether the files are in folders, one of each network. */
  readonly nested: boolean
  /** Whether a file of this name is one that can do harm. */
  readonly holds: (name: string) => boolean
  readonly read: (text: string, name: string) => Content
}

/** Of a file whose name is the container ID. */
const byContainer = (name: string): NamedSandbox => (containerIdFault(name) ? {} : { containerId: name })

const string = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

function namedIn(value: unknown): NamedSandbox {
  if (!isJsonObject(value) || value['kind'] !== 'cniCacheV1') return {}
  const [network, containerId, ifname] = ['networkName', 'containerId', 'ifName'].map(key =>
    string(value[key]),
  )
  return {
    ...(network !== undefined && { network }),
    ...(containerId !== undefined && { containerId }),
    ...(ifname !== undefined && { ifname }),
  }
}

/** A reservation of host-local: the container ID, and since 0.7 the interface in a second line. */
function readReservation(text: string): Content {
  const [first = '', second = ''] = text.trim().split(/\r?\n/)
  const [containerId, ifname] = [first.trim(), second.trim()]
  if (text === '')
    return {
      fault: { reason: 'zero-byte', detail: 'empty: an address that no container has and none can get' },
      sandbox: {},
    }
  if (containerId === '' || containerIdFault(containerId))
    return { fault: wrongKind('its first line is no container ID'), sandbox: {} }
  return { sandbox: { containerId, ...(ifname !== '' && { ifname }) } }
}

const anyName = (): boolean => true

/** What keeps results of ADDs on a node's disk, and how its files look when they are whole. */
export const cacheKinds: Readonly<Record<CacheKind, CacheKindRow>> = {
  // libcni/api.go, cacheAdd and getCachedResult.
  results: {
    keeper: 'libcni',
    nested: false,
    holds: anyName,
    read: text => {
      const { fault, value } = decodeJson(text)
      const wrong = fault ?? cachedResultFault(value)
      return { ...(wrong && { fault: wrong }), sandbox: wrong ? {} : namedIn(value) }
    },
  },
  // flannel-io/cni-plugin, saveScratchNetConf: the netconf of the delegate.
  flannel: {
    keeper: 'flannel',
    nested: false,
    holds: anyName,
    read: (text, name) => {
      const { fault, value } = decodeJson(text)
      const wrong =
        fault ?? (isJsonObject(value) ? undefined : wrongKind(`${jsonTypeName(value)}, not an object`))
      return { ...(wrong && { fault: wrong }), sandbox: byContainer(name) }
    },
  },
  // multus-cni pkg/multus, saveDelegates: a list of netconfs.
  multus: {
    keeper: 'multus',
    nested: false,
    // libcni's folder, which Multus gives it within its own.
    holds: name => name !== 'results',
    read: (text, name) => {
      const { fault, value } = decodeJson(text)
      const wrong =
        fault ??
        (Array.isArray(value) || isJsonObject(value)
          ? undefined
          : wrongKind(`${jsonTypeName(value)}, neither a list nor an object`))
      return { ...(wrong && { fault: wrong }), sandbox: byContainer(name) }
    },
  },
  // plugins/ipam/host-local/backend/disk: beside the reservations, "lock" and "last_reserved_ip.N" may be empty.
  hostLocal: {
    keeper: 'host-local',
    nested: true,
    holds: name => parseAddress(name) !== undefined,
    read: readReservation,
  },
}

export const cacheKindNames = Object.keys(cacheKinds) as [CacheKind, ...CacheKind[]]
