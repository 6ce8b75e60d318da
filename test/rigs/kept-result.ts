import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MachinePod } from './machine.ts'

const resultFile = (pod: MachinePod): string => `fixed-${pod.containerId}-eth0`

/** Writes what libcni keeps of a pod's ADD: `results` is its folder, `stateDir` that of the daemon which the plugin asked. */
export function keepResult(results: string, stateDir: string, pod: MachinePod, address: string): void {
  const ipam = { type: 'ipkeeper', stateDir, ranges: [[{ subnet: '10.22.0.0/24' }]] }
  const network = { cniVersion: '1.0.0', name: 'fixed', plugins: [{ type: 'bridge', ipam }] }
  const cached = {
    kind: 'cniCacheV1',
    containerId: pod.containerId,
    config: Buffer.from(JSON.stringify(network)).toString('base64'),
    ifName: 'eth0',
    networkName: 'fixed',
    cniArgs: [
      ['K8S_POD_NAMESPACE', 'shop'],
      ['K8S_POD_NAME', pod.name],
    ],
    result: {
      cniVersion: '1.0.0',
      interfaces: [{ name: 'eth0', mac: '0e:00:0a:16:00:05', sandbox: pod.netns }],
      ips: [{ address: `${address}/24`, interface: 0 }],
      dns: {},
    },
  }
  writeFileSync(join(results, resultFile(pod)), JSON.stringify(cached))
}
