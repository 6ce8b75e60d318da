import type { AttachmentKey, Holder, LeaseRecord } from '../../../ipkeeper-server/ipam/records/records.ts'
import type { Ledger } from '../../../ipkeeper-server/leases/ledger/ledger.ts'
import type { ReferenceModel } from './reference-model.ts'
import type { Hold } from './world-state.ts'

/** A ledger in the words of the model. */

export const sandboxId = ({ network, containerId, ifname }: AttachmentKey): string =>
  `${network} ${containerId} ${ifname}`

export const holderId = (holder: Holder): string =>
  holder.kind === 'pod'
    ? `${holder.network} ${holder.namespace}/${holder.name} ${holder.ifname}`
    : `${holder.network} container:${holder.containerId} ${holder.ifname}`

/** The keys in the order in which the model has them. */
function holdOf(lease: LeaseRecord): Hold {
  const { workload } = lease
  return {
    place: `${lease.segment}/${lease.address}`,
    state: lease.state,
    pool: lease.pool,
    holder: holderId(lease.holder),
    uid: lease.podUid,
    workload: workload
      ? { namespace: workload.namespace, kind: workload.kind, name: workload.name, uid: workload.uid }
      : null,
    sandbox: lease.attachment && sandboxId(lease.attachment),
    node: lease.node,
    named: lease.named,
    retain: lease.retain,
    since: lease.since,
    until: lease.until,
    remembered: lease.remembered === true,
  }
}

export function holdsIn(ledger: Ledger): Map<string, Hold> {
  return new Map(
    Array.from(ledger.leases(), lease => {
      const hold = holdOf(lease)
      return [hold.place, hold]
    }),
  )
}

export const spellHold = (hold: Hold | undefined): string => (hold ? JSON.stringify(hold) : 'nothing')

/** What an undo of each sandbox would put back: who had the address before, or how it was kept. */
export function undosOf(ledger: Ledger): string {
  const lines = [...ledger.attachments()].flatMap(attachment =>
    attachment.undo.leases.map(({ segment, address, before }) => {
      const whose = before?.attachment ? sandboxId(before.attachment) : before?.state
      return `${sandboxId(attachment)} ${segment}/${address}: ${whose ?? 'nobody'}`
    }),
  )
  return lines.sort().join('; ')
}

/** The same, as the model has it. */
export function undosIn(model: ReferenceModel): string {
  const lines = [...model.sandboxes.values()].flatMap(({ id, found }) =>
    Array.from(
      found,
      ([place, { before }]) => `${id} ${place}: ${before?.sandbox ?? before?.state ?? 'nobody'}`,
    ),
  )
  return lines.sort().join('; ')
}

/** Every record, as text: a refused change must leave it the same. */
export function allRecords(ledger: Ledger): string {
  const attachments = [...ledger.attachments()]
  const records = [
    ...ledger.leases(),
    ...attachments,
    ...attachments.map(({ holder }) => ledger.holder(holder)),
    ...ledger.reservations(),
    ...ledger.pools(),
  ]
  return records
    .map(record => JSON.stringify(record))
    .sort()
    .join('\n')
}

/** How a ledger differs from what the model says ought to be there; undefined when it does not. */
export function difference(
  ledger: Ledger,
  holds: ReadonlyMap<string, Hold>,
  model: ReferenceModel,
): string | undefined {
  for (const place of new Set([...holds.keys(), ...model.holds.keys()])) {
    const [is, ought] = [holds.get(place), model.holds.get(place)]
    if (is && ought) {
      for (const property of Object.keys(ought) as (keyof Hold)[]) {
        const [text, right] = [JSON.stringify(is[property]), JSON.stringify(ought[property])]
        if (text !== right) return `${property} of ${place} is ${text}, and ought to be ${right}`
      }
    } else return `${place} is ${spellHold(is)}, and ought to be ${spellHold(ought)}`
  }
  const list = (texts: Iterable<string>): string => [...texts].sort().join('; ')
  const attachments = [...ledger.attachments()]
  const sets: readonly (readonly [what: string, is: string, ought: string])[] = [
    ['attachments', list(attachments.map(sandboxId)), list(model.sandboxes.keys())],
    [
      'newest sandboxes',
      list(
        new Set(
          attachments.flatMap(({ holder }) => {
            const newest = ledger.holder(holder)?.attachment
            return newest ? [sandboxId(newest)] : []
          }),
        ),
      ),
      list(Array.from(model.newest.values(), ({ id }) => id)),
    ],
    [
      'reservations',
      list(Array.from(ledger.reservations(), ({ segment, address }) => `${segment}/${address}`)),
      list(model.promises.keys()),
    ],
  ]
  for (const [what, is, ought] of sets) {
    if (is !== ought) return `${what} are ${is || 'none'}, and ought to be ${ought || 'none'}`
  }
  return undefined
}
