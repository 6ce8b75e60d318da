import type { FastifyInstance } from 'fastify'
import { HealthReply, StatusReply } from '../../../shared/api/listing.schema.ts'
import type { LeaseService } from '../../leases/service.ts'

/** What the daemon knows of itself from its start. */
export interface DaemonFacts {
  readonly version: string
  readonly startedAt: number
  readonly stateDir: string
  readonly socket: string
  readonly store: { readonly kind: string; readonly location: string }
}

/** DELs that wait in the state folder, and what was put aside of them. */
export type CountDeferredDels = () => Promise<{ readonly waiting: number; readonly quarantined: number }>

/** GET health and status. Polled, hence logged only when they fail. */
export function statusRoutes(
  app: FastifyInstance,
  options: { service: LeaseService; facts: DaemonFacts; deferredDels: CountDeferredDels },
): void {
  const { service, facts, deferredDels } = options

  app.get('/v1/health', { logLevel: 'warn', schema: { response: { 200: HealthReply } } }, async () =>
    Promise.resolve({ status: 'ok', version: facts.version, stateDir: facts.stateDir }),
  )

  app.get('/v1/status', { logLevel: 'warn', schema: { response: { 200: StatusReply } } }, async () => {
    const counts = service.ledger.counts()
    return {
      version: facts.version,
      node: service.node,
      bootId: service.bootId,
      pid: process.pid,
      startedAt: new Date(facts.startedAt).toISOString(),
      stateDir: facts.stateDir,
      socket: facts.socket,
      store: { ...facts.store, leases: counts.lease, attachments: counts.attachment },
      pools: counts.pool,
      deferredDels: await deferredDels(),
      operationsUnderWay: service.serial.busy,
    }
  })
}
