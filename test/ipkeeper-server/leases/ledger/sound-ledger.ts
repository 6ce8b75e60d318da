import { holderKey, leaseKey, sameAttachment } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { outlineOf } from '../../../../ipkeeper-server/leases/ledger/lease-outlines.ts'
import type { Ledger } from '../../../../ipkeeper-server/leases/ledger/ledger.ts'

/** No lease without its attachment, no holder with what is not its own or with nothing, no outline but those of the leases. Throws what does not hold; `when` says where. */
export function assertSound(ledger: Ledger, when: string): void {
  const having = [
    ...ledger.attachments(),
    ...Array.from(ledger.leases()).filter(({ state }) => state !== 'cooling'),
  ]
  const holders = new Map(having.map(({ holder }) => [holderKey(holder), holder]))
  if (ledger.counts().holder > holders.size)
    throw new Error(`${when}: ${ledger.counts().holder} holders, of which ${holders.size} have something`)
  const outlines = JSON.stringify([...ledger.leaseOutlines()])
  const told = Array.from(ledger.leases(), lease => ({
    ...{ segment: lease.segment, address: lease.address },
    ...outlineOf(lease),
  }))
  if (outlines !== JSON.stringify(told)) throw new Error(`${when}: leases are counted as ${outlines}`)
  for (const [key, named] of holders) {
    const holder = ledger.holder(named)
    for (const own of holder?.leases ?? []) {
      const { state, attachment } = ledger.lease(own) ?? {}
      const isOwn = state === 'held' || (attachment && sameAttachment(holder?.attachment ?? null, attachment))
      if (!isOwn) throw new Error(`${when}: ${own.address} is ${String(state)}, and is no address of ${key}`)
    }
  }
  for (const lease of ledger.leases()) {
    const attachment = lease.attachment && ledger.attachment(lease.attachment)
    if ((lease.state === 'bound') !== Boolean(attachment))
      throw new Error(`${when}: ${lease.address} is ${lease.state} of ${JSON.stringify(lease.attachment)}`)
    const holder = ledger.holder(lease.holder)
    if (lease.state === 'held' && !holder?.leases.some(own => leaseKey(own) === leaseKey(lease)))
      throw new Error(`${when}: ${lease.address} is held for a holder who does not know`)
    // Its newest sandbox may have none of the holder's addresses, but never fewer than are bound to it.
    if (holder?.attachment && !ledger.attachment(holder.attachment))
      throw new Error(`${when}: the attachment of the holder of ${lease.address} is gone`)
    if (attachment && JSON.stringify(holder?.attachment) === JSON.stringify(lease.attachment)) {
      if (!holder?.leases.some(own => leaseKey(own) === leaseKey(lease)))
        throw new Error(`${when}: ${lease.address} is bound, and its holder does not know`)
    }
  }
}
