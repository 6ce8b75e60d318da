import type { ForgetNodeReply } from '../../../shared/api/node.schema.ts'
import { command } from '../framework/command.ts'

const moment = (time: string): string => time.replace(/\.[0-9]{3}Z$/, 'Z')

function addressLine({ bound }: ForgetNodeReply): string {
  if (bound === 0) return 'no address is bound there'
  return `${bound === 1 ? '1 address is' : `${bound} addresses are`} bound there: the next pods of their names or workloads get them`
}

function waitingLine({ waitsFor }: ForgetNodeReply): string {
  return waitsFor.length === 0 ? 'no other node is waited for' : `still waited for: ${waitsFor.join(', ')}`
}

export const forgetNodeCommand = command<ForgetNodeReply>({
  name: 'forget-node',
  arguments: [{ name: 'NAME', text: 'as leases and status name it', offers: 'awaited node' }],
  summary: 'say of another node that it is gone for good, so that nobody waits for it',
  about: [
    'Where nodes share a store. When the store has lost records, nothing new is given before every node has told it again what it holds; of a node that will not come back only a person can know that.',
    'Make sure that its machine is off: what its pods have may be given to the next pods of their names and workloads, as from a node that the Kubernetes API says is lost. A node whose daemon runs contradicts within 5 s, and nothing is changed. One that comes back later, against what was said, takes its name again, and cuts off the sandboxes whose addresses others have by then.',
  ],
  options: {},
  examples: [
    { line: 'ipkeeperctl forget-node worker-3', does: 'says that worker-3 is gone for good' },
    {
      line: 'ipkeeperctl forget-node worker-3 -o json | jq .waitsFor',
      does: 'says so, and lists the nodes that are still waited for',
    },
  ],
  exits: { 0: 'nobody waits for it, from now on or since before', 1: 'it lives, or is not known' },
  run: async (daemon, args) => {
    const [name = ''] = args.positionals
    return (await daemon.ask('POST', `/v1/nodes/${encodeURIComponent(name)}/forget`)) as ForgetNodeReply
  },
  print: reply => {
    const { node, gone, changed } = reply
    const said = changed
      ? `node ${node} is gone for good: nobody waits for it any more`
      : `nothing was changed: nobody waits for node ${node} since ${moment(gone.since)}, by word of node ${gone.by}`
    return `${[said, addressLine(reply), waitingLine(reply)].join('\n')}\n`
  },
})
