import { missing } from './requirements.ts'
import type { WiredNode, Settings } from './wired-node.ts'

/** A link of the host that leads nowhere: what underlay and macvlan want for their uplink. */
const uplink = 'up0'

/** A mode of the main plugin, for tests that ask the same of each. */
export interface WiredMode {
  readonly settings: Settings
  readonly skip: false | string
  /** Whether the host has a link for each pod, and rules that hide its address. */
  readonly onHost: boolean
}

const needs = missing('namespaces', 'nft', 'executables')
// Who else could have an address on a link that leads nowhere? It saves each ADD a second or two.
const onUplink = { uplink, duplicateProbe: false }

export const wiredModes: Readonly<Record<'bridge' | 'ptp' | 'underlay' | 'macvlan', WiredMode>> = {
  bridge: { settings: { mode: 'bridge', ipMasq: true }, skip: needs, onHost: true },
  ptp: { settings: { mode: 'ptp', ipMasq: true }, skip: needs, onHost: true },
  underlay: {
    settings: { mode: 'underlay', ipMasq: true, isGateway: true, ...onUplink },
    skip: needs,
    onHost: true,
  },
  macvlan: {
    settings: { mode: 'macvlan', ...onUplink },
    skip: needs === false ? missing('macvlan') : needs,
    onHost: false,
  },
}

/** Gives a node the uplink that the modes name. */
export async function addUplink({ host }: WiredNode): Promise<void> {
  const lines = ['link add up0 type veth peer name up1', 'link set up0 up', 'link set up1 up']
  await host.must('ip', ['-batch', '-'], { input: `${lines.join('\n')}\n` })
}
