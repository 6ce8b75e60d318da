import { join } from 'node:path'
import type { Flight, FlightsReply } from '../../../shared/api/flight.schema.ts'
import { defaultPaths, stateFolders } from '../../../shared/paths.ts'
import { command, expectPositionals } from '../command.ts'
import { readFlights } from '../read-flights.ts'
import { flightFilter, selectFlights } from '../select-flights.ts'
import { formatTable } from '../table.ts'
import { visible } from '../visible.ts'

function whatCameOfIt({ message, addresses, queued, delegatedTo }: Flight): string {
  const by = delegatedTo === undefined ? '' : ` by ${delegatedTo}`
  return `${queued === true ? 'queued: ' : ''}${message ?? addresses?.join(', ') ?? ''}${by}`
}

export const flightsCommand = command({
  name: 'flights',
  arguments: '',
  summary: 'show what each run of the plugin was asked, did and printed; needs no daemon',
  options: {
    container: ['ID', 'only those of the container whose ID begins so'],
    pod: ['NS/NAME', 'only those of this pod'],
    verb: ['VERB', 'only ADD, DEL, CHECK, GC, STATUS or VERSION'],
    limit: ['N', 'at most N, the newest ones (default: 50)'],
    'state-dir': [
      'DIR',
      `state folder of the plugin (default: $IPKEEPER_STATE_DIR, else ${defaultPaths.stateDir})`,
    ],
  },
  flags: { failed: 'only those that failed' },
  example: 'ipkeeperctl flights --container 3f2a91c0d1e2 --failed',
  run: async (_daemon, args, terminal) => {
    expectPositionals(args, [])
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
