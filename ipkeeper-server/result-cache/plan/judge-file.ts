import type { CacheReason } from '../../../shared/cache-reasons.ts'
import type { AttachmentKey } from '../../ipam/records/records.ts'
import type { CacheKind, Content, NamedSandbox } from './cache-kinds.ts'
import { containerIdFault, interfaceNameFault } from '../../../shared/cni/identifiers.ts'

/** What was seen of a file, or of something that stands where a file should be. */
export interface SeenFile {
  readonly kind: CacheKind
  readonly name: string
  /** The network whose folder it is in, where the kind has such folders. */
  readonly network: string | undefined
  readonly content:
    | { readonly state: 'read'; readonly content: Content }
    | { readonly state: 'odd'; readonly reason: CacheReason; readonly detail: string }
    /** It changed while it was read. */
    | { readonly state: 'moving' }
  /** Milliseconds since the epoch: the later one of mtime and ctime. */
  readonly changedAt: number
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
  /** Milliseconds for which whoever looks has seen it without a change. */
  readonly watchedFor: number
  /** Milliseconds for which it has been seen to change again and again. */
  readonly restlessFor: number
}

/** An attachment of ours whose result libcni may keep. */
export interface KnownAttachment extends AttachmentKey {
  /** Whether an ADD or DEL of it is under way, or nobody is known to have the answer of its ADD. */
  readonly busy: boolean
}

/** What is known beside the files. */
export interface CacheKnowledge {
  /** By the name of the file in which libcni keeps the result (resultFileName). Two of one name: it is neither's. */
  readonly attachments: ReadonlyMap<string, KnownAttachment | 'several'>
  /** Container IDs of all attachments of ours. */
  readonly containers: ReadonlySet<string>
  /** Whether the two above are known at all: without the daemon they are not. */
  readonly recordsKnown: boolean
  /** Whether a network uses ipkeeper. */
  readonly isOwnNetwork: (name: string) => boolean
  /** Every network that is known by name. */
  readonly networks: ReadonlySet<string>
  /** IDs of the sandboxes that runtimes list; undefined where none could be asked, or one of them failed. */
  readonly sandboxes: ReadonlySet<string> | undefined
  /** When this boot began, milliseconds since the epoch. */
  readonly bootedAt: number
  readonly now: number
  /** Milliseconds that a file has to be old before its sandbox counts as gone because the runtimes omit it. */
  readonly orphanAge: number
}

/** A file in which something is wrong. */
export interface Judgement {
  readonly reason: CacheReason
  readonly detail: string
  readonly sandbox: NamedSandbox
  readonly own: boolean
  /** The attachment whose result it should be. */
  readonly attachment: KnownAttachment | undefined
}

type Verdict =
  | { readonly state: 'good' }
  /** Look again in so many milliseconds. */
  | { readonly state: 'wait'; readonly milliseconds: number }
  | ({ readonly state: 'bad' } & Judgement)

/** Milliseconds without a change before a file is judged: libcni truncates it, and then writes it. */
export const quietPeriod = 5_000
/** Milliseconds after which a file that never rests is told of. */
const patience = 60_000

const good: Verdict = { state: 'good' }

/** Milliseconds until the file will have been quiet for long enough; 0 when it has been. */
function unquietFor({ changedAt, watchedFor }: SeenFile, now: number): number {
  // A time in the future says nothing: then only what was seen counts.
  const since = changedAt <= now ? Math.max(now - changedAt, watchedFor) : watchedFor
  return Math.max(0, quietPeriod - since)
}

function wholeName({ kind, name, network, content }: SeenFile, { networks }: CacheKnowledge): NamedSandbox {
  const inside = content.state === 'read' ? content.content.sandbox : {}
  const outside: NamedSandbox =
    kind === 'results' ? sandboxOfName(name, networks) : network === undefined ? {} : { network }
  return { ...outside, ...inside }
}

/** The container ID, unless it is only a guess. */
function sureContainerId({ kind, name, content }: SeenFile): string | undefined {
  const inside = content.state === 'read' ? content.content.sandbox.containerId : undefined
  return inside ?? (kind === 'results' ? usualContainerId(name) : undefined)
}

/** Why a whole file is of no use to anybody any more. */
function leftOver(file: SeenFile, known: CacheKnowledge): Pick<Judgement, 'reason' | 'detail'> | undefined {
  const { sandboxes, containers, now, bootedAt } = known
  const containerId = sureContainerId(file)
  if (containerId === undefined) return undefined
  if (containers.has(containerId) || sandboxes?.has(containerId)) return undefined
  if (file.modifiedAt < bootedAt)
    return {
      reason: 'stale-boot',
      detail: sandboxes
        ? 'of a sandbox before this boot'
        : 'from before this boot; no runtime could be asked',
    }
  // An empty list is no proof (a runtime that has just started knows nothing yet).
  if (!sandboxes || sandboxes.size === 0 || !known.recordsKnown) return undefined
  return now - file.modifiedAt >= known.orphanAge
    ? { reason: 'orphan', detail: 'no sandbox of this ID, says the runtime' }
    : undefined
}

/** Says what is wrong with a file, if anything, once it may be judged. */
export function judgeFile(file: SeenFile, known: CacheKnowledge): Verdict {
  const found = file.kind === 'results' ? known.attachments.get(file.name) : undefined
  const attachment = found === 'several' ? undefined : found
  const sandbox = attachment
    ? { network: attachment.network, containerId: attachment.containerId, ifname: attachment.ifname }
    : wholeName(file, known)
  const own =
    file.kind === 'results' &&
    (found !== undefined || (sandbox.network !== undefined && known.isOwnNetwork(sandbox.network)))
  const bad = (what: Pick<Judgement, 'reason' | 'detail'>): Verdict => ({
    ...{ state: 'bad', ...what, sandbox, own, attachment },
  })

  if (file.content.state === 'odd') return bad({ reason: file.content.reason, detail: file.content.detail })
  const what = file.content.state === 'read' && (file.content.content.fault ?? leftOver(file, known))
  // One that is whole gives no reason to look again.
  if (what === undefined) return good
  const wait = unquietFor(file, known.now)
  if (what === false || wait > 0) {
    if (file.restlessFor >= patience)
      return bad({ reason: 'changing', detail: `changed again and again for ${patience / 1000} s` })
    return { state: 'wait', milliseconds: Math.max(wait, 100) }
  }
  return attachment?.busy ? { state: 'wait', milliseconds: 1_000 } : bad(what)
}

/** Name of the file in which libcni keeps the result of an attachment (libcni/api.go, getCacheFilePath). */
export function resultFileName({ network, containerId, ifname }: AttachmentKey): string {
  return `${network}-${containerId}-${ifname}`
}

/** Container IDs of the runtimes that Kubernetes uses. */
const usual = /^(.+)-([0-9a-f]{64})-(.+)$/

/** The container ID in a name, where it is one that nothing else can be taken for. */
export function usualContainerId(name: string): string | undefined {
  return usual.exec(name)?.[2]
}

const plausible = (key: AttachmentKey): boolean =>
  !containerIdFault(key.containerId) && !interfaceNameFault(key.ifname)

/**
 * Whose result a name speaks of. All three parts may contain "-", so this is a guess, and better the more networks are
 * known: nothing is done by it that could harm a sandbox.
 */
export function sandboxOfName(name: string, networks: Iterable<string>): NamedSandbox {
  const match = usual.exec(name)
  if (match) {
    const key = { network: match[1] ?? '', containerId: match[2] ?? '', ifname: match[3] ?? '' }
    if (plausible(key)) return key
  }
  const known = [...networks]
    .filter(network => name.startsWith(`${network}-`))
    .sort((a, b) => b.length - a.length)
  const first = known[0] ?? name.slice(0, Math.max(0, name.indexOf('-')))
  const rest = name.slice(first.length + 1)
  const last = rest.lastIndexOf('-')
  if (first === '' || last < 1) return {}
  const key = { network: first, containerId: rest.slice(0, last), ifname: rest.slice(last + 1) }
  return plausible(key) ? key : {}
}
