import type { CniRequest } from '../../../shared/api/cni.schema.ts'
import type { AddRequest } from '../../ipam/request/add-request.ts'
import type { PodFacts } from '../../ipam/records/pod-facts.ts'
import type { PoolBook } from '../../ipam/pools/pool-settings.ts'
import { ordinalOf } from '../../ipam/records/workload.ts'
import type { ClusterView } from '../../kubernetes/cluster-view.ts'
import {
  factsWanted,
  interpretAdd,
  readAddCall,
  readDns,
  type NodeFacts,
  type RequestRules,
} from './interpret-request.ts'
import { findOwner, gatherPodFacts } from './pod-facts.ts'

/** What requests are read with. One per daemon; `rules` and `pools` are those of the present configuration. */
export interface ReaderOptions {
  /** undefined when no API is configured. */
  readonly cluster: ClusterView | undefined
  readonly rules: () => RequestRules
  readonly pools: () => PoolBook
  readonly facts: NodeFacts
}

/** Turns what the plugin sent into what planning needs; the one place where an ADD may wait for the cluster. */
export class RequestReader {
  readonly #options: ReaderOptions

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  /**
   * Reads one ADD.
   *
   * @param known what is known of the pod, where it is not to be asked for: of a manifest, say
   * @throws Problem that the runtime is to show
   */
  async read(request: CniRequest, known?: PodFacts): Promise<AddRequest> {
    const { cluster, facts } = this.#options
    const call = readAddCall(request)
    // One configuration from here on, also when it is reloaded while the cluster is asked.
    const [rules, pools] = [this.#options.rules(), this.#options.pools()]
    const wanted = factsWanted(call, rules, pools)
    const pod = known ?? (await gatherPodFacts(cluster, wanted))
    await facts.reachNetns(request.netns)
    const add = interpretAdd(call, pod, await readDns(call.config, facts), facts, rules, pools)
    if (known || !cluster || !wanted.pod || !dependsOnOwner(add)) return add
    return { ...add, owner: await findOwner(cluster, wanted.pod) }
  }
}

/** Whether the place of a pod in its list depends on what only its StatefulSet says: `spec.ordinals.start`. */
function dependsOnOwner({ holder, owner, pod }: AddRequest): boolean {
  return owner === undefined && pod.candidates.length > 0 && ordinalOf(holder, owner) !== undefined
}
