/** The manifests of deploy, from which the chart is made: what they say is said there alone. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

const deploy = join(import.meta.dirname, '..', '..', 'deploy')

export const readManifest = (path: string): string => readFileSync(join(deploy, path), 'utf8')

interface Container {
  readonly image: string
  readonly resources: Readonly<Record<string, unknown>>
}

interface DaemonSet {
  readonly spec: {
    readonly updateStrategy: { readonly rollingUpdate: { readonly maxUnavailable: string } }
    readonly template: {
      readonly spec: {
        readonly tolerations: readonly object[]
        readonly initContainers: readonly [Container]
        readonly containers: readonly [Container]
        readonly volumes: readonly { readonly name: string; readonly hostPath?: { readonly path: string } }[]
      }
    }
  }
}

const { spec } = parse(readManifest('kubernetes/base/daemonset.yaml')) as DaemonSet
const pod = spec.template.spec

/** What the DaemonSet of the base has where a value of the chart may say otherwise. */
export const base = {
  image: pod.containers[0].image.split(':')[0] ?? '',
  maxUnavailable: spec.updateStrategy.rollingUpdate.maxUnavailable,
  tolerations: pod.tolerations,
  installResources: pod.initContainers[0].resources,
  daemonResources: pod.containers[0].resources,
}

/** The folder of the node that a volume of the base is. */
export function nodeFolder(volume: string): string {
  const path = pod.volumes.find(({ name }) => name === volume)?.hostPath?.path
  if (path === undefined) throw new Error(`the DaemonSet has no folder of the node called ${volume}`)
  return path
}

/** The network configuration that comes with ipkeeper, and the subnet in it. */
export const conflistName = '10-ipkeeper.conflist'
export const conflist = readManifest(`cni/${conflistName}`)
export const subnet = /"subnet": "([^"]+)"/.exec(conflist)?.[1] ?? ''
