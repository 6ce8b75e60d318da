import type { MainConfig } from '../../../../ipkeeper-server/ipam/request/main-config.ts'
import { readMainConfig } from '../../../../ipkeeper-server/network/plan/read-main-config.ts'
import type {
  Survey,
  UplinkFacts,
  WiringCommands,
  WiringJob,
} from '../../../../ipkeeper-server/network/plan/wiring-job.ts'
import type { Command } from '../../../../ipkeeper-server/network/plan/command.ts'
import type { JsonObject } from '../../../../shared/json/fold.ts'

/** A netconf as it is read, with these keys. */
export function configOf(settings: JsonObject): MainConfig {
  return readMainConfig({ type: 'ipkeeper', name: 'net', ipam: { type: 'ipkeeper' }, ...settings })
}

/** A plain link of Ethernet that nobody uses. */
export const plainUplink: UplinkFacts = {
  ...{ name: 'eth1', kind: '', mac: '02:00:00:00:00:e1', mtu: 1500, ethernet: true },
  ...{ master: undefined, portKind: '', addresses: [], carriesDefaultRoute: false },
}

/** A host that has such a link, and no bridge yet. */
export const plainSurvey: Survey = {
  names: {
    hostLink: 'ipk0123456789ab',
    hostMac: '0e:00:00:00:00:01',
    probeMac: '0e:00:00:00:00:03',
    alias: 'ipkeeper net c1 eth0',
  },
  mtu: 1500,
  uplink: plainUplink,
  bridge: undefined,
  foreignPorts: [],
  nodeAddresses: [],
}

/** One pod with an address of each family. */
export function jobOf(settings: JsonObject, survey: Partial<Survey> = {}): WiringJob {
  const config = configOf(settings)
  const seen = { ...plainSurvey, ...survey }
  const { mode } = config
  return {
    config,
    survey: seen,
    key: { network: 'net', containerId: 'c1', ifname: 'eth0' },
    wiring: {
      ...{ mode, mac: '0a:58:0a:16:00:32', mtu: seen.mtu, routes: [{ dst: '0.0.0.0/0', gw: '10.22.0.1' }] },
      hostLink: mode === 'macvlan' ? null : { name: seen.names.hostLink, mac: seen.names.hostMac },
      master: mode === 'macvlan' ? 'eth1' : config.bridge,
      ...{ masqueraded: [], proxyOn: null },
    },
    ips: [
      { address: '10.22.0.50/16', gateway: '10.22.0.1' },
      { address: 'fd00:22::50/64', gateway: 'fd00:22::1' },
    ],
  }
}

/** Commands as a person would type them: "pod: ip address add ...". */
export function typed(commands: readonly Command[]): readonly string[] {
  return commands.map(({ place, tool = 'ip', words }) => `${place}: ${tool} ${words.join(' ')}`)
}

/** The same of all that wires a pod, in its order. */
export function typedWiring({ host, link, addresses, routes }: WiringCommands): readonly string[] {
  return typed([...host, ...link, ...addresses, ...routes])
}
