import { leavesNode, type MainConfig } from '../../ipam/request/main-config.ts'

/** Programs of the host that the daemon runs, and the Debian package that each comes from. */
export const tools = {
  ip: 'iproute2',
  bridge: 'iproute2',
  nft: 'nftables',
  arping: 'iputils-arping',
  nsenter: 'util-linux',
  setpriv: 'util-linux',
  tee: 'coreutils',
} as const

export type ToolName = keyof typeof tools

/** The programs without which no pod of this network can be wired. */
export function neededTools({ mode, masquerade, duplicateProbe, vlan }: MainConfig): ToolName[] {
  return [
    ...(['ip', 'nsenter', 'tee'] as const),
    ...(masquerade === 'none' ? [] : (['nft'] as const)),
    ...(duplicateProbe === true || leavesNode(mode) ? (['arping'] as const) : []),
    ...(vlan === undefined ? [] : (['bridge'] as const)),
  ]
}
