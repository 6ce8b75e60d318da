import { Problem } from '../../shared/problem/problem.ts'
import { attachmentKey } from '../../ipkeeper-server/ipam/records/records.ts'
import type { PodNetwork } from '../../ipkeeper-server/network/pod-network.ts'

/** A kernel of which only the list of wired attachments exists; it can be told to refuse. */
export interface PodNetworkDouble extends PodNetwork {
  /** Keys of the attachments that are wired, in that order. */
  readonly wired: ReadonlySet<string>
  /** Verbs in their order: "wire", "unwire", "unwire unknown". */
  readonly calls: readonly string[]
  /** The next wiring fails half-way. */
  failNext: boolean
}

export function podNetworkDouble(): PodNetworkDouble {
  const wired = new Set<string>()
  const calls: string[] = []
  const double: PodNetworkDouble = {
    wired,
    calls,
    failNext: false,
    checkTools: () => undefined,
    survey: config =>
      Promise.resolve({
        names: {
          hostLink: 'ipk000000000001',
          hostMac: '0e:00:00:00:00:01',
          probeMac: '0e:00:00:00:00:03',
          alias: 'ipkeeper',
        },
        mtu: config.mtu ?? 1500,
        uplink: undefined,
        bridge: { state: 'absent', mac: '0e:00:00:00:00:02' },
        foreignPorts: [],
        nodeAddresses: [],
      }),
    wire: ({ key, superseded, survey }) => {
      calls.push('wire')
      for (const former of superseded) wired.delete(attachmentKey(former))
      wired.add(attachmentKey(key))
      if (!double.failNext) return Promise.resolve(survey)
      double.failNext = false
      return Promise.reject(new Problem('IPK_WIRING_FAILED', 'cannot make eth0: No buffer space available'))
    },
    unwire: attachment => {
      calls.push('unwire')
      wired.delete(attachmentKey(attachment))
      return Promise.resolve()
    },
    unwireUnknown: key => {
      calls.push('unwire unknown')
      wired.delete(attachmentKey(key))
      return Promise.resolve()
    },
    cutOff: attachment => {
      calls.push(`cut off ${attachment.containerId}`)
      return Promise.resolve(true)
    },
    differences: attachment =>
      Promise.resolve(
        wired.has(attachmentKey(attachment)) ? [] : [`the pod has no interface ${attachment.ifname}`],
      ),
  }
  return double
}
