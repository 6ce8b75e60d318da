import type { ForgetNodeReply } from '../../../shared/api/node.schema.ts'
import type { LeasesReply } from '../../../shared/api/listing.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { command } from '../framework/command.ts'
import type { DaemonClient } from '../framework/daemon-client.ts'
import { whoHas } from '../framework/terminal-text.ts'
import { agrees, notAgreed, type Terminal } from '../framework/terminal.ts'

const moment = (time: string): string => time.replace(/\.[0-9]{3}Z$/, 'Z')

function addressLine({ bound }: ForgetNodeReply): string {
  if (bound === 0) return 'no address is bound on it'
  return `${bound === 1 ? '1 address is' : `${bound} addresses are`} bound on it: the next pods with the same names or workloads get them`
}

function waitingLine({ waitsFor }: ForgetNodeReply): string {
  return waitsFor.length === 0
    ? 'the store waits for no other node'
    : `the store still waits for ${waitsFor.join(', ')}`
}

/** Milliseconds: two questions one after the other, of which the first is another operator's. */
const deadline = 60_000

/** So many holders are named before the question. */
const mostNamed = 8

/** Says what it would mean, and to whom. Throws IPK_INTERRUPTED where the answer is not yes. */
async function askFirst(daemon: DaemonClient, name: string, terminal: Terminal): Promise<void> {
  const query = new URLSearchParams({ node: name, state: 'bound' }).toString()
  const { leases } = (await daemon.ask('GET', `/v1/leases?${query}`)) as LeasesReply
  const named = leases.slice(0, mostNamed).map(lease => `${lease.address} (${whoHas(lease)})`)
  const more = leases.length > mostNamed ? ` and ${leases.length - mostNamed} more` : ''
  terminal.err(
    leases.length === 0
      ? `no address is bound on node ${name}\n`
      : `bound on node ${name}: ${named.join(', ')}${more}\n` +
          'WARNING: if its machine is still running and cannot reach the store, these pods and their next ones answer for the same addresses\n',
  )
  if (!agrees(terminal, `declare node ${name} gone for good?`))
    throw new Problem('IPK_INTERRUPTED', 'nothing was changed', { hint: notAgreed })
}

export const forgetNodeCommand = command<ForgetNodeReply>({
  name: 'forget-node',
  arguments: [{ name: 'NAME', text: 'name of the node, as in ipkeeperctl nodes', offers: 'lost node' }],
  summary: 'Declare another node gone for good, so that the store does not wait for it',
  about: [
    'For a store that nodes share. After the store has lost records, no new address is assigned until every node has reported what it holds. Only a person can know that a node will not come back.',
    'On a terminal, the command names the addresses that are bound on the node, and asks.',
    'Make sure that its machine is off: the addresses of its pods may be assigned to the next pods with the same names and workloads, as with a node that the Kubernetes API reports as lost. The daemon that has claimed the name of the node in the store is asked first if it is alive: if it answers, the command fails, and nothing is written before 15 s of silence. Interrupting the command takes the question back. A daemon that cannot reach the store cannot answer. A node that comes back anyway takes its name again, and cuts off the sandboxes whose addresses have been assigned to others.',
  ],
  options: { yes: { letter: 'y', text: 'do not ask' } },
  examples: [
    { line: 'ipkeeperctl forget-node worker-3', does: 'Declare worker-3 gone for good' },
    {
      line: 'ipkeeperctl forget-node worker-3 -o json | jq .waitsFor',
      does: 'Declare it gone, and list the nodes that the store still waits for',
    },
  ],
  exits: { 0: 'the node is declared gone for good, now or earlier', 1: 'it is alive, or not known' },
  run: async (daemon, args, terminal) => {
    const [name = ''] = args.positionals
    if (terminal.ask && !args.flags.has('yes')) await askFirst(daemon, name, terminal)
    return (await daemon.ask(
      'POST',
      `/v1/nodes/${encodeURIComponent(name)}/forget`,
      undefined,
      deadline,
    )) as ForgetNodeReply
  },
  print: reply => {
    const { node, gone, changed, asked } = reply
    const said = changed
      ? `node ${node} is now gone for good: the store no longer waits for it`
      : `nothing was changed: node ${node} was already declared gone for good, on node ${gone.by} at ${moment(gone.since)}`
    const unasked =
      changed && !asked
        ? ['no daemon has claimed this name in the store: there was none to ask if it is alive']
        : []
    return `${[said, ...unasked, addressLine(reply), waitingLine(reply)].join('\n')}\n`
  },
})
