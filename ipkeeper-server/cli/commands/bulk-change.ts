import {
  mostAddresses,
  type BulkItem,
  type BulkReply,
  type BulkVerdict,
} from '../../../shared/api/bulk.schema.ts'
import type { ListingTerms } from '../../../shared/api/listing-query.schema.ts'
import { parseAddress } from '../../../shared/net/address.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { counted } from '../../../shared/text/counted.ts'
import { visible } from '../../../shared/text/visible.ts'
import type { Option, ReadCall } from '../framework/command.ts'
import type { DaemonClient } from '../framework/daemon-client.ts'
import { selectionQuery } from '../framework/listing-options.ts'
import { formatTable } from '../framework/terminal-text.ts'
import { agrees, type Terminal } from '../framework/terminal.ts'
import { fileForm, readAddressFile, type AddressLine } from './address-file.ts'
import { isNetwork } from './addresses.ts'

/** A change of many addresses: the plan is printed first, then somebody agrees, and only then anything is changed. */

type Action = 'reserve' | 'move' | 'unreserve' | 'release'

/** What is asked of the daemon for each; `since` as the listing had it, so that only what was seen is changed. */
export interface BulkTarget extends AddressLine {
  readonly since?: string
}

export interface BulkReport {
  readonly action: Action
  /** Whether anything was changed. */
  readonly applied: boolean
  /**
   * done: as far as the items say. planned: it was only to be shown. nothing: there is nothing to do. refused: some cannot be done,
   * so nothing was. declined, unconfirmed: nobody agreed, or nobody could be asked.
   */
  readonly outcome: 'done' | 'planned' | 'nothing' | 'refused' | 'declined' | 'unconfirmed'
  readonly counts: Readonly<Record<BulkVerdict, number>>
  readonly items: readonly BulkItem[]
}

/** Milliseconds that the daemon may take for a request: each address may be a write of its own to an engine. */
const deadline = 120_000

export const bulkOptions: Readonly<Record<string, Option>> = {
  file: { value: 'FILE', text: fileForm, offers: 'file' },
  'dry-run': { text: 'only print the plan' },
  yes: { letter: 'y', text: 'do not ask' },
}

export const bulkExits = {
  0: 'done, or nothing was to be done',
  1: 'an address was refused, the answer was not yes, or the command failed',
}

/** The addresses that words and --file name. Throws IPK_USAGE where there is neither. */
export function namedTargets(
  words: readonly string[],
  { options }: Pick<ReadCall, 'options'>,
): AddressLine[] {
  const { file, segment } = options
  const lines = [
    ...words.flatMap(word => word.split(',')).map(word => ({ addresses: word.trim() })),
    ...(file === undefined ? [] : readAddressFile(file)),
  ]
  if (lines.length === 0) throw new Problem('IPK_USAGE', 'no address is named')
  return lines.map(line => ({ ...(segment !== undefined && { segment }), ...line }))
}

const hasSegment =
  ({ options }: Pick<ReadCall, 'options'>) =>
  ({ segment }: { readonly segment: string }): boolean =>
    options['segment'] === undefined || segment === options['segment']

/**
 * The addresses that words and --file name, or those of the rows that filters choose.
 *
 * @param listed asks for the rows, with the query of the filters
 * @throws Problem IPK_USAGE where there is neither
 */
export async function targetsOf<Row extends { readonly segment: string }>(
  args: ReadCall,
  filters: ListingTerms,
  {
    listed,
    target,
  }: {
    readonly listed: (query: string) => Promise<readonly Row[]>
    readonly target: (row: Row) => BulkTarget
  },
): Promise<readonly BulkTarget[]> {
  const query = selectionQuery(filters, args)
  if (query !== undefined) return (await listed(query)).filter(hasSegment(args)).map(target)
  return namedTargets(args.positionals, args).map(({ addresses, segment }) => ({
    addresses,
    ...(segment !== undefined && { segment }),
  }))
}

/** Whether words name one address alone, which needs no plan. */
export const isOneAddress = (words: readonly string[], { options, flags }: ReadCall): boolean =>
  words.length === 1 &&
  !/^[0-9a-f:.]*[0-9a-f:](,|-|~|\.\.)/i.test(words[0] ?? '') &&
  !isNetwork(words[0] ?? '') &&
  options['file'] === undefined &&
  !flags.has('dry-run')

function count(items: readonly BulkItem[]): BulkReport['counts'] {
  const of = (verdict: BulkVerdict): number => items.filter(item => item.verdict === verdict).length
  return { change: of('change'), unchanged: of('unchanged'), stays: of('stays'), refused: of('refused') }
}

const titles: Readonly<Record<Action, { readonly planned: string; readonly done: string }>> = {
  reserve: { planned: 'reserve', done: 'reserved' },
  move: { planned: 'move', done: 'moved' },
  unreserve: { planned: 'unreserve', done: 'unreserved' },
  release: { planned: 'release', done: 'released' },
}

const isNext = (before: string, after: string): boolean => {
  const [one, other] = [parseAddress(before), parseAddress(after)]
  return (
    one !== undefined && other !== undefined && one.family === other.family && other.value === one.value + 1n
  )
}

/** Of a range it is of interest what changes: neighbours of which nothing is done, for the same reason, are one row. */
function inRuns(items: readonly BulkItem[]): readonly BulkItem[] {
  const rows: { item: BulkItem; last: string }[] = []
  for (const item of items) {
    const row = rows.at(-1)
    const isMore =
      row?.item.verdict === 'unchanged' &&
      item.verdict === 'unchanged' &&
      row.item.segment === item.segment &&
      row.item.reason === item.reason &&
      isNext(row.last, item.address)
    if (row && isMore) row.last = item.address
    else rows.push({ item, last: item.address })
  }
  return rows.map(({ item, last }) =>
    last === item.address ? item : { ...item, address: `${item.address}-${last}` },
  )
}

function rowsOf(items: readonly BulkItem[], change: string): string {
  const segments = new Set(items.map(({ segment }) => segment))
  const rows = inRuns(items).map(({ address, segment, verdict, reason, hint }) => [
    verdict === 'change' ? change : verdict,
    segments.size > 1 ? `${segment} ${address}` : address,
    visible(hint === '' ? reason : `${reason}; ${hint}`),
  ])
  return formatTable(['WHAT', 'ADDRESS', 'WHY'], rows, 'no addresses')
}

const planText = (action: Action, items: readonly BulkItem[]): string =>
  `${rowsOf(items, titles[action].planned)}\n`

const addresses = (number: number): string => counted(number, 'address', 'addresses')

/** What has become of it, below the plan. */
export function bulkText({ action, outcome, counts, items }: BulkReport): string {
  const { planned, done } = titles[action]
  switch (outcome) {
    case 'done': {
      const left = counts.refused === 0 ? '' : `, ${counts.refused} refused`
      const refused = items.filter(({ verdict }) => verdict === 'refused')
      return `${refused.length === 0 ? '' : `${rowsOf(refused, done)}\n`}${addresses(counts.change)} ${done}${left}\n`
    }
    case 'planned':
      return `would ${planned} ${addresses(counts.change)}; nothing was changed\n`
    case 'nothing':
      return `nothing to ${planned}\n`
    case 'refused':
      return `nothing was changed: ${addresses(counts.refused)} cannot be ${done}\n`
    case 'declined':
      return 'nothing was changed\n'
    case 'unconfirmed':
      return `nothing was changed: to ${planned} ${addresses(counts.change)}, add --yes\n`
  }
}

export const bulkExit = ({ outcome, counts }: BulkReport): 0 | 1 =>
  (outcome === 'done' || outcome === 'planned' || outcome === 'nothing') && counts.refused === 0 ? 0 : 1

interface Bulk {
  readonly action: Action
  readonly targets: readonly BulkTarget[]
  /** Whether one that is refused keeps all others from being changed. */
  readonly wholly: boolean
}

async function send(daemon: DaemonClient, { action, targets }: Bulk, apply: boolean): Promise<BulkItem[]> {
  const items: BulkItem[] = []
  for (let from = 0; from < targets.length; from += mostAddresses) {
    const body = { apply, items: targets.slice(from, from + mostAddresses) }
    const reply = (await daemon.ask('POST', `/v1/bulk/${action}`, body, deadline)) as BulkReply
    items.push(...reply.items)
  }
  return items
}

interface BulkSite {
  readonly daemon: DaemonClient
  readonly args: ReadCall
  readonly terminal: Terminal
  readonly tell: (text: string) => void
}

/** Prints the plan, asks, and does it. */
export async function changeInBulk(
  { daemon, args, terminal, tell }: BulkSite,
  bulk: Bulk,
): Promise<BulkReport> {
  const { action, wholly } = bulk
  const planned = await send(daemon, bulk, false)
  const counts = count(planned)
  const end = (outcome: BulkReport['outcome']): BulkReport => ({
    ...{ action, applied: false, outcome, counts, items: planned },
  })
  if (planned.length > 0) tell(planText(action, planned))
  if (wholly && counts.refused > 0) return end('refused')
  if (counts.change === 0) return end('nothing')
  if (args.flags.has('dry-run')) return end('planned')
  if (!args.flags.has('yes')) {
    const isAgreed = agrees(terminal, `${titles[action].planned} ${addresses(counts.change)}?`)
    if (isAgreed === undefined) return end('unconfirmed')
    if (!isAgreed) return end('declined')
  }
  const items = await send(daemon, bulk, true)
  return { action, applied: true, outcome: 'done', counts: count(items), items }
}
