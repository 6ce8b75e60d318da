import { join } from 'node:path'
import type { Flight, FlightsReply } from '../../../shared/api/flight.schema.ts'
import { verbs } from '../../../shared/cni/versions.ts'
import { defaultPaths, stateFolders } from '../../../shared/paths.ts'
import { command } from '../framework/command.ts'
import { readFlights } from './read-flights.ts'
import { flightFilter, selectFlights } from './select-flights.ts'
import { formatTable } from '../framework/table.ts'
import { visible } from '../framework/visible.ts'

function whatCameOfIt({ message, addresses, queued, delegatedTo }: Flight): string {
  const by = delegatedTo === undefined ? '' : ` by ${delegatedTo}`
  return `${queued === true ? 'queued: ' : ''}${message ?? addresses?.join(', ') ?? ''}${by}`
}

export const flightsCommand = command({
  name: 'flights',
  watch: true,
  arguments: [],
  summary: 'show what each run of the plugin was asked, did and printed; needs no daemon',
  options: {
    container: { value: 'ID', text: 'only those of the container whose ID begins so', offers: 'container' },
    pod: { value: 'NS/NAME', text: 'only those of this pod', offers: 'pod' },
    verb: { value: 'VERB', text: 'only ADD, DEL, CHECK, GC, STATUS or VERSION', offers: verbs },
    limit: { value: 'N', text: 'at most N, the newest ones (default: 50)' },
    'state-dir': {
      value: 'DIR',
      text: `state folder of the plugin (default: $IPKEEPER_STATE_DIR, else ${defaultPaths.stateDir})`,
      offers: 'folder',
    },
    failed: { text: 'only those that failed' },
  },
  examples: [
    { line: 'ipkeeperctl flights --limit 20', does: 'shows the last twenty runs' },
    {
      line: 'ipkeeperctl flights --container 3f2a91c0d1e2 --failed',
      does: 'those of a container that failed',
    },
    { line: 'ipkeeperctl flights --pod shop/web-0 -o json', does: 'those of a pod, as JSON' },
  ],
  run: async (_daemon, args, terminal) => {
    const filter = flightFilter(args.options, args.flags)
    const stateDir =
      args.options['state-dir'] ?? (terminal.env['IPKEEPER_STATE_DIR'] || defaultPaths.stateDir)
    const { flights, unreadable } = readFlights(join(stateDir, stateFolders.flights))
    if (unreadable > 0)
      terminal.err(`note: ${unreadable} ${unreadable === 1 ? 'line' : 'lines'} could not be read\n`)
    const reply: FlightsReply = { flights: [...selectFlights(flights, filter)] }
    return Promise.resolve(reply)
  },
  print: ({ flights }) =>
    formatTable(
      ['AT', 'VERB', 'CONTAINER', 'IFNAME', 'POD', 'EXIT', 'CODE', 'PRINTED', 'MS', 'WHAT'],
      flights.map(flight =>
        [
          flight.at,
          flight.verb,
          (flight.containerId ?? '-').slice(0, 13),
          flight.ifname ?? '-',
          flight.pod ?? '-',
          String(flight.exit),
          flight.code ?? '-',
          String(flight.printed),
          String(flight.durationMs),
          whatCameOfIt(flight),
        ].map(visible),
      ),
      'no flights: none recorded there, or none that matches; see: ipkeeperctl flights --help',
    ),
})
