import type { AddressReply, TenureItem } from '../../../../shared/api/address.schema.ts'
import { holderText, reservationText } from './holder-text.ts'
import { addressWords } from './states.ts'
import { spanText, timeText } from './time-text.ts'

/** One line of what is known of an address; `time` is ISO 8601, beside which the distance is shown. */
export interface Fact {
  readonly name: string
  readonly text: string
  readonly time?: string
  /** It is the ID of a container, which is long. */
  readonly isId?: true
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
    ...textFact('Container', attachment?.containerId ?? lease?.containerId).map(fact => ({
      ...fact,
      isId: true as const,
    })),
    ...textFact('Interface', either?.ifname),
    ...textFact('MAC', lease?.mac),
    ...textFact('Sandbox', attachment?.provedDead === true ? 'proved dead' : null),
    ...textFact('Reserved for', reservation && reservationText(reservation)),
    ...textFact('Also in segment', reply.elsewhere.join(', ')),
  ]
  return { heading: `Address ${address}`, sentence: reply.sentence, facts }
}

/** What an address was for a time; newest first they are its history. */
export interface TimelineItem {
  readonly key: string
  /** "free": nobody had it between two others. */
  readonly state: TenureItem['state'] | 'free'
  readonly word: string
  readonly when: string
  /** How long it lasted; "" while it lasts. */
  readonly lasted: string
  /** When it began, while it lasts; ISO 8601. */
  readonly since: string | undefined
  readonly who: string
  readonly containerId: string | null
  readonly ended: string
}

const span = (from: string, to: string): string => `${timeText(from)} to ${timeText(to)}`

const lasted = (from: string, to: string): string => spanText(Date.parse(to) - Date.parse(from))

/** Milliseconds between two tenures that are no gap: what a clock does between two records. */
const noGap = 1_000

/** @param history the newest first, without a hole in it */
export function timelineItems(history: readonly TenureItem[]): TimelineItem[] {
  return history.flatMap((tenure, index): TimelineItem[] => {
    const { id, from, to, state, ended, containerId } = tenure
    const item: TimelineItem = {
      ...{ key: String(id), state, word: addressWords[state] },
      when: to !== null ? span(from, to) : `${ended === null ? 'since' : 'from'} ${timeText(from)}`,
      lasted: to === null ? '' : lasted(from, to),
      since: to === null && ended === null ? from : undefined,
      who: tenure.pod ? `${holderText(tenure)} on ${tenure.node}` : tenure.node,
      ...{ containerId, ended: ended ?? '' },
    }
    const before = history[index + 1]
    const freeFrom = before?.to ?? null
    if (freeFrom === null || Date.parse(from) - Date.parse(freeFrom) <= noGap) return [item]
    const free: TimelineItem = {
      ...{ key: `${id} free`, state: 'free', word: addressWords.free, when: span(freeFrom, from) },
      ...{ lasted: lasted(freeFrom, from), since: undefined, who: '', containerId: null, ended: '' },
    }
    return [item, free]
  })
}
