/** String keys and values, as Kubernetes has them for annotations and labels. */
export type StringMap = Readonly<Record<string, string>>

/** The controller at the top of a pod: the Deployment, not its ReplicaSet; the CronJob, not its Job. */
export interface Owner {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Empty for an object that need not exist (a manifest). */
  readonly uid: string
  /** StatefulSet: `spec.ordinals.start`; absent while it is not known. */
  readonly ordinalsStart?: number
}

/**
 * What can be told of a pod when an ADD is decided, besides what CNI says. `undefined` means that nobody could tell, which
 * is not the same as empty: a rule that needs it refuses.
 */
export interface PodFacts {
  readonly annotations: StringMap | undefined
  /** Who told the annotations, for errors and explanations. */
  readonly annotationsFrom: 'runtime' | 'api' | 'manifest' | 'nobody'
  /** The controller; null for a pod that has none. */
  readonly owner: Owner | null | undefined
  readonly namespace: { readonly annotations: StringMap; readonly labels: StringMap } | undefined
}

/** Of a container without a pod, or of a pod that only the runtime knows. */
export const nothingKnown: PodFacts = {
  annotations: undefined,
  annotationsFrom: 'nobody',
  owner: undefined,
  namespace: undefined,
}
