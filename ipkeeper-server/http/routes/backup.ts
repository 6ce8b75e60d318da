import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { LeaseService } from '../../leases/verbs/service.ts'
import { backupParts } from '../../migrate/transfer/backup-lines.ts'
import { copyLedger } from '../../migrate/transfer/ledger-copy.ts'
import type { DaemonFacts } from './status.ts'

export interface BackupRoutesOptions {
  readonly service: LeaseService
  readonly facts: Pick<DaemonFacts, 'version' | 'store'>
}

/** GET the whole ledger as of one moment, as lines of JSON; the last one tells that it is whole. */
export function backupRoutes(app: FastifyInstance, { service, facts }: BackupRoutesOptions): void {
  app.get('/v1/backup', { schema: { hide: true } }, async (request, reply) => {
    const copy = await copyLedger(service.ledger)
    request.log.info({ records: copy.records.length }, 'backup')
    const parts = backupParts(copy, {
      version: facts.version,
      createdAt: new Date(service.now()).toISOString(),
      node: service.node,
      store: facts.store.kind,
    })
    return reply.type('application/x-ndjson').send(Readable.from(parts))
  })
}
