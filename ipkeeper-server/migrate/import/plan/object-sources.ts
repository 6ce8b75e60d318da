import type { ImportSource } from '../../../../shared/api/import.schema.ts'
import type { Findings } from './findings.ts'
import type { ReadObject } from './read-object.ts'
import { readCalico } from './read-calico.ts'
import { readCrdIpkeeper } from './read-crd-ipkeeper.ts'
import { readKubeOvn } from './read-kube-ovn.ts'
import { readWhereabouts } from './read-whereabouts.ts'

/** A resource of the API, in the versions that have been served, the newest last. */
export interface SourceResource {
  readonly kind: string
  readonly plural: string
  readonly apiVersions: readonly [string, ...string[]]
}

export interface ObjectSource {
  /** All that `read` needs; kubectl lists them by "PLURAL.GROUP". */
  readonly resources: readonly SourceResource[]
  readonly read: (objects: readonly ReadObject[]) => Findings
}

export type ObjectSourceName = Exclude<ImportSource, 'host-local'>

/** Where other IPAMs keep in the API what they have given. */
export const objectSources: Readonly<Record<ObjectSourceName, ObjectSource>> = {
  whereabouts: {
    resources: [
      { kind: 'IPPool', plural: 'ippools', apiVersions: ['whereabouts.cni.cncf.io/v1alpha1'] },
      {
        kind: 'OverlappingRangeIPReservation',
        plural: 'overlappingrangeipreservations',
        apiVersions: ['whereabouts.cni.cncf.io/v1alpha1'],
      },
    ],
    read: readWhereabouts,
  },
  calico: {
    resources: [
      {
        kind: 'IPAMBlock',
        plural: 'ipamblocks',
        apiVersions: ['crd.projectcalico.org/v1', 'projectcalico.org/v3'],
      },
    ],
    read: readCalico,
  },
  'kube-ovn': {
    resources: [{ kind: 'IP', plural: 'ips', apiVersions: ['kubeovn.io/v1'] }],
    read: readKubeOvn,
  },
  'crd-ipkeeper': {
    resources: [{ kind: 'StaticIP', plural: 'staticips', apiVersions: ['ipkeeper.generals.space/v1'] }],
    read: readCrdIpkeeper,
  },
}

/** "ippools.whereabouts.cni.cncf.io,overlappingrangeipreservations.whereabouts.cni.cncf.io" */
export function kubectlNames({ resources }: ObjectSource): string {
  return resources
    .map(({ plural, apiVersions: [first] }) => `${plural}.${first.split('/')[0] ?? ''}`)
    .join(',')
}
