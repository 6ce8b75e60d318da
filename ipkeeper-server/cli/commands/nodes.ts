import type { NodeItem, NodesReply } from '../../../shared/api/node.schema.ts'
import { nodeTerms } from '../../../shared/api/listing-query.schema.ts'
import { listingOptions, listingQueryText } from '../framework/listing-options.ts'
import { csvOnly, listing, wideOnly } from '../framework/listing.ts'
import { distance, type Tone } from '../framework/terminal-text.ts'

const unknown = 'not known'

const stateWords: Readonly<Record<NodeItem['state'], readonly [word: string, tone: Tone]>> = {
  lives: ['lives', 'good'],
  silent: ['silent', 'bad'],
  gone: ['gone', 'bad'],
  'out-of-service': ['out of service', 'bad'],
  'waited-for': ['waited for', 'warn'],
  unknown: [unknown, 'faint'],
}

/** "this node", "3m ago". */
function contactText({ here, lastContact }: NodeItem): string {
  if (here) return 'this node'
  return lastContact === null ? unknown : `${distance(lastContact)} ago`
}

function leaderText({ leader }: NodeItem): string | null {
  if (leader === null) return null
  return leader ? 'yes' : 'no'
}

export const nodesCommand = listing<NodesReply, NodeItem>({
  name: 'nodes',
  arguments: [],
  summary: 'List the nodes that the store knows of: last contact, leases, version, leader',
  about: [
    'Shows what the daemon of this node knows from the store; it asks no other node and writes nothing. A node writes to the store when something changes there, and at regular intervals only where takeover by time is configured ("takeover.byTime"). The state and last contact of a node that has had nothing to write are therefore not known. With the Kubernetes API, a deleted Node and the out-of-service taint are shown as well.',
    'LEADER is the node whose daemon runs the leader tasks. Without the Kubernetes API no leader is elected.',
  ],
  options: {
    ...listingOptions(nodeTerms),
    node: { value: 'NAME', text: 'only this node', offers: 'node' },
  },
  examples: [
    { line: 'ipkeeperctl nodes', does: 'List all nodes, and how they are' },
    { line: 'ipkeeperctl nodes --sort-by contact', does: 'List the node with the oldest last contact first' },
    { line: 'ipkeeperctl nodes -o wide', does: 'Show addresses too, and why a state is given' },
    { line: 'ipkeeperctl nodes -o json | jq .nodes', does: 'Print JSON, for scripts' },
  ],
  run: async (daemon, args) =>
    (await daemon.ask('GET', `/v1/nodes${listingQueryText(nodeTerms, args)}`)) as NodesReply,
  rows: ({ nodes }) => nodes,
  more: ({ more }) => more,
  columns: [
    { title: 'NAME', key: 'name', value: node => node.name },
    {
      ...{ title: 'STATE', key: 'state', value: node => node.state },
      text: ({ state }) => ({ text: stateWords[state][0], tone: stateWords[state][1] }),
    },
    {
      ...{ title: 'LAST CONTACT', key: 'lastContact', value: node => node.lastContact },
      text: contactText,
    },
    { title: 'LEASES', key: 'leases', value: node => node.leases },
    {
      ...{ title: 'VERSION', key: 'version', value: node => node.version },
      text: ({ version }) => version ?? unknown,
    },
    { title: 'LEADER', key: 'leader', value: leaderText },
    { title: 'HERE', key: 'here', value: ({ here }) => (here ? 'yes' : 'no'), in: csvOnly },
    {
      ...{ title: 'ADDRESSES', key: 'addresses', value: node => node.addresses.join(' ') },
      in: wideOnly,
    },
    {
      ...{ title: 'NAME SINCE', key: 'claimedSince', value: node => node.claimedSince },
      text: ({ claimedSince }) => (claimedSince === null ? unknown : `${distance(claimedSince)} ago`),
      in: wideOnly,
    },
    { title: 'WHY', key: 'why', value: node => node.why, in: wideOnly },
  ],
  nameOf: node => node.name,
  empty: 'no nodes',
})
