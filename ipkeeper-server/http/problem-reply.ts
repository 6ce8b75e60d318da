import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { catalogue } from '../../shared/problem/catalogue.ts'
import { Problem, toProblem, type ProblemDocument } from '../../shared/problem/problem.ts'
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
export function errorReply(problem: Problem, requestId: string, facts: ReplyFacts): ErrorReply {
  return { ...documentOf(problem, facts), requestId, stateDir: facts.stateDir }
}

export function documentOf(
  problem: Problem,
  { remedy = text => text }: Pick<ReplyFacts, 'remedy'>,
): ProblemDocument {
  const document = problem.toDocument()
  return { ...document, hint: remedy(document.hint) }
}

/** What each error reply says of the daemon, and how. */
export interface ReplyFacts {
  readonly stateDir: string
  /** A hint as it works where this daemon runs. Absent: as it is written. */
  readonly remedy?: (text: string) => string
}

/** The one error handler: logs once, at the severity of what happened, and replies. */
export function problemHandler(facts: ReplyFacts) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const problem = asProblem(error)
    const bug = problem.code === 'IPK_INTERNAL'
    request.log[bug ? 'error' : 'warn'](
      { code: problem.code, hint: problem.hint, details: problem.details, ...(bug && { err: error }) },
      problem.message,
    )
    void reply.code(catalogue[problem.code].httpStatus).send(errorReply(problem, request.id, facts))
  }
}

/** What is refused before there is a request: no HTTP, headers that are too long, or a client that is too slow. */
export function earlyRefusal(facts: ReplyFacts): EdgeOptions['refusal'] {
  return (status, reason) => {
    const problem =
      status === 405
        ? new Problem('IPK_ROUTE_UNKNOWN', reason)
        : new Problem('IPK_REQUEST_INVALID', `request refused: ${reason}`)
    return {
      status: catalogue[problem.code].httpStatus,
      type: 'application/json',
      body: JSON.stringify(errorReply(problem, 'none', facts)),
    }
  }
}
