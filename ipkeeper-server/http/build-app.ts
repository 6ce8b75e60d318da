import { randomUUID } from 'node:crypto'
import swagger from '@fastify/swagger'
import fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { Problem } from '../../shared/problem/problem.ts'
import { catalogue } from '../../shared/problem/catalogue.ts'
import type { ClusterView } from '../kubernetes/cluster-view.ts'
import type { NodeFacts } from '../leases/verbs/invocation.ts'
import type { RequestReader } from '../leases/verbs/request-reader.ts'
import type { HostUplinks } from '../network/pod-network.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import type { TellPod } from '../leases/tasks/pod-events.ts'
import type { PartState } from '../host/optional-part.ts'
import type { DiskStatus } from '../store/lease-store.ts'
import type { VerbObserver } from '../leases/verbs/verb-observer.ts'
import { ownSchemas } from '../host/schema-check.ts'
import { keepEdge } from './http-edge.ts'
import { earlyRefusal, errorReply, problemHandler } from './problem-reply.ts'
import { addressRoutes } from './routes/addresses.ts'
import { backupRoutes } from './routes/backup.ts'
import { bulkRoutes } from './routes/bulk.ts'
import { cniRoutes } from './routes/cni.ts'
import { configRoutes, type CheckConfig } from './routes/config.ts'
import { explainRoutes } from './routes/explain.ts'
import { importRoutes } from './routes/import.ts'
import { listingRoutes } from './routes/listings.ts'
import { mapRoutes } from './routes/maps.ts'
import { metricsRoute, type ReadMetrics } from './routes/metrics.ts'
import type { NodeFigures } from '../leases/queries/known-nodes.ts'
import { nodeRoutes as otherNodeRoutes } from './routes/nodes.ts'
import {
  statusRoutes,
  type ClusterState,
  type ConfigState,
  type CountDeferredDels,
  type CountJumps,
  type DaemonFacts,
  type ReadExport,
} from './routes/status.ts'
import { rescueRoutes } from './routes/rescue.ts'
import { uplinkRoutes } from './routes/uplinks.ts'

export interface AppOptions {
  readonly service: LeaseService
  readonly facts: DaemonFacts
  readonly nodeFacts: NodeFacts
  readonly requests: RequestReader
  readonly tellPod: TellPod
  /** Called before an ADD of that run of the plugin is decided. */
  readonly askedAgain: (invocationId: string | undefined) => Promise<void>
  /** undefined when no API is configured. */
  readonly cluster: ClusterView | undefined
  /** State of the configuration's file. */
  readonly config: () => ConfigState
  readonly checkConfig: CheckConfig
  /** undefined when no API is configured. */
  readonly clusterStatus: () => ClusterState | undefined
  readonly deferredDels: CountDeferredDels
  /** How often the wall clock was set since the start, and the last time. */
  readonly jumps: CountJumps
  /** Absent where nothing is known of a disk. */
  readonly disk?: () => DiskStatus | undefined
  /** What no pod needs. Absent: there is none of it. */
  readonly parts?: () => readonly PartState[]
  /** How it stands with the export of the history. Absent: there is none. */
  readonly historyExport?: ReadExport
  /** Whether the state folder takes writes now. Absent: it does. */
  readonly stateFolderBeats?: () => Promise<boolean>
  readonly uplinks: HostUplinks
  readonly observer: VerbObserver
  /** Milliseconds (reconcile.minAgeUnproved), as configured now. */
  readonly minAgeUnproved: () => number
  readonly metrics: ReadMetrics
  /** The node whose daemon is elected; absent where none is. */
  readonly leader?: NodeFigures['leader']
  /** Of what looks at the node beside the leases. */
  readonly nodeRoutes?: readonly ((app: FastifyInstance) => void)[]
  readonly logger: FastifyBaseLogger
}

/** What the plugin reads from stdin at most (16 MiB), and the rest of the request. */
const bodyLimit = 17 * 1024 * 1024

/** Milliseconds in which a request has to be there: it comes from this machine. */
const arrival = 10_000

/** Milliseconds that requests under way have when the daemon is told to stop. */
const closeTimeout = 5000

/** The application, ready to listen. Replies are JSON.stringify of what handlers return: the plugin checks their shape. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const app = createApp(options)
  endConnectionsOnClose(app)
  // A clock that was set is noticed by whoever reads it.
  app.addHook('onRequest', (_request, _reply, done) => {
    options.service.now()
    done()
  })
  await describeApi(app, options.facts.version)
  addAllRoutes(app, options)
  await app.ready()
  return app
}

/** Limits, and an error reply for each way in which a request can be refused. */
function createApp({ facts, logger }: AppOptions): FastifyInstance {
  const onProblem = problemHandler(facts)
  const app = fastify({
    loggerInstance: logger,
    // Handlers write one line per operation, with its outcome.
    logController: new LogController({ disableRequestLogging: true }),
    // Of its last twelve digits none is fixed; Node has it without a call of the kernel.
    genReqId: () => randomUUID().slice(-12),
    bodyLimit,
    // Foreign keys of a netconf are left alone, also when they are called __proto__.
    onProtoPoisoning: 'remove',
    onConstructorPoisoning: 'remove',
    http: { requireHostHeader: false },
    keepAliveTimeout: arrival,
    forceCloseConnections: 'idle',
    // A request that a stopping daemon has accepted is answered; Fastify's own refusal would have no code and no hint.
    return503OnClosing: false,
    frameworkErrors: onProblem,
    // The edge answers.
    clientErrorHandler: () => undefined,
    ajv: { customOptions: { ...ownSchemas, coerceTypes: false, removeAdditional: false, useDefaults: true } },
  })
  keepEdge(app.server, { arrival, refusal: earlyRefusal(facts) })
  app.addHook('onRequest', (request, _reply, done) => {
    const nameless = request.raw.httpVersion === '1.1' && request.headers.host === undefined
    done(nameless ? new Problem('IPK_REQUEST_INVALID', 'request refused: it has no Host header') : undefined)
  })
  app.setSerializerCompiler(() => JSON.stringify)
  app.setErrorHandler(onProblem)
  app.setNotFoundHandler((request, reply) => {
    const problem = new Problem('IPK_ROUTE_UNKNOWN', `no ${request.method} ${request.url.slice(0, 200)}`)
    void reply.code(catalogue[problem.code].httpStatus).send(errorReply(problem, request.id, facts))
  })
  return app
}

/** Node waits for open connections without end, and no longer times them out. An ADD that is cut off here is undone. */
function endConnectionsOnClose(app: FastifyInstance): void {
  let closing = false
  app.addHook('preClose', done => {
    closing = true
    setTimeout(() => {
      app.server.closeAllConnections()
    }, closeTimeout).unref()
    done()
  })
  // Fastify sends this with later requests; those under way would keep their connection.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) void reply.header('connection', 'close')
    done()
  })
}

async function describeApi(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      info: {
        title: 'ipkeeper-server',
        version,
        description: 'HTTP/1.1 over a unix socket: what the plugin, ipkeeperctl and operators ask.',
      },
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) =>
        typeof json['$id'] === 'string' ? json['$id'] : `schema-${index}`,
    },
  })
}

function addAllRoutes(app: FastifyInstance, options: AppOptions): void {
  const { service, facts, nodeFacts, checkConfig, stateFolderBeats = () => Promise.resolve(true) } = options
  const { stateDir, stateFolder } = facts
  cniRoutes(app, { ...options, stateDir, stateFolder, stateFolderBeats, facts: nodeFacts })
  listingRoutes(app, { service, cluster: options.cluster })
  addressRoutes(app, { service })
  bulkRoutes(app, { service })
  mapRoutes(app, { service, cluster: options.cluster })
  explainRoutes(app, options)
  importRoutes(app, options)
  backupRoutes(app, options)
  rescueRoutes(app, { service })
  configRoutes(app, { checkConfig })
  otherNodeRoutes(app, { service, nodeFigures: { version: facts.version, leader: options.leader } })
  uplinkRoutes(app, options)
  for (const addRoutes of options.nodeRoutes ?? []) addRoutes(app)
  statusRoutes(app, options)
  metricsRoute(app, options)
  app.get('/v1/openapi.json', { schema: { hide: true } }, async () => Promise.resolve(app.swagger()))
}
