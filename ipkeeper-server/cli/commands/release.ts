import type { ForcedReleaseReply, ReleaseReply } from '../../../shared/api/address.schema.ts'
import { leaseTerms, type ListingTerms } from '../../../shared/api/listing-query.schema.ts'
import type { LeasesReply } from '../../../shared/api/listing.schema.ts'
import { command } from '../framework/command.ts'
import { filterOptionsOf, selectionQuery } from '../framework/listing-options.ts'
import { segmentOption } from '../framework/options.ts'
import { whoHas } from '../framework/terminal-text.ts'
import { toTheSecond, readAddress } from './addresses.ts'
import {
  bulkExit,
  bulkExits,
  bulkOptions,
  bulkText,
  changeInBulk,
  isOneAddress,
  targetsOf,
  type BulkReport,
} from './bulk-change.ts'
import { forcedText, forceOptions, isForced, runForced } from './force-release.ts'

function whatItWas({ released }: ReleaseReply): string {
  const who = released.pod || released.containerId !== null ? whoHas(released) : 'a deleted container'
  if (released.state === 'cooling') return `it was cooling down; ${who} had released it`
  return `it was kept for ${who} ${released.until === null ? 'with no end' : `until ${toTheSecond(released.until)}`}`
}

/**
 * Bound ones as well: the plan says of each that it stays, and how it ends. Not by labels, which are known of pods of one node alone, and
 * which pods that are gone do not have.
 */
const filters: ListingTerms = {
  filters: leaseTerms.filters.filter(name => name !== 'selector'),
  sorts: ['address'],
}

export const releaseCommand = command<ReleaseReply | ForcedReleaseReply | BulkReport>({
  name: 'release',
  arguments: [
    {
      ...{
        name: 'ADDRESS',
        text: 'an address that is kept for a holder or cooling down, a range FIRST-LAST or a network 10.22.0.64/26; with --force one that is bound',
      },
      ...{ optional: true, repeated: true, offers: 'kept address' },
    },
  ],
  summary: 'Release addresses that are kept for a holder or cooling down',
  about: [
    'A single address is released at once. For a range, a list, a file or a selection by filters, the plan is printed first. An address that a sandbox is using is not released, and the plan says when it will be; reservations stay, too.',
    'An address that a sandbox is using is released only with --force. The command says what it will do and to which pod, and asks. The sandbox is disconnected before its address can go to another pod, by the daemon of the node that it runs on. All addresses of the sandbox are released with it; the pod keeps running without that interface.',
    'If the daemon of that node does not answer, the sandbox cannot be disconnected, and your statement that the machine is off is recorded instead. The command is refused while the node may still be running: its link or one of its addresses answers, or it has not been declared gone. Make sure that the machine is off, and add --powered-off. If it is not off, two pods answer for one address until its daemon reaches the store again; it then disconnects the sandbox before it serves anything.',
  ],
  options: { segment: segmentOption, ...filterOptionsOf(filters), ...forceOptions, ...bulkOptions },
  examples: [
    { line: 'ipkeeperctl release 10.22.0.50', does: 'Free an address that was kept for a deleted pod' },
    {
      line: 'ipkeeperctl release -n shop',
      does: 'Free what the pods of a namespace have left, once you agree to the plan',
    },
    {
      line: 'ipkeeperctl release --node worker-3 --state held --dry-run',
      does: 'Show what is kept of pods that were on a node, and change nothing',
    },
    {
      line: 'ipkeeperctl release --force 10.22.0.50',
      does: 'Take an address from the pod that has it, once you agree',
    },
    {
      line: 'ipkeeperctl release --force --powered-off 10.22.0.50 --yes',
      does: 'Free the address of a pod on a machine that is known to be off, without asking',
    },
  ],
  exits: bulkExits,
  run: async (daemon, args, terminal, tell) => {
    if (isForced(args)) return await runForced(daemon, `${readAddress(args).path}/release`, args, terminal)
    const selects = selectionQuery(filters, args) !== undefined
    if (!selects && isOneAddress(args.positionals, args))
      return (await daemon.ask('POST', `${readAddress(args).path}/release`)) as ReleaseReply
    const targets = await targetsOf(args, filters, {
      listed: async query => ((await daemon.ask('GET', `/v1/leases${query}`)) as LeasesReply).leases,
      target: ({ address, segment, since }) => ({ addresses: address, segment, since }),
    })
    const bulk = { action: 'release', targets, wholly: false } as const
    return await changeInBulk({ daemon, args, terminal, tell }, bulk)
  },
  exitCode: reply => ('outcome' in reply ? bulkExit(reply) : 0),
  print: reply => {
    if ('outcome' in reply) return bulkText(reply)
    if ('plan' in reply) return forcedText(reply)
    const { released, reservation } = reply
    const stays = reservation ? `; it stays reserved for ${reservation.owner}` : ''
    return `${released.address} is released: ${whatItWas(reply)}${stays}\n`
  },
})
