import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { catalogue } from '../../shared/problem/catalogue.ts'
import { Problem, toProblem } from '../../shared/problem/problem.ts'
import type { ErrorReply } from '../../shared/api/cni.schema.ts'
import type { EdgeOptions } from './http-edge.ts'
import { requestFault } from './request-fault.ts'

/** What Fastify itself refuses: bodies that are too large, no JSON, or not of the schema. */
function asProblem(error: unknown): Problem {
  const status = (error as Partial<FastifyError>).statusCode
  if (error instanceof Problem || status === undefined || status >= 500) return toProblem(error)
  const text = error instanceof Error ? requestFault(error as FastifyError) : String(error)
  return new Problem('IPK_REQUEST_INVALID', `request refused: ${text}`, { cause: error })
}

/** The body of an error reply; there is no other way out of the daemon, so that it is never empty and never `{}`. */
export function errorReply(problem: Problem, requestId: string, stateDir: string): ErrorReply {
  return { ...problem.toDocument(), requestId, stateDir }
}

/** The one error handler: logs once, at the severity of what happened, and replies. */
export function problemHandler(stateDir: string) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const problem = asProblem(error)
    const bug = problem.code === 'IPK_INTERNAL'
    request.log[bug ? 'error' : 'warn'](
      { code: problem.code, hint: problem.hint, details: problem.details, ...(bug && { err: error }) },
      problem.message,
    )
    void reply.code(catalogue[problem.code].httpStatus).send(errorReply(problem, request.id, stateDir))
  }
}

/** What is refused before there is a request: no HTTP, headers that are too long, or a client that is too slow. */
export function earlyRefusal(stateDir: string): EdgeOptions['refusal'] {
  return (status, reason) => {
    const problem =
      status === 405
        ? new Problem('IPK_ROUTE_UNKNOWN', reason)
        : new Problem('IPK_REQUEST_INVALID', `request refused: ${reason}`)
    return {
      status: catalogue[problem.code].httpStatus,
      type: 'application/json',
      body: JSON.stringify(errorReply(problem, 'none', stateDir)),
    }
  }
}
