import type { FastifyInstance } from 'fastify'
import { LintReply } from '../../../shared/api/lint.schema.ts'

/** What the last look at the network configurations of this node gave. */
export type CurrentLint = () => LintReply

/** GET what is wrong with the network configurations of this node. */
export function lintRoutes(
  app: FastifyInstance,
  { currentLint }: { readonly currentLint: CurrentLint },
): void {
  app.get('/v1/lint', { schema: { response: { 200: LintReply } } }, async () =>
    Promise.resolve(currentLint()),
  )
}
