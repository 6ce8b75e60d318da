import t from 'tap'
import { faultsOfEnd } from './check-end.ts'
import { faultsOfHistory, type Rules } from './check-history.ts'
import type { AddEvent, CheckEvent, DelEvent, FinalState, GcEvent, NodeEvent, SeenLease } from './history.ts'

/** That the checker bites: each wrong history is refused, and each that can be is not. */

const rules: Rules = { families: [4], refusals: new Set(['IPK_ADDRESS_HELD']) }

const textsOf = (events: readonly NodeEvent[], by = rules): readonly string[] =>
  faultsOfHistory(events, by).map(({ text }) => text)

/** The pod "web-0" of UID u1 on n1, unless told otherwise. `given` undefined: no answer. */
function add(
  container: string,
  [began, ended]: readonly [number, number],
  given: string | readonly string[] | { readonly refused: string } | undefined,
  more: Partial<AddEvent> = {},
): AddEvent {
  const outcome: AddEvent['outcome'] =
    given === undefined
      ? { kind: 'unknown' }
      : typeof given === 'object' && 'refused' in given
        ? { kind: 'refused', code: given.refused }
        : { kind: 'given', addresses: [given].flat() }
  return {
    ...{ kind: 'add', node: 'n1', container, holder: 'web-0', uid: 'u1', asked: [] },
    ...{ began, ended, outcome },
    ...more,
  }
}

function del(
  container: string,
  [began, ended]: readonly [number, number],
  outcome: DelEvent['outcome'] = 'done',
  more: Partial<DelEvent> = {},
): DelEvent {
  return { kind: 'del', node: 'n1', container, began, ended, outcome, ...more }
}

/** `began` undefined: it does not say. */
const gc = (
  valid: readonly string[],
  began: number | undefined,
  [sent, ended]: readonly [number, number],
  more: Partial<GcEvent> = {},
): GcEvent => ({ kind: 'gc', node: 'n1', valid, began, sent, ended, outcome: 'done', ...more })

/** Answered to a caller that never said that it had the answer. */
const unused = (container: string, when: readonly [number, number], address: string): AddEvent =>
  add(container, when, undefined, { outcome: { kind: 'unconfirmed', addresses: [address] } })

const check = (
  container: string,
  [began, ended]: readonly [number, number],
  outcome: CheckEvent['outcome'],
): CheckEvent => ({ kind: 'check', node: 'n1', container, began, ended, outcome })

const death = (container: string, at: number): NodeEvent => ({ kind: 'death', container, at })

const other = { node: 'n2', holder: 'db-0', uid: 'u2' }
const next = { node: 'n2', uid: 'u2' }

const histories: readonly (readonly [
  name: string,
  events: readonly NodeEvent[],
  faults: readonly RegExp[],
])[] = [
  ['nothing', [], []],
  ['one after the other', [add('a', [0, 1], '.2'), del('a', [2, 3]), add('b', [4, 5], '.2', other)], []],
  [
    'a second holder',
    [add('a', [0, 1], '.2'), add('b', [4, 5], '.2', other)],
    [/^two holders: \.2 of a .* \.2 of b/],
  ],
  ['both at once', [add('a', [0, 9], '.2'), add('b', [0, 9], '.2', other)], [/^two holders/]],
  [
    'a DEL that was under way when the second was given',
    [add('a', [0, 1], '.2'), del('a', [4, 9]), add('b', [2, 5], '.2', other)],
    [],
  ],
  [
    'a DEL that began only later',
    [add('a', [0, 1], '.2'), del('a', [5, 9]), add('b', [2, 4], '.2', other)],
    [/^two holders/],
  ],
  [
    'a DEL without an answer may have been carried out',
    [add('a', [0, 1], '.2'), del('a', [2, 3], 'unknown'), add('b', [4, 5], '.2', other)],
    [],
  ],
  [
    'a DEL of another container is none',
    [add('a', [0, 1], '.2'), del('z', [2, 3]), add('b', [4, 5], '.2', other)],
    [/^two holders/],
  ],
  [
    'a DEL that was over before the ADD',
    [del('a', [0, 1]), add('a', [2, 3], '.2'), add('b', [4, 5], '.2', other)],
    [/^two holders/],
  ],
  [
    'an ADD without an answer proves nothing',
    [add('a', [0, 9] as const, undefined), add('b', [4, 5], '.2', other)],
    [],
  ],
  [
    'a refused ADD took nothing',
    [add('a', [0, 1], { refused: 'IPK_ADDRESS_HELD' }), add('b', [4, 5], '.2', other)],
    [],
  ],
  ['a sandbox that died', [add('a', [0, 1], '.2'), death('a', 3), add('b', [2, 5], '.2', other)], []],
  [
    'one that died, and died again with its machine',
    [add('a', [0, 1], '.2'), death('a', 3), death('a', 9), add('b', [4, 5], '.2', other)],
    [],
  ],
  [
    'one that died later',
    [add('a', [0, 1], '.2'), death('a', 6), add('b', [2, 5], '.2', other)],
    [/^two holders/],
  ],
  ['the next sandbox of the same pod', [add('a', [0, 1], '.2'), add('b', [2, 3], '.2')], []],
  [
    'and then another pod',
    [add('a', [0, 1], '.2'), add('b', [2, 3], '.2'), add('c', [4, 5], '.2', other)],
    [/^two holders: \.2 of b/],
  ],
  [
    'a late DEL of the old sandbox does not free the new one',
    [add('a', [0, 1], '.2'), add('b', [2, 3], '.2'), del('a', [4, 5]), add('c', [6, 7], '.2', other)],
    [/^two holders: \.2 of b/],
  ],
  [
    "the old sandbox's address, from its new one that was refused",
    [
      add('a', [0, 1], '.2'),
      add('b', [2, 3], { refused: 'IPK_ADDRESS_HELD' }),
      add('c', [4, 5], '.2', other),
    ],
    [/^two holders: \.2 of a/],
  ],
  [
    'the same name on another node is another pod',
    [add('a', [0, 1], '.2', { asked: ['.2'] }), add('b', [2, 3], '.2', { ...next, asked: ['.2'] })],
    [/^two holders/],
  ],
  [
    'let go while it was under way: before the other',
    [add('a', [0, 9], '.2'), del('a', [1, 2]), add('b', [3, 4], '.2', other)],
    [],
  ],
  [
    'let go while it was under way: no moment is left for it',
    [add('b', [0, 1], '.2', other), add('a', [2, 9], '.2'), del('a', [3, 4])],
    [/^there is no moment in which it was \.2 of a/],
  ],
  [
    'let go while it was under way: between two others',
    [
      add('b', [0, 1], '.2', other),
      del('b', [5, 6]),
      add('a', [2, 9], '.2'),
      del('a', [3, 4]),
      add('c', [6, 7], '.2', other),
    ],
    [],
  ],
  [
    'three in a row, the middle one too early',
    [
      add('a', [0, 1], '.2'),
      add('b', [2, 3], '.2', other),
      del('a', [4, 5]),
      del('b', [6, 7]),
      add('c', [8, 9], '.2'),
    ],
    [/^two holders: \.2 of a .*\.2 of b/],
  ],
  ['asked for and given', [add('a', [0, 1], '.2', { asked: ['.2'] })], []],
  [
    'asked for, another given',
    [add('a', [0, 1], '.3', { asked: ['.2'] })],
    [/^a asked for \.2 and was given \.3/],
  ],
  ['nothing given', [add('a', [0, 1], [])], [/^a was given nothing/]],
  ['two given', [add('a', [0, 1], ['.2', '.3'])], [/^a was given \.2, \.3: not one of each family/]],
  ['the wrong family', [add('a', [0, 1], 'fd00::2')], [/not one of each family/]],
  ['refused for a reason', [add('a', [0, 1], { refused: 'IPK_ADDRESS_HELD' })], []],
  ['refused for none', [add('a', [0, 1], { refused: 'IPK_INTERNAL' })], [/^a was refused with IPK_INTERNAL/]],
  ['asked for what cannot be', [add('a', [0, 1], { refused: 'IPK_CONFIG_INVALID' }, { wrong: true })], []],
  ['given what cannot be', [add('a', [0, 1], '.2', { wrong: true })], [/^a was given what cannot be/]],
  ['the same pod twice, two addresses', [add('a', [0, 1], '.2'), add('b', [2, 3], '.3')], []],
  [
    'its old address stays its own when its new sandbox was refused',
    [add('a', [0, 1], '.2'), add('b', [2, 3], { refused: 'IPK_ADDRESS_HELD' }), check('a', [4, 5], 'denied')],
    [/^lost at 4\.0 ms: \.2 of a/],
  ],
  [
    'namesakes that ask for nothing do not wait for each other',
    [add('a', [0, 1], '.2'), add('b', [2, 3], '.3', next)],
    [],
  ],
  [
    'a namesake that asks has to wait',
    [add('a', [0, 1], '.2'), add('b', [2, 3], '.3', { ...next, asked: ['.3'] })],
    [/^two addresses of one holder: \.2 of a .*\.3 of b/],
  ],
  [
    'a namesake of one that asked has to wait',
    [add('a', [0, 1], '.2', { asked: ['.2'] }), add('b', [2, 3], '.3', next)],
    [/^two addresses of one holder/],
  ],
  [
    'a namesake that waited',
    [
      add('a', [0, 1], '.2', { asked: ['.2'] }),
      del('a', [2, 3]),
      add('b', [2, 4], '.3', { ...next, asked: ['.3'] }),
    ],
    [],
  ],
  ['a CHECK that stands', [add('a', [0, 1], '.2'), check('a', [2, 3], 'stands')], []],
  ['a CHECK that is denied', [add('a', [0, 1], '.2'), check('a', [2, 3], 'denied')], [/^lost at 2\.0 ms/]],
  ['a CHECK without an answer', [add('a', [0, 1], '.2'), check('a', [2, 3], 'unknown')], []],
  [
    'a CHECK that is denied while a DEL is under way',
    [add('a', [0, 1], '.2'), check('a', [2, 4], 'denied'), del('a', [3, 5])],
    [],
  ],
  ['added twice', [add('a', [0, 1], '.2'), add('a', [2, 3], undefined)], [/^the history itself is wrong/]],
  [
    'a DEL that began before the ADD and came after it',
    [add('a', [2, 3], '.2'), del('a', [1, 5], 'done', { sent: 4 }), add('b', [6, 7], '.2', other)],
    [/^two holders/],
  ],
  [
    'a DEL that waited frees from when it went out',
    [add('a', [0, 1], '.2'), del('a', [2, 6], 'done', { sent: 5 }), add('b', [3, 4], '.2', other)],
    [/^two holders/],
  ],
  [
    'an ADD that comes after its DEL',
    [del('a', [1, 2]), add('a', [0, 4], '.2', { sent: 3 })],
    [/^a was given after its DEL of 1\.0 ms/],
  ],
  [
    'an ADD that comes after its DEL, and after a start of the daemon',
    [del('a', [1, 2]), { kind: 'start', node: 'n1', at: 2.5 }, add('a', [0, 4], '.2', { sent: 3 })],
    [],
  ],
  [
    'an ADD that comes after its DEL was written down',
    [del('a', [1, 2], 'accepted'), add('a', [0, 4], '.2', { sent: 3 })],
    [],
  ],
  ['an ADD that began after a DEL', [del('a', [1, 2]), add('a', [3, 4], '.2')], []],
  [
    'a GC frees what it does not name',
    [add('a', [0, 1], '.2'), gc(['b'], 2, [2, 3]), add('b', [4, 5], '.2', other)],
    [],
  ],
  [
    'a GC leaves what it names',
    [add('a', [0, 1], '.2'), gc(['a'], 2, [2, 3]), add('b', [4, 5], '.2', other)],
    [/^two holders/],
  ],
  [
    'a GC that waited leaves what came meanwhile',
    [add('a', [1, 2], '.2'), gc([], 0, [3, 4]), add('b', [5, 6], '.2', other)],
    [/^two holders/],
  ],
  [
    'a GC that waited: by CHECK',
    [add('a', [1, 2], '.2'), gc([], 0, [3, 4]), check('a', [5, 6], 'denied')],
    [/^lost at 5\.0 ms: \.2 of a/],
  ],
  [
    'a GC of another node',
    [add('a', [0, 1], '.2'), gc([], 2, [2, 3], { node: 'n2' }), add('b', [4, 5], '.2', other)],
    [/^two holders/],
  ],
  [
    'a GC that does not say when it began',
    [add('a', [0, 1], '.2'), gc([], undefined, [2, 3]), add('b', [4, 5], '.2', other)],
    [/^two holders/],
  ],
  [
    'and the sandbox is dead',
    [add('a', [0, 1], '.2'), death('a', 1.5), gc([], undefined, [2, 3]), add('b', [4, 5], '.2', other)],
    [],
  ],
  [
    'a GC without an answer may have been carried out',
    [add('a', [0, 1], '.2'), gc([], 2, [2, 3], { outcome: 'unknown' }), add('b', [4, 5], '.2', other)],
    [],
  ],
  [
    'a takeover that was not used, and its DEL: the old sandbox has its address again',
    [add('a', [0, 1], '.2'), unused('b', [2, 3], '.2'), del('b', [4, 5]), check('a', [6, 7], 'denied')],
    [/^lost at 6\.0 ms: \.2 of a/],
  ],
  [
    'a takeover that was not used, before its DEL',
    [add('a', [0, 1], '.2'), unused('b', [2, 3], '.2'), check('a', [3, 4], 'denied'), del('b', [5, 6])],
    [],
  ],
  [
    'a takeover that was not used gives it to nobody else',
    [add('a', [0, 1], '.2'), unused('b', [2, 3], '.2'), del('b', [4, 5]), add('c', [6, 7], '.2', other)],
    [/^two holders: \.2 of a/],
  ],
  [
    'kept, and another one is given it',
    [add('a', [0, 1], '.2', { keeps: true }), del('a', [2, 3]), add('b', [4, 5], '.2', other)],
    [/^kept for one holder, given to another: \.2 of a .*\.2 of b/],
  ],
  [
    'kept of a sandbox that died',
    [add('a', [0, 1], '.2', { keeps: true }), death('a', 2), add('b', [4, 5], '.2', other)],
    [/^kept for one holder/],
  ],
  [
    'kept, and its holder comes back on another node',
    [add('a', [0, 1], '.2', { keeps: true }), del('a', [2, 3]), add('b', [4, 5], '.2', next)],
    [],
  ],
  [
    'kept, and its holder is given another one',
    [add('a', [0, 1], '.2', { keeps: true }), del('a', [2, 3]), add('b', [4, 5], '.3', next)],
    [/^came back, and was given another address: \.2 of a .*\.3 of b/],
  ],
  [
    'kept only after somebody else had it',
    [add('b', [0, 1], '.2', other), del('b', [2, 3]), add('a', [4, 5], '.2', { keeps: true })],
    [],
  ],
  [
    'kept for nobody that lives, when the engine lost its data',
    [
      ...[add('a', [0, 1], '.2', { keeps: true }), del('a', [2, 3])],
      { kind: 'loss', from: 3.5, to: 3.8 },
      add('b', [4, 5], '.2', other),
    ],
    [],
  ],
  [
    'kept for one that lived when the engine lost its data',
    [
      ...[add('a', [0, 1], '.2', { keeps: true }), { kind: 'loss', from: 1.5, to: 1.8 } as const],
      ...[del('a', [2, 3]), add('b', [4, 5], '.2', other)],
    ],
    [/^kept for one holder/],
  ],
  [
    'kept in the snapshot that the engine went back to',
    [
      ...[add('a', [0, 1], '.2', { keeps: true }), del('a', [2, 3])],
      { kind: 'loss', snapshot: 1.5, from: 3.5, to: 3.8 },
      add('b', [4, 5], '.2', other),
    ],
    [/^kept for one holder/],
  ],
  [
    'kept since the snapshot that the engine went back to',
    [
      ...[add('a', [0, 1], '.2', { keeps: true }), del('a', [2, 3])],
      { kind: 'loss', snapshot: 0.5, from: 3.5, to: 3.8 },
      add('b', [4, 5], '.2', other),
    ],
    [],
  ],
  [
    'given to another while it lived and the engine lost its data',
    [
      ...[add('a', [0, 1], '.2', { keeps: true }), { kind: 'loss', from: 1.5, to: 3.5 } as const],
      ...[add('b', [2, 2.5], '.2', other), del('a', [3, 3.2])],
    ],
    [/^two holders/, /^kept for one holder/],
  ],
]

for (const [name, events, wanted] of histories) {
  t.test(name, async t => {
    const faults = textsOf(events)
    t.equal(faults.length, wanted.length, faults.join('\n') || 'no fault')
    for (const [index, pattern] of wanted.entries()) t.match(faults[index], pattern)
    return Promise.resolve()
  })
}

t.test('two families', async t => {
  const both: Rules = { ...rules, families: [4, 6] }
  t.strictSame(textsOf([add('a', [0, 1], ['.2', '::2'])], both), [])
  t.match(textsOf([add('a', [0, 1], '.2')], both), [/not one of each family/])
  const shared = textsOf([add('a', [0, 1], ['.2', '::2']), add('b', [2, 3], ['.3', '::2'], other)], both)
  t.match(shared, [/^two holders: ::2/])
  return Promise.resolve()
})

const bound = (address: string, container: string, more: Partial<SeenLease> = {}): SeenLease => ({
  ...{ address, state: 'bound', holder: 'web-0', container, node: 'n1' },
  ...more,
})

/** Holders and listings are as the leases say, unless told otherwise. */
function end(
  leases: readonly SeenLease[],
  more: Partial<FinalState & FinalState['engine']> = {},
): FinalState {
  const byHolder = Map.groupBy(
    leases.filter(({ state }) => state === 'bound'),
    ({ holder }) => holder,
  )
  const holders = [...byHolder].map(([holder, own]) => ({
    holder,
    container: own[0]?.container ?? null,
    addresses: own.map(({ address }) => address),
  }))
  const { holders: told = holders, listings = new Map([['n1', leases]]) } = more
  return { engine: { leases, holders: told }, listings }
}

const ends: readonly (readonly [
  name: string,
  events: readonly NodeEvent[],
  end: FinalState,
  faults: readonly RegExp[],
])[] = [
  ['nothing', [], end([]), []],
  ['what was given is there', [add('a', [0, 1], '.2')], end([bound('.2', 'a')]), []],
  ['what was given is not there', [add('a', [0, 1], '.2')], end([]), [/^lost: \.2 of a/]],
  [
    'what was given has another container',
    [add('a', [0, 1], '.2'), add('b', [0, 1], undefined, other)],
    end([bound('.2', 'b', { holder: 'db-0', node: 'n2' })]),
    [/^of \.2 bound db-0 b n2 in the engine: \.2 of a/],
  ],
  [
    'what was given is only kept',
    [add('a', [0, 1], '.2')],
    end([bound('.2', 'a', { state: 'held' })]),
    [/^lost/],
  ],
  ['deleted and gone', [add('a', [0, 1], '.2'), del('a', [2, 3])], end([]), []],
  [
    'deleted and still there',
    [add('a', [0, 1], '.2'), del('a', [2, 3])],
    end([bound('.2', 'a')]),
    [/^orphan.*DEL/],
  ],
  [
    'deleted without an answer',
    [add('a', [0, 1], '.2'), del('a', [2, 3], 'unknown')],
    end([bound('.2', 'a')]),
    [],
  ],
  [
    'deleted and resting',
    [add('a', [0, 1], '.2'), del('a', [2, 3])],
    end([bound('.2', 'a', { state: 'cooling' })]),
    [],
  ],
  [
    'dead and still there',
    [add('a', [0, 1], '.2'), death('a', 2)],
    end([bound('.2', 'a')]),
    [/^orphan.*dead/],
  ],
  ['an ADD without an answer is there', [add('a', [0, 1], undefined)], end([bound('.2', 'a')]), []],
  [
    'deleted by a GC and still there',
    [add('a', [0, 1], '.2'), gc([], 2, [3, 4])],
    end([bound('.2', 'a')]),
    [/^orphan.*GC/],
  ],
  [
    'a GC by a program that was started before the ADD',
    [add('a', [2, 3], '.2'), gc([], 5, [1, 5])],
    end([bound('.2', 'a')]),
    [],
  ],
  [
    'a GC that began before its ADD',
    [add('a', [2, 3], '.2'), gc([], 1, [4, 5])],
    end([bound('.2', 'a')]),
    [],
  ],
  [
    'written down to be deleted and still there',
    [add('a', [0, 1], '.2'), del('a', [2, 3], 'accepted')],
    end([bound('.2', 'a')]),
    [/^orphan.*DEL/],
  ],
  [
    'a takeover that was not used leaves it to the old sandbox',
    [add('a', [0, 1], '.2'), unused('b', [2, 3], '.2'), del('b', [4, 5])],
    end([]),
    [/^lost: \.2 of a/],
  ],
  [
    'an ADD without an answer is there after its DEL',
    [add('a', [0, 1], undefined), del('a', [2, 3])],
    end([bound('.2', 'a')]),
    [/^orphan/],
  ],
  [
    'a refused ADD is there',
    [add('a', [0, 1], { refused: 'IPK_ADDRESS_HELD' })],
    end([bound('.2', 'a')]),
    [/^orphan.*refused with IPK_ADDRESS_HELD/],
  ],
  ['nobody asked for it', [], end([bound('.2', 'a')]), [/^orphan.*nobody asked/]],
  [
    'another address as well',
    [add('a', [0, 1], '.2')],
    end([bound('.2', 'a'), bound('.3', 'a')]),
    [/^orphan: \.3 .*was told \.2/],
  ],
  [
    'of another node',
    [add('a', [0, 1], undefined)],
    end([bound('.2', 'a', { node: 'n2' })]),
    [/^orphan.*asked for web-0 on n1/],
  ],
  [
    'the old sandbox of a pod beside its new one',
    [add('a', [0, 1], '.2'), add('b', [2, 3], '.3')],
    end([bound('.2', 'a'), bound('.3', 'b')], { holders: [] }),
    [/^orphan: \.2 .*went on as b/],
  ],
  [
    'a holder of what it has not',
    [add('a', [0, 1], '.2')],
    end([bound('.2', 'a')], { holders: [{ holder: 'web-0', container: 'a', addresses: ['.2', '.3'] }] }),
    [/^the holder web-0 \(a\) has \.3 by its record alone/],
  ],
  [
    'a holder of nothing',
    [],
    end([], { holders: [{ holder: 'web-0', container: null, addresses: [] }] }),
    [/^the holder web-0 has a record of nothing/],
  ],
  [
    'a holder that is being added for ever',
    [add('a', [0, 1], undefined)],
    end([], { holders: [{ holder: 'web-0', container: 'a', addresses: ['.2'] }] }),
    [/^the holder web-0 \(a\) has \.2 by its record alone/],
  ],
  [
    'a listing that lags',
    [add('a', [0, 1], '.2')],
    end([bound('.2', 'a')], { listings: new Map([['n2', []]]) }),
    [/^n2 does not list \.2/],
  ],
  [
    'a listing of what is gone',
    [add('a', [0, 1], '.2'), del('a', [2, 3])],
    end([], { listings: new Map([['n2', [bound('.2', 'a')]]]) }),
    [/^n2 lists \.2/],
  ],
  [
    'an address twice',
    [add('a', [0, 1], '.2')],
    end([bound('.2', 'a'), bound('.2', 'a')]),
    [/^the engine has \.2 twice/],
  ],
]

for (const [name, events, state, wanted] of ends) {
  t.test(`the end: ${name}`, async t => {
    const faults = faultsOfEnd(events, state)
    t.equal(faults.length, wanted.length, faults.join('\n') || 'no fault')
    for (const [index, pattern] of wanted.entries()) t.match(faults[index], pattern)
    return Promise.resolve()
  })
}
