import type { Test } from 'tap'
import { supportedVersions, type CniVersion } from '../../shared/cni/versions.ts'
import { makeNetworkNamespace, type NetworkNamespace } from '../rigs/netns.ts'
import type { PrivateHost } from '../rigs/private-host.ts'
import { isByFamily } from './answers.ts'
import { network, type Config } from './network.ts'
import type { Rig } from './rig.ts'

/** The versions whose results have interfaces. */
export const versionsWithInterfaces = supportedVersions.filter(version => !isByFamily(version))

/** The same network with ipkeeper as its main plugin. */
export function mainNetwork(version: string, more: Config = {}): Config {
  return network(version, { type: 'ipkeeper', ...more })
}

/** The host of a case with `wiresPods`. */
export function hostOf({ host }: Rig): PrivateHost {
  if (!host) throw new Error('this rig wires no pods')
  return host
}

export interface WiredResult {
  readonly interfaces: readonly {
    readonly name: string
    readonly mac?: string
    readonly sandbox?: string
  }[]
  readonly ips: readonly { readonly address: string; readonly interface?: number }[]
}

/** One pod that ipkeeper has wired, in each of the modes that every kernel has. */
export interface WiredCase {
  readonly mode: string
  readonly result: WiredResult
  readonly netns: string
  readonly namespace: NetworkNamespace
}

/**
 * ADDs a pod in mode bridge and another one in mode ptp.
 *
 * @param spell how the path of the namespace is written
 */
export async function wiredPods(
  t: Test,
  rig: Rig,
  version: CniVersion,
  ifname = 'eth0',
  spell: (path: string) => string = path => path,
): Promise<readonly WiredCase[]> {
  const cases: WiredCase[] = []
  for (const mode of ['bridge', 'ptp']) {
    const namespace = await makeNetworkNamespace(hostOf(rig))
    const netns = spell(namespace.path)
    const answer = await rig.run({
      config: mainNetwork(version, { mode }),
      env: { CNI_CONTAINERID: mode, CNI_IFNAME: ifname, CNI_NETNS: netns },
    })
    t.equal(answer.exit, 0, `${mode}: ${answer.exit === 0 ? 'exit 0' : answer.stdout}`)
    cases.push({ mode, result: answer.document as unknown as WiredResult, netns, namespace })
  }
  return cases
}
