import type { Flight } from '../../../shared/api/flight.schema.ts'
import { counted } from '../../../shared/text/counted.ts'
import { answerMessage } from './answer-message.ts'
import type { NodeView } from './probe-node.ts'

/** How many commands are named for an error: the first help most. */
const mostCommands = 3

/** ADDs that failed one after the other, up to the last one. */
function failuresInRow(adds: readonly Flight[]): readonly Flight[] {
  return adds.slice(adds.findLastIndex(({ exit }) => exit === 0) + 1)
}

/**
 * What became of a pod's last ADD, and of one that failed why, with what to type: a pod that waits was refused something, which
 * the next ADD need not be.
 *
 * @param runs of the plugin for the pod, the newest last
 */
export async function lastOutcome(
  node: NodeView,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  runs: readonly Flight[],
): Promise<readonly string[]> {
  const adds = runs.filter(({ verb }) => verb === 'ADD')
  const last = adds.at(-1)
  if (!last)
    return ['no ADD is recorded for it on this node: no runtime has asked for its network here, or long ago']
  if (last.exit === 0) {
    const del = runs
      .slice(runs.indexOf(last) + 1)
      .find(({ verb, exit, containerId }) => verb === 'DEL' && exit === 0 && containerId === last.containerId)
    const got = `its ADD at ${last.at} succeeded: ${last.addresses?.join(', ') ?? 'no address'}`
    return del
      ? [`${got}; deleted at ${del.at}`]
      : [
          got,
          `if it does not run, the reason is not its address: kubectl describe pod -n ${namespace} ${name}, or the log of the runtime`,
        ]
  }
  const failures = failuresInRow(adds)
  const [first] = failures
  const times =
    failures.length > 1 && first
      ? `, and so did ${counted(failures.length - 1, 'ADD')} before since ${first.at}`
      : ''
  const text = `${last.message ?? 'without a message'}${last.code === undefined ? '' : ` [${last.code}]`}`
  const { answers } = await answerMessage(node, text)
  const [answer] = answers
  return [
    `its ADD at ${last.at} failed${times}:`,
    text,
    ...(answer ? [`means: ${answer.means}`, ...answer.known.map(line => `now: ${line}`)] : []),
    ...(answer?.mend.slice(0, mostCommands).map(({ command, does }) => `type: ${command}   # ${does}`) ?? []),
  ]
}
