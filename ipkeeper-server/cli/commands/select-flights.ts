import type { Flight } from '../../../shared/api/flight.schema.ts'
import { containerIdFault } from '../../../shared/cni/identifiers.ts'
import { isVerb, verbs } from '../../../shared/cni/versions.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { readLimit } from '../framework/read-limit.ts'

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
    throw new Problem('IPK_USAGE', `--container "${container}" is no container ID, nor the beginning of one`)
  if (pod !== undefined && !/^[^/\s]+\/[^/\s]+$/.test(pod))
    throw new Problem('IPK_USAGE', `--pod "${pod}" is not NAMESPACE/NAME`)
  if (verb !== undefined && !isVerb(verb))
    throw new Problem('IPK_USAGE', `--verb "${options['verb']}" is none of ${verbs.join(', ')}`)
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
