import type { RestoreUplinkReply, UplinkItem, UplinksReply } from '../../../shared/api/uplink.schema.ts'
import { command } from '../framework/command.ts'
import { uplinkTerms } from '../../../shared/api/listing-query.schema.ts'
import { listingOptions, listingQueryText } from '../framework/listing-options.ts'
import { listing } from '../framework/listing.ts'
import { distance } from '../framework/terminal-text.ts'

export const uplinksCommand = listing<UplinksReply, UplinkItem>({
  name: 'uplinks',
  arguments: [],
  summary: 'List host links that are ports of bridges, with the addresses and routes moved there',
  options: listingOptions(uplinkTerms),
  examples: [
    { line: 'ipkeeperctl uplinks', does: 'Show which links of the host are ports of bridges' },
    { line: 'ipkeeperctl uplinks --uplink eth1', does: 'Show of which bridge a link is a port' },
  ],
  run: async (daemon, args) =>
    (await daemon.ask('GET', `/v1/uplinks${listingQueryText(uplinkTerms, args)}`)) as UplinksReply,
  rows: ({ uplinks }) => uplinks,
  more: ({ more }) => more,
  columns: [
    { title: 'BRIDGE', key: 'bridge', value: item => item.bridge },
    { title: 'UPLINK', key: 'uplink', value: item => item.uplink },
    { title: 'STATE', key: 'state', value: item => item.state },
    { title: 'SINCE', key: 'since', value: item => item.since, text: item => distance(item.since) },
    {
      ...{ title: 'PORTS', key: 'ports', value: item => item.ports.join(' ') },
      text: item => String(item.ports.length),
    },
    { title: 'MOVED ADDRESSES', key: 'addresses', value: item => item.addresses.join(',') },
    { title: 'ROUTES', key: 'routes', value: item => item.routes },
  ],
  nameOf: item => item.bridge,
  empty: 'no uplinks: the first pod of a network of mode underlay makes its uplink a port of its bridge',
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
