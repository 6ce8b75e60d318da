import type { WiringRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { writeBatch, type Command } from '../../../../ipkeeper-server/network/plan/command.ts'
import type { MainConfig } from '../../../../ipkeeper-server/ipam/request/main-config.ts'
import type { Survey, UplinkFacts, WiringJob } from '../../../../ipkeeper-server/network/plan/wiring-job.ts'

/** One pod of both families on a node where nothing is yet; each part can be had otherwise. */

export const sampleConfig: MainConfig = {
  mode: 'bridge',
  bridge: 'ipk0',
  uplink: undefined,
  isGateway: true,
  defaultRoute: false,
  masquerade: 'none',
  hairpin: false,
  vlan: undefined,
  mtu: undefined,
  mac: undefined,
  sysctls: [],
  dns: {},
  serviceCidrs: [],
  duplicateProbe: false,
  moveHostAddresses: false,
  macvlanMode: 'bridge',
}

export const sampleSurvey: Survey = {
  names: {
    hostLink: 'ipk000000000001',
    hostMac: '0e:00:00:00:00:01',
    probeMac: '0e:00:00:00:00:03',
    alias: 'ipkeeper net c1 eth0',
  },
  mtu: 1500,
  uplink: undefined,
  bridge: { state: 'absent', mac: '0e:00:00:00:00:02' },
  foreignPorts: [],
  nodeAddresses: [],
}

export const sampleUplink: UplinkFacts = {
  name: 'up0',
  kind: '',
  mac: '02:00:00:00:00:aa',
  mtu: 1500,
  ethernet: true,
  master: undefined,
  portKind: '',
  addresses: [],
  carriesDefaultRoute: false,
}

export const sampleIps = [
  { address: '10.22.0.50/16', gateway: '10.22.0.1' },
  { address: 'fd00:22::50/64', gateway: 'fd00:22::1' },
] as const

export const sampleWiring: WiringRecord = {
  mode: 'bridge',
  mac: '0a:58:0a:16:00:32',
  mtu: 1500,
  hostLink: { name: 'ipk000000000001', mac: '0e:00:00:00:00:01' },
  master: 'ipk0',
  routes: [
    { dst: '0.0.0.0/0', gw: '10.22.0.1' },
    { dst: '::/0', gw: 'fd00:22::1' },
  ],
  masqueraded: [],
  proxyOn: null,
}

/** Parts of the job that differ; `config`, `survey` and `wiring` by their keys. */
export interface JobParts extends Partial<Pick<WiringJob, 'ips'>> {
  readonly config?: Partial<MainConfig>
  readonly survey?: Partial<Survey>
  readonly wiring?: Partial<WiringRecord>
}

export function sampleJob({ config, survey, wiring, ...parts }: JobParts = {}): WiringJob {
  return {
    config: { ...sampleConfig, ...config },
    survey: { ...sampleSurvey, ...survey },
    key: { network: 'net', containerId: 'c1', ifname: 'eth0' },
    wiring: { ...sampleWiring, ...wiring },
    ips: sampleIps,
    ...parts,
  }
}

/** Each command as its program gets it; what runs in the pod, or is no `ip`, says so in front. */
export function spellCommands(commands: readonly Command[]): string[] {
  return commands.map(command => {
    const where = [
      ...(command.place === 'pod' ? ['pod:'] : []),
      ...(command.tool ? [`${command.tool}:`] : []),
    ]
    return [...where, writeBatch([command]).trimEnd()].join(' ')
  })
}
