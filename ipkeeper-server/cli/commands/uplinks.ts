import type { RestoreUplinkReply, UplinksReply } from '../../../shared/api/uplink.schema.ts'
import { command } from '../framework/command.ts'
import { distance, formatTable } from '../framework/terminal-text.ts'

const list = (words: readonly string[]): string => (words.length === 0 ? '-' : words.join(','))

export const uplinksCommand = command({
  name: 'uplinks',
  watch: true,
  arguments: [],
  summary: 'List host links that are ports of bridges, with the addresses and routes moved there',
  options: {},
  examples: [{ line: 'ipkeeperctl uplinks', does: 'Show which links of the host are ports of bridges' }],
  run: async daemon => (await daemon.ask('GET', '/v1/uplinks')) as UplinksReply,
  print: ({ uplinks }, paint) =>
    formatTable(
      ['BRIDGE', 'UPLINK', 'STATE', 'SINCE', 'PORTS', 'MOVED ADDRESSES', 'ROUTES'],
      uplinks.map(item => [
        ...[item.bridge, item.uplink, item.state, distance(item.since), String(item.ports.length)],
        ...[list(item.addresses), String(item.routes)],
      ]),
      'no uplinks: the first pod of a network of mode underlay makes its uplink a port of its bridge',
      paint,
    ),
})

export const restoreUplinkCommand = command({
  name: 'restore-uplink',
  arguments: [{ name: 'BRIDGE', text: 'bridge, as in ipkeeperctl uplinks', offers: 'bridge' }],
  summary: 'Take the uplink out of a bridge without pods, with its addresses and routes',
  options: {},
  examples: [
    { line: 'ipkeeperctl restore-uplink ipkul0', does: 'Return the addresses and routes to the link' },
  ],
  run: async (daemon, args) => {
    const [bridge = ''] = args.positionals
    const path = `/v1/uplinks/${encodeURIComponent(bridge)}/restore`
    return (await daemon.ask('POST', path)) as RestoreUplinkReply
  },
  print: ({ restored: { bridge, uplink, addresses, made } }) =>
    `${uplink} is no longer a port of ${bridge}${made ? ', which was removed' : ''}` +
    `${addresses.length === 0 ? '' : `; it has its addresses again: ${addresses.join(', ')}`}\n`,
})
