/** The programs of a Kubernetes cluster: real ones, built by `scripts/build-tools.ts` or given by the caller. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from './find-program.ts'
import { goModule } from './go-module.ts'

/** kube-apiserver, kube-controller-manager and kubectl; test/tools/go.mod alone says in which version. */
export const tools = goModule('tools', 'test/tools', 'scripts/build-tools.ts')

/** kubelet, kube-proxy and kube-scheduler of the same module, in a folder of their own: most runs do without them. */
export const nodeTools = goModule('node-tools', 'test/tools', 'scripts/build-tools.ts')

/**
 * A folder with kube-apiserver and etcd that is used instead, by the name that controller-runtime's test environment
 * gave it. The others may be there too; setup-envtest brings kubectl alone of them.
 */
export const givenPrograms = process.env['KUBEBUILDER_ASSETS'] ?? ''

export const nodePrograms = ['kubelet', 'kube-proxy', 'kube-scheduler'] as const

export type ClusterProgram =
  'kube-apiserver' | 'kube-controller-manager' | 'kubectl' | 'etcd' | (typeof nodePrograms)[number]

/** Full path of a program, or undefined when there is none. */
export function findClusterProgram(name: ClusterProgram): string | undefined {
  if (givenPrograms === '' && name === 'etcd') return findProgram(name)
  const built = nodePrograms.some(program => program === name) ? nodeTools.built : tools.built
  const path = join(givenPrograms === '' ? built : givenPrograms, name)
  return existsSync(path) ? path : undefined
}
