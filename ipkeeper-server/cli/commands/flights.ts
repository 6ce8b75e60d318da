import { join } from 'node:path'
import { readFlights } from './read-flights.ts'
import { listing, wideOnly } from '../framework/listing.ts'
import { chooseWord, readLimit } from '../framework/options.ts'
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
  readonly namespace: string | undefined
  /** NAME or NAMESPACE/NAME */
  readonly pod: string | undefined
  readonly verb: string | undefined
  readonly failed: boolean
  readonly sort: FlightSort
  /** How many, counted from the newest, or from the first where they are sorted otherwise. */
  readonly limit: number
}

/** By what runs can be sorted; the newest is the last unless something is said. */
const flightSorts = ['at', 'duration', 'pod', 'verb'] as const
type FlightSort = (typeof flightSorts)[number]

const sortValues: Readonly<Record<Exclude<FlightSort, 'at'>, (flight: Flight) => string | number>> = {
  // The slowest first.
  duration: ({ durationMs }) => -durationMs,
  pod: ({ pod }) => pod ?? '\uffff',
  verb: ({ verb }) => verb,
}

const defaultLimit = 50

/** Reads the words of the command line. Throws IPK_USAGE. */
export function flightFilter(
  options: Readonly<Record<string, string>>,
  flags: ReadonlySet<string>,
): FlightFilter {
  const { container, pod, limit, namespace, 'sort-by': sort = 'at' } = options
  const verb = options['verb']?.toUpperCase()
  if (container !== undefined && containerIdFault(container) !== undefined)
    throw new Problem('IPK_USAGE', `--container "${container}" is not a container ID or the beginning of one`)
  if (namespace === '') throw new Problem('IPK_USAGE', '--namespace is empty')
  if (pod !== undefined && !/^([^/\s]+\/)?[^/\s]+$/.test(pod))
    throw new Problem('IPK_USAGE', `--pod "${pod}" is neither NAME nor NAMESPACE/NAME`)
  if (verb !== undefined && !isVerb(verb))
    throw new Problem('IPK_USAGE', `--verb "${options['verb']}" is not one of ${verbs.join(', ')}`)
  return {
    ...{ container, namespace, pod, verb },
    sort: chooseWord('--sort-by', sort, flightSorts),
    failed: flags.has('failed'),
    limit: limit === undefined ? defaultLimit : readLimit(limit),
  }
}

/** Whether a run was for a pod; one that knows no pod was for none. */
function isOfPod({ pod }: Flight, namespace: string | undefined, asked: string | undefined): boolean {
  if (namespace === undefined && asked === undefined) return true
  const [of, name] = pod?.split('/') ?? []
  return (
    pod !== undefined &&
    (namespace === undefined || of === namespace) &&
    (asked === undefined || asked === (asked.includes('/') ? pod : name))
  )
}

/** What is wanted, in its order, and how many more there are. */
export function selectFlights(
  flights: readonly Flight[],
  filter: FlightFilter,
): { readonly flights: readonly Flight[]; readonly more?: number } {
  const { container, namespace, pod, verb, failed, sort, limit } = filter
  const found = flights.filter(
    flight =>
      (container === undefined || flight.containerId?.startsWith(container)) &&
      isOfPod(flight, namespace, pod) &&
      (verb === undefined || flight.verb === verb) &&
      (!failed || flight.exit !== 0),
  )
  const more = found.length > limit && { more: found.length - limit }
  if (sort === 'at') return { flights: found.slice(-limit), ...more }
  const value = sortValues[sort]
  const sorted = found.sort((a, b) => {
    const [one, other] = [value(a), value(b)]
    return one < other ? -1 : one > other ? 1 : 0
  })
  return { flights: sorted.slice(0, limit), ...more }
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
    namespace: {
      ...{ letter: 'n', value: 'NAMESPACE', text: 'only runs for pods in this namespace' },
      offers: 'namespace',
    },
    pod: { value: 'POD', text: 'only runs for this pod: NAME or NAMESPACE/NAME', offers: 'pod' },
    verb: { value: 'VERB', text: 'only ADD, DEL, CHECK, GC, STATUS or VERSION', offers: verbs },
    'sort-by': {
      ...{ value: 'KEY', text: `${flightSorts.join(', ')} (default: at, the newest last)` },
      offers: flightSorts,
    },
    limit: { value: 'N', text: `only the newest N, or the first N as sorted (default: ${defaultLimit})` },
    'state-dir': {
      value: 'DIR',
      text: `state folder of the plugin (default: $IPKEEPER_STATE_DIR, else ${defaultPaths.stateDir})`,
      offers: 'folder',
    },
    failed: { text: 'only runs that failed' },
  },
  examples: [
    { line: 'ipkeeperctl flights --limit 20', does: 'Show the last twenty runs' },
    { line: 'ipkeeperctl flights -n shop --failed', does: 'Show what failed for the pods of a namespace' },
    { line: 'ipkeeperctl flights --sort-by duration --limit 5', does: 'Show the five slowest runs' },
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
    const selected = selectFlights(flights, filter)
    return Promise.resolve({ ...selected, flights: [...selected.flights] })
  },
  rows: ({ flights }) => flights,
  more: ({ more }) => more,
  howToSeeMore: ({ flights }, more) => `to see all: --limit ${flights.length + more}`,
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
