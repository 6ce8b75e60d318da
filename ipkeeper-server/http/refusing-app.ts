import { randomBytes } from 'node:crypto'
import fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { catalogue } from '../../shared/problem/catalogue.ts'
import type { Problem } from '../../shared/problem/problem.ts'
import { keepEdge } from './http-edge.ts'
import { earlyRefusal, errorReply, type ReplyFacts } from './problem-reply.ts'
import type { ReadMetrics } from './routes/metrics.ts'

export interface RefusingAppOptions extends ReplyFacts {
  /** Why nothing is served, as it is now. */
  readonly problem: () => Problem
  readonly metrics: ReadMetrics
  readonly logger: FastifyBaseLogger
}

/** Milliseconds in which a request has to be there: it comes from this machine. */
const arrival = 10_000

/**
 * Stands on the socket of a daemon that may not serve: whatever is asked gets the reason, but for the metrics. A plugin puts its
 * DEL into the queue then, which is carried out when the daemon serves.
 */
export function buildRefusingApp({
  problem,
  metrics,
  logger,
  ...facts
}: RefusingAppOptions): FastifyInstance {
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomBytes(6).toString('hex'),
    http: { requireHostHeader: false },
    keepAliveTimeout: arrival,
    forceCloseConnections: true,
    clientErrorHandler: () => undefined,
  })
  keepEdge(app.server, { arrival, refusal: earlyRefusal(facts) })
  // Before the body is looked at.
  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'GET' && request.url === '/metrics') {
      const { contentType, text } = await metrics()
      return await reply.header('content-type', contentType).send(text)
    }
    const present = problem()
    return await reply.code(catalogue[present.code].httpStatus).send(errorReply(present, request.id, facts))
  })
  return app
}
