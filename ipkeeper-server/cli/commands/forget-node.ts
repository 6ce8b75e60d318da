import type { ForgetNodeReply } from '../../../shared/api/node.schema.ts'
import { command } from '../framework/command.ts'

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

export const forgetNodeCommand = command<ForgetNodeReply>({
  name: 'forget-node',
  arguments: [{ name: 'NAME', text: 'name of the node, as in ipkeeperctl nodes', offers: 'awaited node' }],
  summary: 'Declare another node gone for good, so that the store does not wait for it',
  about: [
    'For a store that nodes share. After the store has lost records, no new address is assigned until every node has reported what it holds. Only a person can know that a node will not come back.',
    'Make sure that its machine is off: the addresses of its pods may be assigned to the next pods with the same names and workloads, as with a node that the Kubernetes API reports as lost. The daemon that has claimed the name of the node in the store is asked first if it is alive: if it answers, the command fails, and nothing is written before 15 s of silence. Interrupting the command takes the question back. A daemon that cannot reach the store cannot answer. A node that comes back anyway takes its name again, and cuts off the sandboxes whose addresses have been assigned to others.',
  ],
  options: {},
  examples: [
    { line: 'ipkeeperctl forget-node worker-3', does: 'Declare worker-3 gone for good' },
    {
      line: 'ipkeeperctl forget-node worker-3 -o json | jq .waitsFor',
      does: 'Declare it gone, and list the nodes that the store still waits for',
    },
  ],
  exits: { 0: 'the node is declared gone for good, now or earlier', 1: 'it is alive, or not known' },
  run: async (daemon, args) => {
    const [name = ''] = args.positionals
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
