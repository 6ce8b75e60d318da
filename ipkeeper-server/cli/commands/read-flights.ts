import { closeSync, constants, existsSync, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Flight } from '../../../shared/api/flight.schema.ts'
import { flightFileNumber } from '../../../shared/flight-files.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { schemaCheck } from '../../host/schema-check.ts'
import { systemCode } from '../../../shared/system-code.ts'

const flightCheck = schemaCheck<Flight>(Flight)

export interface FlightsRead {
  /** In the order in which the runs ended. */
  readonly flights: readonly Flight[]
  /** Lines that are torn, or none of the plugin's. */
  readonly unreadable: number
}

/**
 * Reads all that the plugin has left in a folder of its state folder; one that is not there is empty. Throws
 * IPK_FLIGHTS_UNREADABLE, also where there is no such state folder.
 */
export function readFlights(folder: string): FlightsRead {
  const flights: Flight[] = []
  let unreadable = 0
  for (const name of fileNames(folder)) {
    for (const line of readLines(join(folder, name))) {
      const flight = parse(line)
      if (flightCheck.holds(flight)) flights.push(flight)
      else unreadable++
    }
  }
  return { flights, unreadable }
}

/** The oldest file first. */
function fileNames(folder: string): string[] {
  try {
    return readdirSync(folder)
      .flatMap(name => {
        const number = flightFileNumber(name)
        return number === undefined ? [] : [{ name, number }]
      })
      .sort((a, b) => a.number - b.number)
      .map(({ name }) => name)
  } catch (error) {
    if (!isMissing(error)) throw unreadableProblem(folder, error)
    const stateDir = dirname(folder)
    if (existsSync(stateDir)) return []
    throw new Problem('IPK_FLIGHTS_UNREADABLE', `there is no state folder ${stateDir}`, { cause: error })
  }
}

/** A file that is removed meanwhile has no lines any more; what is no file, such as a pipe, never had any. */
function readLines(path: string): string[] {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      if (!fstatSync(file).isFile()) return []
      return readFileSync(file, 'utf8')
        .split('\n')
        .filter(line => line !== '')
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (isMissing(error)) return []
    throw unreadableProblem(path, error)
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** ELOOP: a link where a file should be. */
const isMissing = (error: unknown): boolean => ['ENOENT', 'ELOOP', 'ENXIO'].includes(systemCode(error))

function unreadableProblem(path: string, cause: unknown): Problem {
  return new Problem(
    'IPK_FLIGHTS_UNREADABLE',
    `the flight record ${path} cannot be read (${systemCode(cause)})`,
    {
      cause,
    },
  )
}
