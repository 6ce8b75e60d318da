import type { Flight } from '../../../shared/api/flight.schema.ts'

/** One run of the plugin in a line. */
export function describeFlight({ at, verb, ifname, exit, code, message, addresses, queued }: Flight): string {
  const outcome =
    exit === 0
      ? (addresses?.join(', ') ?? (queued === true ? 'queued until the daemon is back' : 'done'))
      : `failed${code === undefined ? '' : ` ${code}`}: ${message ?? ''}`
  return `${at} ${verb} ${ifname ?? '-'}: ${outcome}`
}
