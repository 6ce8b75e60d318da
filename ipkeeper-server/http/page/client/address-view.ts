import type { AddressReply, TenureItem } from '../../../../shared/api/address.schema.ts'
import { holderText, reservationText } from './holder-text.ts'
import { addressWords } from './states.ts'
import { timeText } from './time-text.ts'

/** One line of what is known of an address; `time` is ISO 8601, beside which the distance is shown. */
export interface Fact {
  readonly name: string
  readonly text: string
  readonly time?: string
}

export interface AddressView {
  readonly heading: string
  readonly sentence: string
  readonly facts: readonly Fact[]
}

const timeFact = (name: string, time: string): Fact => ({ name, text: timeText(time), time })

const textFact = (name: string, text: string | null | undefined): Fact[] =>
  text === null || text === undefined || text === '' ? [] : [{ name, text }]

export function addressView(reply: AddressReply): AddressView {
  const { address, segment, state, pool, lease, holderSince, attachment, reservation } = reply
  const either = lease ?? attachment
  const facts: Fact[] = [
    { name: 'State', text: addressWords[state] },
    ...textFact('Pool', pool),
    ...textFact('Segment', segment === 'default' ? null : segment),
    ...textFact('Cannot be given', reply.unusable),
    ...textFact(
      lease?.state === 'bound' || !lease ? 'Who has it' : 'Who had it',
      either && holderText(either),
    ),
    ...textFact('Owner', lease?.owner),
    ...(holderSince === null ? [] : [timeFact('Without a gap since', holderSince)]),
    ...(lease ? [timeFact('In this state since', lease.since)] : []),
    ...(lease?.until ? [timeFact('Comes free', lease.until)] : []),
    ...textFact('Asked by', lease?.source),
    ...textFact('Retention', lease?.retain),
    ...textFact('Node', either?.node),
    ...textFact('Container', attachment?.containerId ?? lease?.containerId),
    ...textFact('Interface', either?.ifname),
    ...textFact('MAC', lease?.mac),
    ...textFact('Sandbox', attachment?.provedDead === true ? 'proved dead' : null),
    ...textFact('Reserved for', reservation && reservationText(reservation)),
    ...textFact('Also in segment', reply.elsewhere.join(', ')),
  ]
  return { heading: `Address ${address}`, sentence: reply.sentence, facts }
}

export interface TenureRow {
  readonly key: string
  readonly when: string
  readonly state: string
  readonly who: string
  readonly ended: string
}

export function tenureRows(history: readonly TenureItem[]): TenureRow[] {
  return history.map(({ id, from, to, state, ended, ...tenure }) => ({
    key: String(id),
    when: to === null ? `since ${timeText(from)}` : `${timeText(from)} to ${timeText(to)}`,
    state: addressWords[state],
    who: holderText(tenure),
    ended: ended ?? '',
  }))
}
