import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { ProblemCode } from '../shared/problem/catalogue.ts'
import { Problem } from '../shared/problem/problem.ts'

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Ends an answer with a status that is none of success, and one line that says why. */
export function refuse(response: ServerResponse, status: number, text: string): void {
  const body = `${status} ${STATUS_CODES[status] ?? ''}: ${text}\n`
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}

/** Why the system refuses an address. `key`: where it is configured, such as "metrics.listen". */
export function listenProblem(
  code: ProblemCode,
  key: string,
  { host, port }: ListenAddress,
  error: Error,
): Problem {
  const why = 'code' in error ? String(error.code) : error.message
  const where = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  const inUse = why === 'EADDRINUSE'
  return new Problem(
    code,
    inUse ? `${key}: another program listens on ${where}` : `${key}: cannot listen on ${where} (${why})`,
    {
      cause: error,
      ...(inUse && {
        hint: `see who it is: ss -ltnp 'sport = :${port}'; end it, or set another port in ${key}`,
      }),
    },
  )
}
