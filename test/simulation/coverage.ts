/** What happens in histories, and what they come to: so that one sees what is never tried. */
import { moods } from './machine.ts'
import { poolForms } from './pools.ts'
import { isHalf, kinds, type History, type Kind, type Step } from './steps.ts'

const shared: readonly Kind[] = ['transactions', 'piecewise', 'amnesia']

interface Row {
  /** Of which histories; undefined: of all. */
  readonly of?: readonly Kind[]
}

/** Each kind of step. */
const steps: Readonly<Record<string, Row>> = {
  ...rowsOf('start', ['as new', 'as same', 'as forced', 'killed']),
  ...rowsOf('stop', ['', 'dies first', 'dies without a DEL']),
  ...rowsOf('', ['DEL again', 'CHECK', 'GC', 'GC, late', 'reserve', 'unreserve', 'release', 'move']),
  ...rowsOf('configure', Object.keys(poolForms)),
  ...rowsOf('', ['review', 'STATUS']),
  ...rowsOf('release --force', ['', 'powered off']),
  ...rowsOf('runtime', ['lists', 'nothing', 'fails']),
  ...rowsOf('restart', ['killed', 'ended', 'late', 'never', 'with a name']),
  ...rowsOf('power', ['off and on', 'off']),
  ...rowsOf('clock', ['forward', 'back']),
  ...rowsOf(
    'engine',
    Object.keys(moods).filter(mood => !isHalf(mood)),
    shared,
  ),
  ...rowsOf('engine', Object.keys(moods).filter(isHalf), ['piecewise']),
  ...rowsOf('', ['forget', 'compact'], shared),
  ...rowsOf('', ['copy']),
  ...rowsOf('put back', ['the folder', 'the disk']),
  ...rowsOf('clone', ['the same hardware', 'other hardware', 'with its name', 'of an older disk']),
  ...rowsOf('', ['snapshot'], ['amnesia']),
  ...rowsOf('restore', ['of nothing, seen', 'of nothing', 'seen', ''], ['amnesia']),
}

/** What a story says when a state is reached. */
const states: Readonly<Record<string, Row & { readonly says: RegExp }>> = {
  'address given': { says: / has 10\./ },
  'taken over from another node': { says: /taken over from/, of: shared },
  'DEL queued': { says: /the DEL of .* is queued/ },
  'queued DEL carried out': { says: /the queued DEL of .* is carried out/ },
  'ADD undone': { says: /undid the ADD/ },
  'ended by the sweeper': { says: /repaired: .* is gone, and no DEL/ },
  'kept no longer': { says: /is kept no longer/ },
  'clock seen to be set': { says: /sees that its clock was set/ },
  'lease of nothing known': { says: /of which it knows nothing else/, of: shared },
  'cut off': { says: /is cut off/, of: shared },
  'commit that may come late': { says: /may still come/, of: shared },
  'engine refuses': { says: /store .*the engine refuses connections/, of: shared },
  'engine silent': { says: /store .*(no answer within|the engine is silent)/, of: shared },
  'engine back': { says: /: store ready$/, of: shared },
  'loss seen by the engine': { says: /store incomplete \(it has gone back\)/, of: ['amnesia'] },
  'loss seen by a node': { says: /store incomplete \(it has no /, of: ['amnesia'] },
  'loss heard of': { says: /store incomplete \(node .* has found/, of: ['amnesia'] },
  'nodes waited for': { says: /store incomplete \(not all nodes have reported/, of: ['amnesia'] },
  'name kept from another machine': { says: /refuses its name/, of: shared },
  'released by force, cut off here': { says: /released by force: cut-off/ },
  'released by force, its sandbox had ended': { says: /released by force: ended/ },
  'released by force, by its node': { says: /released by force: by-its-node/, of: shared },
  'released by force, by word alone': { says: /released by force: by-word/, of: shared },
  'moved address given': { says: /, which was moved to it$/ },
  'configuration put in force': { says: /goes by the pool/ },
  'configuration refused': { says: /refuses the pool .*: IPK_POOLS_ORPHAN$/ },
  'configuration put in force later': { says: /refuses the pool .*: IPK_STORE_AWAY$/, of: shared },
  'left to the fallback': { says: / by the fallback$/ },
  'fallback clashes': { says: /is refused: IPK_FALLBACK_CLASH$/ },
  'STATUS says yes': { says: /STATUS of .*: ready$/ },
  'STATUS says no': { says: /STATUS of .*: IPK_NOT_AVAILABLE$/, of: shared },
  'webhook admits': { says: /the webhook of .*: admitted$/ },
  'webhook speaks against a pod': { says: /the webhook of .*: IPK_/ },
  'recorded again': { says: /: records .* again$/ },
  'cannot be recorded again': { says: /: cannot record .* again: conflict$/ },
  'released without a record': { says: /of which there is no record, is released by force$/, of: shared },
  'node declared gone': { says: /is declared gone/, of: shared },
  'daemon cannot begin': { says: /cannot begin/, of: shared },
}

/** Answers that say no. */
const refusals: Readonly<Record<string, Row>> = {
  ...rowsOf('ADD refused', [
    ...['IPK_ADDRESS_HELD', 'IPK_ADDRESS_RESERVED', 'IPK_DAEMON_UNREACHABLE'],
    ...['IPK_HOLDER_LIVE', 'IPK_INTERRUPTED', 'IPK_MAC_TAKEN'],
  ]),
  ...rowsOf('ADD refused', ['IPK_POOL_DRAINING']),
  ...rowsOf('ADD refused', ['IPK_NODE_NAME_TAKEN', 'IPK_STORE_AWAY', 'IPK_STORE_FAILED'], shared),
  ...rowsOf('ADD refused', ['IPK_STORE_INCOMPLETE'], ['amnesia']),
  ...rowsOf('operator refused', ['IPK_ADDRESS_FREE', 'IPK_ADDRESS_HELD', 'IPK_RESERVATION_MISSING']),
  ...rowsOf('operator refused', ['IPK_NODE_LIVES', 'IPK_NODE_UNKNOWN', 'IPK_STORE_AWAY'], shared),
}

const all: Readonly<Record<string, Row>> = { ...steps, ...states, ...refusals }

/** So often each row of the table was met. */
export type Coverage = Readonly<Record<string, number>>

/** Of one history, by what was played and by its story. */
export function coverageOf({ moments }: Pick<History, 'moments'>, story: readonly string[]): Coverage {
  const counts: Record<string, number> = {}
  const count = (name: string): void => {
    counts[name] = (counts[name] ?? 0) + 1
  }
  for (const { step } of moments) for (const name of namesOf(step)) count(name)
  for (const line of story) {
    const code = codeOf(line)
    if (code !== undefined) count(code)
    for (const [name, { says }] of Object.entries(states)) if (says.test(line)) count(name)
  }
  return counts
}

/** Of many histories. */
export class TotalCoverage {
  readonly #rows = new Map<string, { times: number; histories: number }>()
  readonly #kinds = new Set<Kind>()

  add(kind: Kind, coverage: Coverage): void {
    this.#kinds.add(kind)
    for (const [name, times] of Object.entries(coverage)) {
      const row = this.#rows.get(name) ?? { times: 0, histories: 0 }
      this.#rows.set(name, { times: row.times + times, histories: row.histories + 1 })
    }
  }

  /** What the histories of these kinds could have met, and did not. */
  get never(): readonly string[] {
    return Object.entries(all).flatMap(([name, { of = kinds }]) =>
      this.#rows.has(name) || !of.some(kind => this.#kinds.has(kind)) ? [] : [name],
    )
  }

  /** How often, in how many histories; what never happened comes last. */
  table(): readonly string[] {
    const known = new Set(Object.keys(all))
    // A refusal that nobody thought of is worth a line, too.
    const names = [...known, ...[...this.#rows.keys()].filter(name => !known.has(name)).sort()]
    const rows = names.flatMap(name => {
      const { times, histories } = this.#rows.get(name) ?? {}
      return times === undefined ? [] : [`${name.padEnd(46)} ${pad(times)} ${pad(histories)}`]
    })
    const never = this.never.length === 0 ? 'nothing' : this.never.join('; ')
    return [`${''.padEnd(46)}    times histories`, ...rows, `never: ${never}`]
  }
}

const pad = (number: number | undefined): string => String(number).padStart(8)

function namesOf(step: Step): readonly string[] {
  switch (step.do) {
    case 'start':
      return [
        named('start', `as ${step.as}`),
        ...(step.killed === undefined ? [] : [named('start', 'killed')]),
      ]
    case 'stop':
      return [named('stop', step.dies === undefined ? '' : `dies ${step.dies}`)]
    case 'GC':
      return [named('GC', step.late > 0 ? 'late' : '')]
    case 'runtime':
    case 'engine':
      return [named(step.do, step.is)]
    case 'restart': {
      const away = step.away === undefined ? 'never' : step.away > 0 ? 'late' : undefined
      const words = [
        step.killed ? 'killed' : 'ended',
        away,
        step.name === undefined ? undefined : 'with a name',
      ]
      return words.flatMap(word => (word === undefined ? [] : [named('restart', word)]))
    }
    case 'configure':
      return [named('configure', step.as)]
    case 'release --force':
      return [named('release --force', step.poweredOff ? 'powered off' : '')]
    case 'power':
      return [named('power', step.away === undefined ? 'off' : 'off and on')]
    case 'clock':
      return [named('clock', step.by > 0 ? 'forward' : 'back')]
    case 'put back':
      return [named('put back', `the ${step.what}`)]
    case 'clone': {
      const words = [
        step.same ? 'the same hardware' : 'other hardware',
        ...(step.named ? ['with its name'] : []),
        ...(step.of === 'copy' ? ['of an older disk'] : []),
      ]
      return words.map(word => named('clone', word))
    }
    case 'restore': {
      const words = [...(step.wiped ? ['of nothing'] : []), ...(step.seen ? ['seen'] : [])]
      return [named('restore', words.join(', '))]
    }
    default:
      return [step.do]
  }
}

/** The row of a refusal, by its code. */
function codeOf(line: string): string | undefined {
  const [, asked = '', code = ''] = / (is refused|refuses): (IPK_\w+)$/.exec(line) ?? []
  return code === '' ? undefined : named(`${asked === 'refuses' ? 'operator' : 'ADD'} refused`, code)
}

function rowsOf(
  verb: string,
  words: readonly string[],
  of: readonly Kind[] = kinds,
): Readonly<Record<string, Row>> {
  return Object.fromEntries(words.map(word => [named(verb, word), { of }]))
}

function named(verb: string, word: string): string {
  return [verb, word].filter(text => text !== '').join(', ')
}
