import type { ImportItem } from '../../shared/api/import.schema.ts'
import { FailureReasons } from '../host/failure-reasons.ts'
import { describeHolder } from '../ipam/records/records.ts'
import { serveDel, endStrays } from '../leases/verbs/del.ts'
import { parseInvocation } from '../leases/verbs/invocation.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import type { VerbObserver } from '../leases/verbs/verb-observer.ts'
import { listLinks } from '../network/ip-show.ts'
import { removeSeenLink } from '../network/node/link-removal.ts'
import { runTool } from '../network/run-tool.ts'
import { AdoptUnrecorded } from '../reconcile/adopt-unrecorded.ts'
import { AnsweredMarks } from '../reconcile/answered-marks.ts'
import { DeferredDels } from '../reconcile/deferred-dels.ts'
import { SettleAnswers } from '../reconcile/settle-answers.ts'
import { StrayLinks } from '../reconcile/stray-links.ts'
import { AskedYields } from '../reconcile/asked-yields.ts'
import { YieldAddresses } from '../reconcile/yield-addresses.ts'
import type { OpenedLedger } from './assemble-ledger.ts'
import type { DaemonFrame } from './daemon-frame.ts'
import type { KeptRoom } from './disk-room.ts'
import { keptResults, unrecordedBy } from './unrecorded-pods.ts'

export interface RepairsOptions {
  readonly service: LeaseService
  readonly observer: VerbObserver
  readonly kept: KeptRoom
}

export interface AssembledRepairs {
  readonly deferred: DeferredDels
  readonly answers: SettleAnswers
  readonly yielding: YieldAddresses
  readonly askedYields: AskedYields
  readonly strayLinks: StrayLinks
  readonly unrecorded: AdoptUnrecorded
}

/** What finishes what was left undone: queued DELs, unanswered ADDs, addresses that were taken away, links without a record. */
export async function assembleRepairs(
  frame: DaemonFrame,
  options: RepairsOptions,
): Promise<AssembledRepairs> {
  const { service, observer, kept } = options
  const { stateDir, stops } = frame
  const deferred = await kept.room.make(stateDir, () => deferredDels(frame, options))
  const answers = settleAnswers(frame, service, observer)
  const yielding = yieldAddresses(frame, service)
  const askedYields = obeyYields(frame, service)
  const strayLinks = removeStrayLinks(frame, service)
  const unrecorded = adoptUnrecorded(frame, service)
  stops.answers.defer(() => answers.stop())
  stops.answers.defer(() => deferred.stop())
  stops.repairs.defer(() => yielding.stop())
  stops.repairs.defer(() => askedYields.stop())
  stops.repairs.defer(() => strayLinks.stop())
  stops.repairs.defer(() => unrecorded.stop())
  return { deferred, answers, yielding, askedYields, strayLinks, unrecorded }
}

/** To be awaited before anything is served. */
export async function beginRepairs(
  { logger }: DaemonFrame,
  { service, opened }: { readonly service: LeaseService; readonly opened: OpenedLedger },
  { deferred, answers, yielding, askedYields, strayLinks, unrecorded }: AssembledRepairs,
): Promise<void> {
  const { ledger, news, lostEarly } = opened
  // Before the first ADD: what was deleted while nobody was here must not look as if it were in use.
  await deferred.drain()
  await answers.begin()
  strayLinks.start()
  endStrays(service, (error, key) => {
    logger.warn({ err: error, ...key }, 'a deleted attachment that appeared again could not be ended yet')
  })
  ledger.subscribe({
    unanswered: () => {
      answers.wake()
    },
    servingAgain: () => {
      logger.info('the ledger was written to a new file; changes are accepted again')
      // DELs that came meanwhile wait there.
      void deferred.drain().catch((error: unknown) => {
        logger.warn({ err: error }, 'the queue of deferred DELs could not be processed; retrying')
      })
    },
  })
  news.onAddressLost = had => {
    yielding.lost(had)
  }
  lostEarly.forEach(news.onAddressLost)
  // Before anything is served: this node may have counted as lost until now.
  await yielding.begin()
  await askedYields.begin()
  // After all that ended meanwhile, and before the first ADD, which might be given one of these addresses.
  await unrecorded.begin()
}

function deferredDels(
  { stateDir, logger, registry }: DaemonFrame,
  { service, observer, kept }: RepairsOptions,
): DeferredDels {
  return new DeferredDels({
    ...{ stateDir, spares: kept.spares },
    del: async request => {
      const { late, undone } = await serveDel(service, parseInvocation(request), request.bootId)
      if (late) observer.lateDel(late)
      if (undone) observer.undone('never_answered')
    },
    onDone: ({ containerId, ifname, config: { name } }, queuedAt) => {
      registry.count('ipkeeper_deferred_dels_done_total')
      logger.info({ verb: 'del', containerId, ifname, network: name, queuedAt }, 'carried out a deferred DEL')
    },
    onQuarantine: (file, reason) => {
      logger.error({ file, reason }, 'a deferred DEL is invalid and was quarantined')
    },
    onRetry: (file, error) => {
      logger.warn(
        { file, err: error },
        'a deferred DEL could not be carried out yet; the queue is retried every few seconds',
      )
    },
    onRetriesOver: () => {
      logger.info('no deferred DEL needs a retry any more')
    },
  })
}

function settleAnswers(frame: DaemonFrame, service: LeaseService, observer: VerbObserver): SettleAnswers {
  const { stateDir, logger } = frame
  const unsettled = new FailureReasons()
  return new SettleAnswers({
    service,
    marks: new AnsweredMarks(stateDir),
    monotonic: () => performance.now(),
    hasResult: async ({ containerId, ifname }) => {
      const results = await keptResults(frame)
      return results.some(one => one.containerId === containerId && one.ifname === ifname && !one.beforeBoot)
    },
    onUndone: ({ network, containerId, ifname, holder }) => {
      observer.undone('never_answered')
      logger.warn(
        { network, containerId, ifname, holder: describeHolder(holder) },
        'an ADD that was never answered, since the daemon or its plugin ended, was undone',
      )
    },
    onError: error => {
      if (unsettled.failed(error))
        logger.warn({ err: error }, 'which ADDs were answered could not be determined yet; retrying')
      unsettled.endRound()
    },
    onSettled: () => {
      if (unsettled.endRound()) logger.info('it is known again which ADDs were answered')
    },
  })
}

function yieldAddresses({ logger }: DaemonFrame, service: LeaseService): YieldAddresses {
  return new YieldAddresses({
    service,
    onCut: ({ network: ofNetwork, containerId, ifname, holder }, { address }) => {
      logger.error(
        { network: ofNetwork, containerId, ifname, holder: describeHolder(holder), address },
        `cut off a sandbox: ${address} was taken over or ended by another node while this one counted as lost`,
      )
    },
    onError: (error, { containerId, ifname }) => {
      logger.error(
        { err: error, containerId, ifname },
        'a sandbox whose addresses another node has could not be cut off, and may answer for them; it is tried again',
      )
    },
  })
}

function obeyYields({ logger }: DaemonFrame, service: LeaseService): AskedYields {
  return new AskedYields({
    service,
    onDone: asked => {
      logger.warn(
        asked,
        `gave ${asked.address} up, since an operator on node ${asked.by} released it by force`,
      )
    },
    onError: (error, asked) => {
      logger.error(
        { err: error, ...asked },
        'a sandbox whose address was released by force could not be cut off, and may answer for it; it is tried again',
      )
    },
  })
}

function adoptUnrecorded(frame: DaemonFrame, service: LeaseService): AdoptUnrecorded {
  const { logger } = frame
  const failures = new FailureReasons()
  const whose = ({ pod, containerId }: ImportItem): string =>
    pod ? `${pod.namespace}/${pod.name}` : `container ${containerId?.slice(0, 13) ?? ''}`
  return new AdoptUnrecorded({
    service,
    ...unrecordedBy(frame),
    onAdopted: item => {
      const { network, containerId, ifname, address, origin } = item
      logger.warn(
        { network, containerId, ifname, address, origin, hint: 'ipkeeperctl audit' },
        `${address} of ${whose(item)}, which is running, was recorded again: the ledger was older than that pod`,
      )
    },
    onRefused: item => {
      const { network, containerId, ifname, address, origin, verdict, reason } = item
      logger.error(
        { network, containerId, ifname, address, origin, verdict, hint: item.hint },
        `${address} of ${whose(item)}, which is running, has no record and cannot get one: ${reason}`,
      )
    },
    onError: error => {
      if (failures.failed(error))
        logger.warn({ err: error }, 'running pods without a record could not be adopted yet; retrying')
      failures.endRound()
    },
  })
}

function removeStrayLinks({ logger }: DaemonFrame, { ledger }: LeaseService): StrayLinks {
  return new StrayLinks({
    look: () => listLinks(runTool, ['type', 'veth']),
    remove: link => removeSeenLink(runTool, link),
    attachments: () => ledger.wiredAttachments(),
    monotonic: () => performance.now(),
    onRemoved: ({ name, alias }) => {
      logger.warn(
        { link: name, alias },
        'removed a link that a program of an earlier daemon created too late',
      )
    },
    onError: error => {
      logger.warn({ err: error }, 'links that an earlier daemon left could not be looked for')
    },
  })
}
