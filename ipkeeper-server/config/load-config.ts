import { hostname } from 'node:os'
import { parseListen, parseTcpAddress, type ListenAddress } from '../host/listen-address.ts'
import { readRegularFileSync } from '../host/regular-file.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { isJsonObject } from '../../shared/json/fold.ts'
import { defaultPaths, resultCacheFolders } from '../../shared/paths.ts'
import type { TakeoverTerms } from '../ipam/records/last-contact.ts'
import type { StringMap } from '../ipam/records/pod-facts.ts'
import type { PoolSettings } from '../ipam/pools/pool-settings.ts'
import { parseDuration } from '../../shared/text/duration.ts'
import { parseRetention, type Retention } from '../ipam/records/retention.ts'
import { defaults, type AnnotationDialect } from './schema-words.ts'
import type { DaemonConfigFile } from './daemon-config.schema.ts'
import { SettingFaults, formatPath, type Fault } from './setting-faults.ts'
import type { ReconcileSettings, RepairMode } from '../reconcile/plan-settings.ts'
import { readHistory, readReconcile, readTakeover, type HistorySettings } from './read-sections.ts'
import { readPools } from './read-pools.ts'
import { readText, checkShape, showValue } from './schema-faults.ts'
import { YamlSource, type Position } from './yaml-source.ts'
import { systemCode } from '../../shared/system-code.ts'

/** The effective configuration; durations in milliseconds. */
export interface DaemonConfig {
  readonly node: string
  /** No two overlap within a segment, and all names differ. */
  readonly pools: readonly PoolSettings[]
  readonly retention: Retention
  readonly cooldown: number
  readonly preferFor: number
  readonly annotations: readonly AnnotationDialect[]
  readonly namespaceDefaults: boolean
  /** undefined: as the access to the Kubernetes API has it. */
  readonly requireAnnotations: boolean | undefined
  readonly kubernetes: KubernetesAccess
  readonly store: { readonly singleNode: boolean; readonly etcd: EtcdTerms }
  readonly history: HistorySettings
  /** undefined: those that are there of the usual ones. */
  readonly runtime: { readonly sockets: readonly string[] | undefined }
  readonly reconcile: ReconcileSettings
  readonly resultCache: ResultCacheTerms
  /** binDirs undefined: those of the runtime's configuration. */
  readonly conflist: { readonly directory: string; readonly binDirs: readonly string[] | undefined }
  readonly metrics: {
    readonly listen: ListenAddress | undefined
    /** Without one it is a loopback address. */
    readonly tokenFile: string | undefined
  }
  readonly page: { readonly listen: ListenAddress | undefined }
  /** undefined: there is none. */
  readonly webhook: WebhookTerms | undefined
  readonly election: { readonly namespace: string }
  /** With a store that nodes share. */
  readonly nodeRoutes: 'auto' | 'off'
  readonly takeover: TakeoverTerms
  readonly nodeLabels: StringMap
  readonly logLevel: NonNullable<DaemonConfigFile['logLevel']>
}

/** How the Kubernetes API is reached. With mode "kubeconfig" there is a path; with "in-cluster" there is none. */
export interface KubernetesAccess {
  readonly mode: 'auto' | 'in-cluster' | 'kubeconfig' | 'off'
  readonly kubeconfig?: string
  readonly context?: string
}

/** Where API servers have objects checked, and by which certificate they know us. Absolute paths. */
export interface WebhookTerms {
  readonly listen: ListenAddress
  readonly certFile: string
  readonly keyFile: string
  /** Name for which a certificate is issued, where the files are those of an authority. */
  readonly issueFor: string | undefined
}

/** How etcd is reached. Absolute paths; a certificate has a key, and a user a password. */
export interface EtcdTerms {
  /** Begins and ends with "/". */
  readonly prefix: string
  readonly caFile?: string
  readonly certFile?: string
  readonly keyFile?: string
  readonly user?: string
  readonly passwordFile?: string
}

export interface ResultCacheTerms {
  readonly mode: RepairMode
  readonly others: 'report' | 'quarantine'
  /** Milliseconds. */
  readonly interval: number
  /** Absolute paths, by what keeps its files there. */
  readonly folders: Readonly<Record<keyof typeof resultCacheFolders, readonly string[]>>
}

/** A file that is larger is none of ours; reading it would cost memory and time. */
const sizeLimit = 1024 * 1024

const absentHint = 'with --config the file has to exist; without it defaults apply'

/** How many faults a problem lists in its details. */
const shownFaults = 20

/** A text that is no configuration, with every fault as "FILE:LINE:COLUMN: what", in the order of the file. */
export class ConfigProblem extends Problem {
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    const [first = '', ...others] = faults
    const shown = others.slice(0, shownFaults)
    const rest = others.length - shown.length
    super('IPK_DAEMON_CONFIG', first, {
      details: [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n'),
    })
    this.faults = faults
  }
}

function readKubernetes(file: DaemonConfigFile, faults: SettingFaults): KubernetesAccess {
  const path = ['kubernetes']
  const {
    mode = defaults.kubernetesMode,
    kubeconfig,
    context,
  } = faults.isSound(path) ? (file.kubernetes ?? {}) : {}
  if (mode === 'kubeconfig' && kubeconfig === undefined)
    faults.add([...path, 'mode'], 'mode kubeconfig needs "kubeconfig", the path of that file')
  if (mode === 'in-cluster' && kubeconfig !== undefined)
    faults.add([...path, 'kubeconfig'], '"kubeconfig" has no use with mode in-cluster', 'key')
  if (context !== undefined && kubeconfig === undefined)
    faults.add([...path, 'context'], '"context" is one of "kubeconfig", which is not given', 'key')
  return { mode, ...(kubeconfig !== undefined && { kubeconfig }), ...(context !== undefined && { context }) }
}

function readEtcd(file: DaemonConfigFile, faults: SettingFaults): EtcdTerms {
  const path = ['store', 'etcd']
  const etcd = faults.isSound(['store']) && faults.isSound(path) ? (file.store?.etcd ?? {}) : {}
  for (const [one, other] of [
    ['certFile', 'keyFile'],
    ['keyFile', 'certFile'],
    ['user', 'passwordFile'],
    ['passwordFile', 'user'],
  ] as const) {
    if (etcd[one] !== undefined && etcd[other] === undefined)
      faults.add([...path, one], `"${one}" needs "${other}", which is not given`, 'key')
  }
  return { ...etcd, prefix: etcd.prefix ?? defaults.etcdPrefix }
}

function readResultCache(file: DaemonConfigFile, faults: SettingFaults): ResultCacheTerms {
  const path = ['resultCache']
  const standard = defaults.resultCache
  const { mode, others, interval, folders } = faults.isSound(path) ? (file.resultCache ?? {}) : {}
  return {
    mode: mode ?? standard.mode,
    others: others ?? standard.others,
    interval: readText(faults, [...path, 'interval'], interval ?? standard.interval, parseDuration) ?? 0,
    folders: { ...resultCacheFolders, ...folders },
  }
}

function readWebhook(file: DaemonConfigFile, faults: SettingFaults): WebhookTerms | undefined {
  const path = ['webhook']
  if (!faults.isSound(path) || file.webhook === undefined) return undefined
  const { listen, certFile, keyFile, issueFor } = file.webhook
  const missing = Object.entries({ listen, certFile, keyFile }).flatMap(([key, value]) =>
    value === undefined ? `"${key}"` : [],
  )
  if (missing.length > 0)
    faults.add(path, `lacks ${missing.join(', ')}: a webhook has listen, certFile and keyFile`)
  const address = readText(faults, [...path, 'listen'], listen, parseTcpAddress)
  return address && certFile !== undefined && keyFile !== undefined
    ? { listen: address, certFile, keyFile, issueFor }
    : undefined
}

/** What is served without a token stays on the node. */
function readMetrics({ metrics }: DaemonConfigFile, faults: SettingFaults): DaemonConfig['metrics'] {
  const path = ['metrics']
  if (!faults.isSound(path) || metrics === undefined) return { listen: undefined, tokenFile: undefined }
  const { listen, tokenFile } = metrics
  if (tokenFile !== undefined && listen === undefined)
    faults.add(path, 'lacks "listen": a token is shown to those who listen there')
  const parse = tokenFile === undefined ? parseListen : parseTcpAddress
  return { listen: readText(faults, [...path, 'listen'], listen, parse), tokenFile }
}

/** What the keys of a file say whose shape was checked; meaningless unless the faults stay as they were. */
function readFile(
  file: DaemonConfigFile,
  standardNode: string,
  faults: SettingFaults,
  lineOf: (path: readonly (string | number)[]) => number,
): DaemonConfig {
  const duration = (key: 'cooldown' | 'preferFor'): number | undefined =>
    readText(faults, [key], file[key] ?? defaults[key], parseDuration)
  const standard = {
    retention:
      readText(faults, ['retention'], file.retention ?? defaults.retention, parseRetention) ?? 'release',
    cooldown: duration('cooldown') ?? 0,
    preferFor: duration('preferFor') ?? 0,
  }
  return {
    node: file.node ?? standardNode,
    pools: readPools(file, standard, faults, lineOf),
    ...standard,
    annotations: file.annotations ?? [],
    namespaceDefaults: file.namespaceDefaults ?? false,
    requireAnnotations: file.requireAnnotations,
    kubernetes: readKubernetes(file, faults),
    store: { singleNode: file.store?.singleNode ?? false, etcd: readEtcd(file, faults) },
    history: readHistory(file, faults),
    runtime: { sockets: file.runtime?.sockets },
    reconcile: readReconcile(file, faults),
    resultCache: readResultCache(file, faults),
    conflist: {
      directory: file.conflist?.directory ?? defaultPaths.confDir,
      binDirs: file.conflist?.binDirs,
    },
    metrics: readMetrics(file, faults),
    page: { listen: readText(faults, ['page', 'listen'], file.page?.listen, parseListen) },
    webhook: readWebhook(file, faults),
    election: { namespace: file.election?.namespace ?? defaults.electionNamespace },
    nodeRoutes: file.nodeRoutes ?? defaults.nodeRoutes,
    takeover: readTakeover(file, faults),
    nodeLabels: file.nodeLabels ?? {},
    logLevel: file.logLevel ?? defaults.logLevel,
  }
}

/** "pools[0].ranges[0][1].subnet: what (pool "prod")". */
function describe({ path, part, text }: Fault, value: unknown): string {
  const [top, index, key] = path
  const pools = isJsonObject(value) && top === 'pools' ? value['pools'] : undefined
  const pool: unknown = Array.isArray(pools) && typeof index === 'number' ? pools[index] : undefined
  const name = isJsonObject(pool) && key !== 'name' ? pool['name'] : undefined
  const whose = typeof name === 'string' ? ` (pool ${showValue(name)})` : ''
  // What is said of a key is said of the mapping that it stands in.
  const subject = part === 'key' ? path.slice(0, -1) : path
  return `${subject.length > 0 ? `${formatPath(subject)}: ` : ''}${text}${whose}`
}

/**
 * Text of the file (YAML, hence also JSON) to the effective configuration, defaults filled in.
 *
 * @param path names the file in messages
 * @param standardNode the node's name where the file does not say it
 * @throws ConfigProblem (IPK_DAEMON_CONFIG) that tells every fault with file, line and column, the key, its value and
 *   what was expected
 */
export function parseConfig(text: string, path: string, standardNode: string = hostname()): DaemonConfig {
  const source = new YamlSource(text)
  const faults = new SettingFaults()
  let config: DaemonConfig | undefined
  if (source.faults.length === 0) {
    const value = source.value ?? {}
    checkShape(value, faults)
    if (isJsonObject(value)) {
      const lineOf = (at: Fault['path']): number => source.positionOf({ path: at, part: 'value' }).line
      config = readFile(value, standardNode, faults, lineOf)
    }
  }
  const located = [
    ...source.faults,
    ...faults.all().map(fault => ({
      position: source.positionOf(fault),
      text: describe(fault, source.value),
    })),
  ]
  if (config && located.length === 0) return config
  const inOrder = (
    { position: a }: { position: Position },
    { position: b }: { position: Position },
  ): number => a.line - b.line || a.column - b.column
  throw new ConfigProblem(
    located
      .sort(inOrder)
      .map(({ position, text: what }) => `${path}:${position.line}:${position.column}: ${what}`),
  )
}

const unreadable = (path: string, why: string, options: { cause?: unknown; hint?: string } = {}): Problem =>
  new Problem('IPK_DAEMON_CONFIG', `${path}: cannot be read (${why})`, options)

/** Text of the file; undefined when there is none of that name. Throws IPK_DAEMON_CONFIG. */
export function readConfigText(path: string): string | undefined {
  let bytes: Buffer
  try {
    bytes = readRegularFileSync(path, { most: sizeLimit })
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT') return undefined
    throw unreadable(path, code, { cause: error })
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw unreadable(path, 'not UTF-8', { cause: error })
  }
}

/** Of a file that has to be there, because it was named. */
export function missingFile(path: string): Problem {
  return unreadable(path, 'ENOENT', { hint: absentHint })
}

/** Reads the file. Absent is an error only when it was named on the command line. */
export function loadConfig(path: string, mustExist: boolean): DaemonConfig {
  const text = readConfigText(path)
  if (text === undefined && mustExist) throw missingFile(path)
  return parseConfig(text ?? '', path)
}
