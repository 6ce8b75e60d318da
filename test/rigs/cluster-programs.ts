/** The programs of a Kubernetes control plane: real ones, built by `make test-cluster` or given by the caller. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from './find-program.ts'
import { goModule } from './go-module.ts'

/** kube-apiserver, kube-controller-manager and kubectl; test/tools/go.mod alone says in which version. */
export const tools = goModule('tools', 'test/tools', 'scripts/build-tools.ts')

/**
 * A folder with kube-apiserver and etcd that is used instead, by the name that controller-runtime's test environment
 * gave it. kube-controller-manager may be there too; setup-envtest does not bring it, but kubectl.
 */
export const givenPrograms = process.env['KUBEBUILDER_ASSETS'] ?? ''

export type ClusterProgram = 'kube-apiserver' | 'kube-controller-manager' | 'kubectl' | 'etcd'

/** Full path of a program, or undefined when there is none. */
export function findClusterProgram(name: ClusterProgram): string | undefined {
  if (givenPrograms === '' && name === 'etcd') return findProgram(name)
  const path = join(givenPrograms === '' ? tools.built : givenPrograms, name)
  return existsSync(path) ? path : undefined
}
