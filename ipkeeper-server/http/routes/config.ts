import type { FastifyInstance } from 'fastify'
import { ConfigCheckReply, ConfigCheckRequest } from '../../../shared/api/config.schema.ts'
import { ErrorReply } from '../../../shared/api/cni.schema.ts'

/** What would become of a file; throws what is wrong with its text. */
export type CheckConfig = (request: ConfigCheckRequest) => Promise<ConfigCheckReply>

/** POST a configuration file, and hear whether the daemon would put it in force; nothing is done. */
export function configRoutes(
  app: FastifyInstance,
  { checkConfig }: { readonly checkConfig: CheckConfig },
): void {
  app.post<{ Body: ConfigCheckRequest }>(
    '/v1/config/check',
    {
      logLevel: 'warn',
      schema: { body: ConfigCheckRequest, response: { 200: ConfigCheckReply, 500: ErrorReply } },
    },
    async ({ body }) => await checkConfig(body),
  )
}
