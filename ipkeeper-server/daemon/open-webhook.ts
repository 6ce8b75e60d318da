import { setImmediate as nextTurn } from 'node:timers/promises'
import { readNetworkPools } from '../conf-dir/read-conf-dir.ts'
import type { DaemonConfig } from '../config/load-config.ts'
import { readPoolSpec } from '../config/read-pool-object.ts'
import { isInUse } from '../ipam/plan/plan-configured-pools.ts'
import type { RequestRules } from '../leases/verbs/request-reader.ts'
import type { ClusterView } from '../kubernetes/cluster-view.ts'
import { measureUsage } from '../leases/queries/measure-usage.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import type { Logger } from '../host/logger.ts'
import type { OptionalParts } from '../host/optional-part.ts'
import type { DaemonPlace } from './daemon-place.ts'
import { openListener } from './open-listener.ts'
import type { MetricRegistry } from '../metrics/metric-registry.ts'

export interface OpenWebhookOptions {
  /** Of the start. */
  readonly config: DaemonConfig
  readonly service: LeaseService
  /** As configured now. */
  readonly rules: () => RequestRules
  /** undefined where no API is configured. */
  readonly cluster: ClusterView | undefined
  readonly logger: Logger
  readonly registry: MetricRegistry
  readonly parts: OptionalParts
  readonly place: Pick<DaemonPlace, 'remedy'>
}

export interface OpenWebhook {
  /** When the certificate in force ends, in milliseconds since the epoch; undefined without one. */
  readonly certificateEnds: () => number | undefined
  readonly close: () => Promise<void>
}

/** Milliseconds between two looks whether the files still make a certificate; who connects looks as well. */
const certificateLooks = 15_000

const none: OpenWebhook = { certificateEnds: () => undefined, close: () => Promise.resolve() }

/**
 * Puts the validating webhook together and listens, once the address can be had.
 * What TLS and HTTPS need is loaded only where there is one.
 */
export async function openWebhook(options: OpenWebhookOptions): Promise<OpenWebhook> {
  const { config, service, rules, cluster, logger, registry, parts, place } = options
  const { webhook } = config
  if (!webhook) return none
  const [{ AdmissionJudge }, { CertificateFiles }, { WebhookListener }, { sayProblem, wordFor }] =
    await Promise.all([
      import('../http/webhook/admission.ts'),
      import('../http/webhook/certificate-files.ts'),
      import('../http/webhook/webhook-listener.ts'),
      import('../http/webhook/plan/admission-review.ts'),
    ])
  const judge = new AdmissionJudge({
    book: service.ledger,
    isShared: service.ledger.isShared,
    expectHeard: () => {
      service.ledger.expectHeard()
    },
    pools: service.pools,
    dialects: () => rules().dialects,
    namespaceLabels: namespace => cluster?.namespace(namespace)?.labels,
    networks: () => readNetworkPools(config.conflist.directory),
    usage: async () => (await measureUsage(service, () => nextTurn())).rangeSets,
    readPool: (name, spec) => readPoolSpec(name, spec, service.pools().standard).pool,
    isLive: lease => isInUse(service.ledger, lease, service.now(), service.liveness),
    now: service.now,
    monotonic: () => performance.now(),
  })
  const { certFile, keyFile, issueFor, listen } = webhook
  const certificate = new CertificateFiles({
    ...{ certFile, keyFile, issueFor },
    onRead: ({ validTo }) => {
      logger.info({ certFile, until: new Date(validTo).toISOString() }, 'read the certificate of the webhook')
    },
    now: Date.now,
  })
  const listener = new WebhookListener({
    certificate,
    judge: admission => judge.judge(admission),
    remedy: place.remedy,
    onVerdict: ({ operation, kind, namespace, name }, verdict) => {
      const answer = wordFor(verdict)
      registry.count('ipkeeper_admission_reviews_total', { answer })
      const { refusals, warnings } = verdict
      if (answer === 'admitted') return
      logger.info(
        { operation, kind, namespace, name, refusals: refusals.map(sayProblem), warnings },
        `webhook: ${answer}`,
      )
    },
    onError: error => {
      logger.warn({ err: error }, 'a review of the webhook could not be answered')
    },
  })
  const looked = parts.add({
    name: 'certificate',
    begin: () => {
      certificate.look()
    },
    lookEvery: certificateLooks,
  })
  await looked.start()
  const close = await openListener(parts, 'webhook', listener, listen)
  return {
    certificateEnds: () => certificate.current()?.validTo,
    close: async () => {
      await looked.stop()
      await close()
    },
  }
}
