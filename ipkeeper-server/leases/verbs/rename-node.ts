import { mostForgotten } from '../../ipam/plan/plan-release.ts'
import { planRename, type Renaming } from '../../ipam/plan/plan-rename.ts'
import type { AttachmentKey, LeaseRecord, Write } from '../../ipam/records/records.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { Ledger } from '../ledger/ledger.ts'

export interface RenameOrder extends Pick<Renaming, 'node' | 'wasOurs'>, Partial<Pick<Renaming, 'isOthers'>> {
  /** Names to look for; undefined: any but `node`. */
  readonly from: readonly string[] | undefined
  /** Only these, which the engine need not be asked for. */
  readonly only?: 'attachment'
}

export interface Renamed extends Readonly<Record<'leases' | 'holders' | 'attachments', number>> {
  /** What it was called before, by these records. */
  readonly names: readonly string[]
}

type Bearer = 'lease' | 'holder' | 'attachment'

/**
 * Gives all that this node has in the ledger its present name. In the embedded store all of it or nothing; where nodes share the
 * store one part after the other, so that whoever was broken off goes on by doing it again. Rejects with what the store says.
 */
export async function renameNode(
  ledger: Ledger,
  { node, wasOurs, isOthers = () => false, from, only }: RenameOrder,
): Promise<Renamed> {
  const mayBe = searchFor(node, from)
  const isOurs = (key: AttachmentKey): boolean => ledger.hasAttachment(key)
  const most = ledger.isShared ? mostForgotten : Infinity
  const counts: Record<Bearer, number> = { lease: 0, holder: 0, attachment: 0 }
  const names = new Set<string>()
  for (;;) {
    const { change, found } = await commitPlan(ledger, () => {
      const leases = only ? [] : leasesOfOthers(ledger, node, from)
      const holders = only ? [] : ledger.search('holder', mayBe)
      // Where a lease changes, an attachment of any name may remember its generation.
      const attachments = ledger.search('attachment', leases.length > 0 ? () => true : mayBe)
      const change = planRename({ leases, holders, attachments }, { node, wasOurs, isOthers, isOurs }, most)
      return { change, found: change.map(write => nameBefore(ledger, write)) }
    })
    for (const [index, { kind }] of change.entries()) {
      counts[kind as Bearer]++
      const name = found[index]
      if (name !== undefined && name !== node) names.add(name)
    }
    if (change.length === 0 || !ledger.isShared)
      return {
        ...{ leases: counts.lease, holders: counts.holder, attachments: counts.attachment },
        names: [...names],
      }
  }
}

function nameBefore(ledger: Ledger, { kind, record }: Write): string | undefined {
  if (record === null) return undefined
  switch (kind) {
    case 'lease':
      return ledger.lease(record)?.node
    case 'attachment':
      return ledger.attachment(record)?.node
    case 'holder':
      return ledger.holder(record.holder)?.sandbox?.node
    default:
      return undefined
  }
}

/** Leases that bear another name than `node`, or one of these. */
function leasesOfOthers(ledger: Ledger, node: string, from: readonly string[] | undefined): LeaseRecord[] {
  const names = from ?? [...ledger.namesOnLeases()]
  return names.filter(name => name !== node).flatMap(name => [...ledger.leasesOn(name)])
}

/** What the text of a record has that bears another name than `node`, or one of these. */
function searchFor(node: string, from: readonly string[] | undefined): (text: string) => boolean {
  const word = (name: string): string => `${nodeKey}${JSON.stringify(name)}`
  const own = word(node)
  if (!from) return text => hasOther(text, own)
  const words = from.map(word)
  return text => words.some(one => text.includes(one))
}

const nodeKey = '"node":'

/** Whether a text names a node by other words than these. Every record is looked at when the daemon starts. */
function hasOther(text: string, own: string): boolean {
  let at = text.indexOf(nodeKey)
  while (at >= 0 && text.startsWith(own, at)) at = text.indexOf(nodeKey, at + own.length)
  return at >= 0
}
