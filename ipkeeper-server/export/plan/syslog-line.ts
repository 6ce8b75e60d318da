import { isJsonObject } from '../../../shared/json/fold.ts'
import type { ExportedEntry } from '../../ipam/records/exported-entry.ts'
import type { EndedBy, HistoryEventName } from '../../ipam/records/history-entry.ts'
import { describeHolder } from '../../ipam/records/records.ts'
import { formatTime } from '../../ipam/records/times.ts'

/**
 * Lines of RFC 5424. All of a line is printable ASCII, whatever a pod is called: what is not is written as \uXXXX, so that nothing in
 * a name can end a line or begin another one.
 */

/** Numbers behind "@" belong to enterprises, and ipkeeper is none: 32473 is the one that RFC 5612 keeps for examples. */
const structureId = 'ipkeeper@32473'

/** Octets of a line at most: rsyslog and others cut what is longer than 8 KiB unless they are told otherwise. */
export const longestLine = 8000

/** Characters of a value or of a name in the sentence at most; a longer one ends with "...". The whole one is in `entry`. */
const longestValue = 256

/** local0: the facilities below are other programs' own. */
const facility = 16
const severities = { warning: 4, notice: 5, informational: 6 } as const

const escaped = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const shortened = (text: string): string =>
  text.length > longestValue ? `${text.slice(0, longestValue)}...` : text

/** As a value stands between quotes. */
const quoted = (text: string): string => `"${escaped(text).replace(/["\\\]]/g, '\\$&')}"`

/** A field of the header, which has no room for spaces. */
const headerField = (text: string, longest: number): string =>
  text.replace(/[^\x21-\x7e]/g, '_').slice(0, longest) || '-'

/** A clock that was set wrong can be beyond what the format can say. */
const timestamp = (at: number): string =>
  at >= 0 && at < 253_402_300_800_000 ? new Date(at).toISOString() : '-'

interface Message {
  readonly severity: keyof typeof severities
  readonly at: number
  readonly recorder: string
  /** MSGID */
  readonly kind: string
  readonly values: Readonly<Record<string, string | number | null | undefined>>
  readonly says: string
}

function lineOf({ severity, at, recorder, kind, values, says }: Message): string {
  const known = Object.entries(values).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [`${name}=${quoted(String(value))}`],
  )
  const head = [`<${facility * 8 + severities[severity]}>1`, timestamp(at), headerField(recorder, 255)]
  return [...head, 'ipkeeper', '-', kind, `[${[structureId, ...known].join(' ')}]`, escaped(says)].join(' ')
}

const ended: Readonly<Record<EndedBy, string>> = {
  del: ': its sandbox was deleted',
  gc: ": the runtime's list does not have its sandbox any more",
  sweeper: ': its sandbox is gone',
  operator: ': an operator released it by force',
}

const sentences: Readonly<Record<HistoryEventName, (holder: string, entry: ExportedEntry) => string>> = {
  bound: (holder, { node }) => `was given to ${holder} on node ${node}`,
  moved: (holder, { node }) => `is with a newer sandbox of ${holder} on node ${node}`,
  held: (holder, { by }) => `is kept for ${holder}${by === undefined ? '' : ended[by]}`,
  cooling: (holder, { by }) => `was released by ${holder} and cools down${by === undefined ? '' : ended[by]}`,
  free: holder => `of ${holder} was released`,
  undone: holder => `was taken back from ${holder}: its ADD was not answered`,
}

const sentenceOf = (entry: ExportedEntry): string =>
  `${entry.address} ${sentences[entry.event](shortened(describeHolder(entry.holder)), entry)}`

function valuesOf(entry: ExportedEntry): Message['values'] {
  const { id, event, address, segment, pool, holder, podUid, workload, node, source, until } = entry
  const container = holder.kind === 'container' ? holder.containerId : entry.containerId
  const isPod = holder.kind === 'pod'
  const texts = {
    ...{ event, address, segment, pool, network: holder.network },
    ...{ namespace: isPod ? holder.namespace : null, pod: isPod ? holder.name : null, uid: podUid },
    owner: workload && `${workload.kind}/${workload.name}`,
    ...{ container, ifname: holder.ifname, node, source, by: entry.by },
  }
  return {
    id,
    ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text && shortened(text)])),
    ...{ until: until === null ? null : timestamp(until), pruned: entry.pruned },
    ...{ link: entry.link, previous: entry.previous },
  }
}

/**
 * An entry as a line. What people filter by stands in values of its own; `entry` has all of it, as it is exported, so that its link can
 * be checked. Where that would make the line too long, `entry` is left out, and `cut` says so.
 */
export function entryLine(entry: ExportedEntry): string {
  const severity = entry.by === 'operator' ? 'notice' : 'informational'
  const message = { severity, at: entry.at, recorder: entry.recorder, kind: entry.event } as const
  const [values, says] = [valuesOf(entry), sentenceOf(entry)]
  const line = lineOf({ ...message, values: { ...values, entry: JSON.stringify(entry) }, says })
  return line.length <= longestLine ? line : lineOf({ ...message, values: { ...values, cut: 'entry' }, says })
}

/** What stands in the place of entries that were pruned before they could be sent. `at`: milliseconds since the epoch. */
export function prunedLine(recorder: string, at: number, from: number, to: number): string {
  const count = to - from + 1
  const entries = count === 1 ? `1 entry (ID ${from}) was` : `${count} entries (IDs ${from} to ${to}) were`
  return lineOf({
    ...{ severity: 'warning', at, recorder, kind: 'pruned' },
    values: { from, to, entries: count },
    says: `${entries} pruned from the history of node ${shortened(recorder)} before they could be sent (${formatTime(at)})`,
  })
}

/** What a line of a copy is. */
export type CopiedLine =
  | {
      readonly kind: 'entry'
      readonly entry: ExportedEntry
      /** What stands before `entry` for people says something else. */
      readonly isAltered?: true
    }
  /** Another program's, or one of ipkeeper that tells of no entry. */
  | { readonly kind: 'other' }
  /** One of ours that was cut, by us or on its way. */
  | { readonly kind: 'cut' }

const entryValue = /\sentry="((?:[^"\\\]]|\\.)*)"/

/** Reads a line of JSON Lines, or one that a syslog receiver has written with its structured data. */
export function readCopiedLine(line: string): CopiedLine {
  if (line.trimStart().startsWith('{')) return parsed(line)
  const begin = line.indexOf(`[${structureId} `)
  if (begin < 0) return { kind: 'other' }
  const values = line.slice(begin)
  const text = entryValue.exec(values)?.[1]
  if (text !== undefined) {
    const copied = parsed(text.replace(/\\(["\\\]])/g, '$1'))
    return copied.kind === 'entry' && !saysTheSame(values, copied.entry)
      ? { ...copied, isAltered: true }
      : copied
  }
  return / link="/.test(values) ? { kind: 'cut' } : { kind: 'other' }
}

const anyValue = /\s([a-z]+)=("(?:[^"\\\]]|\\.)*")/g

/** Whether no value of a line differs from what the entry comes to; another version may have others besides. */
function saysTheSame(line: string, entry: ExportedEntry): boolean {
  let values: Message['values']
  try {
    values = valuesOf(entry)
  } catch {
    // It is no entry that any version has written.
    return false
  }
  return Array.from(line.matchAll(anyValue)).every(([, name = '', text]) => {
    const value = values[name]
    return value === undefined || value === null || quoted(String(value)) === text
  })
}

/** The last moment that can be written as a date. */
const latest = 8.64e15

function parsed(text: string): CopiedLine {
  try {
    const value: unknown = JSON.parse(text)
    if (!isJsonObject(value)) return { kind: 'other' }
    const { id, at, recorder, link, previous } = value
    const isEntry =
      Number.isSafeInteger(id) &&
      typeof at === 'number' &&
      Math.abs(at) <= latest &&
      typeof recorder === 'string' &&
      (previous === null || typeof previous === 'string') &&
      (link === undefined || typeof link === 'string')
    return isEntry ? { kind: 'entry', entry: value as unknown as ExportedEntry } : { kind: 'other' }
  } catch {
    return { kind: 'cut' }
  }
}
