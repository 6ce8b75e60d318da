import { resourcePath } from '../../kubernetes/api-path.ts'

export const apiGroup = 'ipkeeper.io'
export const apiVersion = `${apiGroup}/v1alpha1`

interface Resource {
  readonly plural: string
  readonly singular: string
}

/** The custom resources that ipkeeper has. */
export const resources = {
  IPPool: { plural: 'ippools', singular: 'ippool' },
  IPReservation: { plural: 'ipreservations', singular: 'ipreservation' },
  IPLease: { plural: 'ipleases', singular: 'iplease' },
  IPHolder: { plural: 'ipholders', singular: 'ipholder' },
  IPNode: { plural: 'ipnodes', singular: 'ipnode' },
} as const satisfies Readonly<Record<string, Resource>>

/** What is read when it is asked for, and followed by nobody. */
export const historyResource = { kind: 'IPHistory', plural: 'iphistories', singular: 'iphistory' } as const

/** All kinds of the API group. */
export const allResources = { ...resources, [historyResource.kind]: historyResource } as const

export type ResourceKind = keyof typeof resources

/** An object of one of the resources; those outside of namespaces have none. */
export interface ObjectName {
  readonly namespace?: string | undefined
  readonly name: string
}

/** Of all objects of the kind, or of those of a namespace. */
export function collectionPath(kind: ResourceKind, namespace?: string): string {
  return resourcePath(apiVersion, resources[kind].plural, { namespace })
}

export function objectPath(kind: ResourceKind, name: ObjectName): string {
  return resourcePath(apiVersion, resources[kind].plural, name)
}
