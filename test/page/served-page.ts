import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { auditRoutes } from '../../ipkeeper-server/http/routes/audit.ts'
import { OptionalParts } from '../../ipkeeper-server/host/optional-part.ts'
import { reserve } from '../../ipkeeper-server/leases/verbs/reserve.ts'
import type { MeasuredUse } from '../../ipkeeper-server/ipam/pools/forecast-full.ts'
import type { LeaseService } from '../../ipkeeper-server/leases/verbs/service.ts'
import { setAside } from '../../ipkeeper-server/leases/verbs/undo-add.ts'
import { daemonPlace } from '../../ipkeeper-server/daemon/daemon-place.ts'
import { openPage, type OpenPage } from '../../ipkeeper-server/daemon/open-page.ts'
import { MemoryStore } from '../../ipkeeper-server/store/memory/memory-store.ts'
import { bundlePage } from '../../scripts/bundle-page.ts'
import type { AuditReply, Finding } from '../../shared/api/audit.schema.ts'
import { defaultPaths } from '../../shared/paths.ts'
import type { Problem } from '../../shared/problem/problem.ts'
import { poolFrom, TestService } from '../ipkeeper-server/leases/test-service.ts'
import { freePort } from '../rigs/free-port.ts'
import { openLeaseApp } from '../rigs/served-leases.ts'
import type { Scope } from '../rigs/teardown.ts'

export interface ServedPage {
  readonly url: string
  readonly port: number
  readonly story: TestService
  /** What the audit finds from now on. */
  find(...findings: readonly Finding[]): void
  /** How full IPv4 of every pool was, the oldest first. */
  remember(...samples: readonly MeasuredUse[]): void
  /** Ends the page's server, and begins it again at the same address. */
  stop(): Promise<void>
  restart(): Promise<void>
}

export const sampleFinding: Finding = {
  ...{ kind: 'lease-without-sandbox', severity: 'warning', action: 'end-attachment', state: 'waiting' },
  says: 'the sandbox 3f2a91c0d1e2 of shop/web-9 is dead, and still has 10.22.0.9',
  ...{ why: 'its network namespace is gone', remedy: 'wait, or: ipkeeperctl release 10.22.0.9' },
  ...{ address: '10.22.0.9/24', pod: 'shop/web-9', podUid: null, network: 'net', link: null },
  ...{ containerId: '3f2a91c0d1e2', ifname: 'eth0' },
}

/** The page over the real routes and a ledger in memory, whose clock is the machine's; bundled from source. */
export async function servePage(owner: Scope, node = 'n1'): Promise<ServedPage> {
  const story = await TestService.open(new MemoryStore(), 'release', node)
  story.now = Date.now()
  const logger = pino({ level: 'silent' })
  let findings: readonly Finding[] = []
  const audit = (): Promise<AuditReply> =>
    Promise.resolve({
      ...{ node, mode: 'repair', takenAt: new Date().toISOString(), attachments: 3 },
      witnesses: [{ name: 'kernel links', state: 'asked', says: '' }],
      findings: [...findings],
    })
  let samples: readonly MeasuredUse[] = []
  const service: LeaseService = {
    ...story.service,
    useSamples: ({ family }) => (family === 4 ? samples : []),
  }
  const addAudit = (routes: FastifyInstance): void => {
    auditRoutes(routes, { audit: { audit } })
  }
  const { app } = await openLeaseApp(owner, { story, parts: { service, nodeRoutes: [addAudit], logger } })
  const files = await bundlePage()
  const port = await freePort()
  const fail = (_: unknown, problem: Problem): never => {
    throw problem
  }
  const parts = new OptionalParts({ now: Date.now, onBroken: fail, onMended: () => undefined })
  const place = daemonPlace(defaultPaths)
  let opened: OpenPage | undefined
  const restart = async (): Promise<void> => {
    const listen = { host: '127.0.0.1', port }
    opened = await openPage({ node, page: { listen } }, story.now, { logger, parts, place })
    opened.serve({
      ...{ ledger: story.service.ledger, files },
      ask: async url => {
        const { statusCode, body } = await app.inject({ method: 'GET', url })
        return { status: statusCode, body }
      },
    })
  }
  const stop = async (): Promise<void> => {
    await opened?.close()
    opened = undefined
  }
  await restart()
  owner.teardown(stop)
  return {
    ...{ url: `http://127.0.0.1:${port}/`, port, story, stop, restart },
    remember: (...past) => {
      samples = past
    },
    find: (...next) => {
      findings = next
      opened?.found()
    },
  }
}

/** A pool "net" of 256 addresses in which each state is there once: leased .2, held .3, cooling .4, put aside .5, reserved .9. */
export async function everyState(story: TestService): Promise<void> {
  const { service } = story
  story.pool = poolFrom('net', ['10.22.0.0/24'])
  await story.add({ pod: 'web-0', container: '3f2a91c0d1e2a', retain: '30m' })
  await story.add({ pod: 'web-1', container: 'b1', retain: 'forever' })
  await story.del('b1')
  await story.add({ pod: 'job', container: 'c1' })
  await story.del('c1')
  await story.add({ pod: 'web-2', container: 'd1' })
  const lease = service.ledger.lease({ segment: 'default', address: '10.22.0.5' })
  await story.del('d1')
  await setAside(service, lease ? [lease] : [], '02:00:00:00:00:99 on the network has 10.22.0.5')
  await reserve(service, { segment: 'default', address: '10.22.0.9', owner: 'shop/web-9', note: 'printer' })
}
