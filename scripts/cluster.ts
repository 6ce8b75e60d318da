/**
 * `make cluster`: a real Kubernetes on this machine with ipkeeper installed as the documents say, until Ctrl-C. What it stands on
 * is test/rigs/kubelet-cluster; docs/contributing/cluster.md tells what can be done with it.
 *
 *   node scripts/cluster.ts [--nodes N]
 */
import { parseArgs } from 'node:util'
import { findClusterProgram } from '../test/rigs/cluster-programs.ts'
import { toolboxName } from '../test/rigs/kubelet-cluster/host-images.ts'
import { shop, startInstalledCluster } from '../test/rigs/kubelet-cluster/installed-cluster.ts'
import { missingForKubelets } from '../test/rigs/kubelet-cluster/kubelet-cluster.ts'
import { Teardown } from '../test/rigs/teardown.ts'

const help = `Usage: node scripts/cluster.ts [--nodes N]

Start a Kubernetes cluster on this machine, with ipkeeper installed, and keep it until Ctrl-C. Nothing of it is left then.

  --nodes N   number of nodes, 1 to 9 (default: 2); they have the installed containerd and containerd 2 by turns
  --help      show this text
`

function readOptions(): { readonly help: boolean; readonly nodes: number } {
  const { values } = parseArgs({
    options: { nodes: { type: 'string', default: '2' }, help: { type: 'boolean', default: false } },
  })
  if (!/^[1-9]$/.test(values.nodes)) throw new Error(`--nodes ${values.nodes}: expected a number from 1 to 9`)
  return { help: values.help, nodes: Number(values.nodes) }
}

function usageError(error: unknown): never {
  console.error(`usage error: ${error instanceof Error ? error.message : String(error)}`)
  console.error('see: node scripts/cluster.ts --help')
  process.exit(2)
}

let options: ReturnType<typeof readOptions>
try {
  options = readOptions()
} catch (error) {
  usageError(error)
}
if (options.help) {
  process.stdout.write(help)
  process.exit()
}
const lacking = missingForKubelets()
if (lacking !== false) {
  console.error(`no cluster can be started: ${lacking}`)
  process.exit(1)
}

const usage = (kubeconfig: string, kubectl: string): string => `
In another terminal:

export KUBECONFIG=${kubeconfig}
alias kubectl=${kubectl}
kubectl get pods -A -o wide

A pod with an address of its own:

kubectl apply -f - <<'END'
apiVersion: v1
kind: Pod
metadata:
  name: web-0
  namespace: ${shop}
  annotations:
    ipkeeper.io/ip: 10.22.0.50
spec:
  terminationGracePeriodSeconds: 1
  containers: [{ name: main, image: '${toolboxName('toolbox')}', command: [sleep, infinity] }]
END
kubectl -n ${shop} get pod web-0 -o wide
kubectl -n ipkeeper-system exec daemonset/ipkeeper -c ipkeeper -- ipkeeperctl who 10.22.0.50

Ctrl-C takes all of it down.
`

const started = performance.now()
const told = (step: string): void => {
  console.log(`${((performance.now() - started) / 1e3).toFixed(0).padStart(4)} s  ${step}`)
}

// What the rigs made is taken down at the end of the process, whatever ends it.
process.on('exit', () => {
  told('taken down')
})
const cluster = await startInstalledCluster(new Teardown(), { nodes: options.nodes, tell: told })
told('ready')
console.log(usage(cluster.api.kubeconfig, findClusterProgram('kubectl') ?? 'kubectl'))
