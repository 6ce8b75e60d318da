import { join } from 'node:path'
import { readFlights } from './read-flights.ts'
import { listing, wideOnly } from '../framework/listing.ts'
import { readLimit } from '../framework/options.ts'
import type { Flight, FlightsReply } from '../../../shared/api/flight.schema.ts'
import { containerIdFault } from '../../../shared/cni/identifiers.ts'
import { isVerb, verbs } from '../../../shared/cni/versions.ts'
import { defaultPaths, stateFolders } from '../../../shared/paths.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { counted } from '../../../shared/text/counted.ts'

/** Which flights are wanted; what is undefined does not matter. */
export interface FlightFilter {
  /** The beginning of the container's ID. */
  readonly container: string | undefined
  /** NAMESPACE/NAME */
  readonly pod: string | undefined
  readonly verb: string | undefined
  readonly failed: boolean
  /** How many, counted from the newest. */
  readonly limit: number
}

const defaultLimit = 50

/** Reads the words of the command line. Throws IPK_USAGE. */
export function flightFilter(
  options: Readonly<Record<string, string>>,
  flags: ReadonlySet<string>,
): FlightFilter {
  const { container, pod, limit } = options
  const verb = options['verb']?.toUpperCase()
  if (container !== undefined && containerIdFault(container) !== undefined)
    throw new Problem('IPK_USAGE', `--container "${container}" is not a container ID or the beginning of one`)
  if (pod !== undefined && !/^[^/\s]+\/[^/\s]+$/.test(pod))
    throw new Problem('IPK_USAGE', `--pod "${pod}" is not NAMESPACE/NAME`)
  if (verb !== undefined && !isVerb(verb))
    throw new Problem('IPK_USAGE', `--verb "${options['verb']}" is not one of ${verbs.join(', ')}`)
  return {
    container,
    pod,
    verb,
    failed: flags.has('failed'),
    limit: limit === undefined ? defaultLimit : readLimit(limit),
  }
}

/** The newest that are wanted, in their order. */
export function selectFlights(flights: readonly Flight[], filter: FlightFilter): readonly Flight[] {
  const { container, pod, verb, failed, limit } = filter
  return flights
    .filter(
      flight =>
        (container === undefined || flight.containerId?.startsWith(container)) &&
        (pod === undefined || flight.pod === pod) &&
        (verb === undefined || flight.verb === verb) &&
        (!failed || flight.exit !== 0),
    )
    .slice(-limit)
}

function whatCameOfIt({ message, addresses, queued, delegatedTo }: Flight): string {
  const by = delegatedTo === undefined ? '' : ` by ${delegatedTo}`
  return `${queued === true ? 'queued: ' : ''}${message ?? addresses?.join(', ') ?? ''}${by}`
}

export const flightsCommand = listing<FlightsReply, Flight>({
  name: 'flights',
  arguments: [],
  summary: 'List plugin runs with their exit codes, errors and addresses; needs no daemon',
  options: {
    container: {
      value: 'ID',
      text: 'only runs for the container whose ID begins with this',
      offers: 'container',
    },
    pod: { value: 'NS/NAME', text: 'only runs for this pod', offers: 'pod' },
    verb: { value: 'VERB', text: 'only ADD, DEL, CHECK, GC, STATUS or VERSION', offers: verbs },
    limit: { value: 'N', text: 'only the newest N (default: 50)' },
    'state-dir': {
      value: 'DIR',
      text: `state folder of the plugin (default: $IPKEEPER_STATE_DIR, else ${defaultPaths.stateDir})`,
      offers: 'folder',
    },
    failed: { text: 'only runs that failed' },
  },
  examples: [
    { line: 'ipkeeperctl flights --limit 20', does: 'Show the last twenty runs' },
    {
      line: 'ipkeeperctl flights --container 3f2a91c0d1e2 --failed',
      does: 'Show the failed runs for a container',
    },
    { line: 'ipkeeperctl flights --pod shop/web-0 -o json', does: 'Show the runs for a pod, as JSON' },
  ],
  run: async (_daemon, args, terminal) => {
    const filter = flightFilter(args.options, args.flags)
    const stateDir =
      args.options['state-dir'] ?? (terminal.env['IPKEEPER_STATE_DIR'] || defaultPaths.stateDir)
    const { flights, unreadable } = readFlights(join(stateDir, stateFolders.flights))
    if (unreadable > 0) terminal.err(`note: ${counted(unreadable, 'line')} could not be read\n`)
    const reply: FlightsReply = { flights: [...selectFlights(flights, filter)] }
    return Promise.resolve(reply)
  },
  rows: ({ flights }) => flights,
  columns: [
    { title: 'AT', key: 'at', value: flight => flight.at },
    { title: 'VERB', key: 'verb', value: flight => flight.verb },
    {
      ...{ title: 'CONTAINER', key: 'containerId', value: flight => flight.containerId ?? null },
      text: flight => (flight.containerId ?? '-').slice(0, 13),
    },
    { title: 'IFNAME', key: 'ifname', value: flight => flight.ifname ?? null },
    { title: 'POD', key: 'pod', value: flight => flight.pod ?? null },
    { title: 'EXIT', key: 'exit', value: flight => flight.exit },
    { title: 'CODE', key: 'code', value: flight => flight.code ?? null },
    { title: 'PRINTED', key: 'printed', value: flight => flight.printed },
    { title: 'MS', key: 'durationMs', value: flight => flight.durationMs },
    { title: 'REQUEST', key: 'requestId', value: flight => flight.requestId ?? null, in: wideOnly },
    { title: 'WHAT', key: 'what', value: whatCameOfIt, text: whatCameOfIt },
  ],
  nameOf: flight => flight.containerId ?? flight.verb,
  empty: 'no flights: none are recorded, or none match; see: ipkeeperctl flights --help',
})
