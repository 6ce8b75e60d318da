import type { FastifyInstance } from 'fastify'

/** The page that Prometheus reads, and its content type. Measures when it is called, and not before. */
export type ReadMetrics = () => Promise<{ readonly contentType: string; readonly text: string }>

/** GET /metrics. Polled, hence logged only when it fails. */
export function metricsRoute(app: FastifyInstance, { metrics }: { readonly metrics: ReadMetrics }): void {
  app.get('/metrics', { logLevel: 'warn', schema: { hide: true } }, async (_request, reply) => {
    const { contentType, text } = await metrics()
    return reply.type(contentType).send(text)
  })
}
