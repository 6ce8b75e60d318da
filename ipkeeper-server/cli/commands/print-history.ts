import type { HistoryEntriesReply } from '../../../shared/api/address.schema.ts'
import type { ReadCall } from '../framework/command.ts'
import type { DaemonClient } from '../framework/daemon-client.ts'
import { readTimeOption } from '../framework/time-option.ts'
import { OptionProblem } from '../framework/option-problem.ts'
import type { Terminal } from '../framework/terminal.ts'

/** What the daemon gives at most at a time. */
const entriesAtOnce = 1000

/** Throws IPK_USAGE. */
function readSince({ positionals, options, flags, output }: ReadCall): number {
  const { since, ...more } = options
  const [flag] = [...flags].filter(name => name !== 'export')
  if (positionals.length > 0 || flag !== undefined || Object.keys(more).length > 0 || output !== 'table')
    throw new OptionProblem(
      '--export',
      '--export prints the whole history of this node as JSON Lines, and takes --since alone',
    )
  return since === undefined ? -Infinity : Date.parse(readTimeOption('--since', since, Date.now()))
}

/** Prints the history of this node, the oldest entry first, a JSON object in each line. Resolves to nothing more to print. */
export async function printHistory(daemon: DaemonClient, args: ReadCall, terminal: Terminal): Promise<''> {
  const since = readSince(args)
  for (let after = 0; ;) {
    const query = new URLSearchParams({ after: String(after), limit: String(entriesAtOnce) })
    const path = `/v1/history/entries?${query.toString()}`
    const { entries } = (await daemon.ask('GET', path)) as HistoryEntriesReply
    const wanted = entries.filter(({ at }) => at >= since)
    if (wanted.length > 0) terminal.out(wanted.map(entry => `${JSON.stringify(entry)}\n`).join(''))
    const last = entries.at(-1)
    if (!last || entries.length < entriesAtOnce || terminal.readerGone?.() === true) return ''
    after = last.id
  }
}
