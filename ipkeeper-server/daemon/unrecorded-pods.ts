import type { Ledger } from '../leases/ledger/ledger.ts'
import { Tombstones } from '../leases/verbs/recent-verbs.ts'
import { findKeptResults } from '../migrate/import/kept-results.ts'
import type { KeptResult } from '../migrate/plan/unrecorded-results.ts'
import { seeNamespace } from '../network/pod/attachment-liveness.ts'
import { reachNetns } from '../network/pod/namespace.ts'
import {
  livingUnrecorded,
  unrecordedOf,
  type Unrecorded,
  type UnrecordedOptions,
} from '../reconcile/adopt-unrecorded.ts'
import type { DaemonFrame } from './daemon-frame.ts'

/** What runtimes keep of ADDs for which the plugin used this state folder. */
export async function keptResults({ config, stateDir, logger }: DaemonFrame): Promise<readonly KeptResult[]> {
  const onUnseen = (text: string, error: unknown): void => {
    logger.warn({ err: error }, text)
  }
  const places = { results: config.resultCache.folders.results, stateDir, onUnseen }
  return (await findKeptResults(places)).own
}

/** By what pods are found that run here and are not on record. */
export const unrecordedBy = (frame: DaemonFrame): UnrecordedOptions => ({
  facts: { namespaceAt: seeNamespace, reachNetns },
  results: () => keptResults(frame),
})

/** Of what there is any, as far as can be seen before anything is ended; what cannot be looked at may be there. */
export async function someUnrecorded(frame: DaemonFrame, ledger: Ledger): Promise<Unrecorded> {
  try {
    const living = await livingUnrecorded({ ledger, tombstones: new Tombstones() }, unrecordedBy(frame))
    return unrecordedOf(ledger, living)
  } catch (error) {
    frame.logger.warn({ err: error }, 'whether pods run here that are not on record cannot be seen')
    return 'known to the store'
  }
}
