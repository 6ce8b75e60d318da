import t from 'tap'
import type { AddEvent, DelEvent, FinalState, SeenLease } from '../many-nodes/history.ts'
import type { PluginRun } from './check-plugin-runs.ts'
import { judge, type Evidence, type Laws } from './judge.ts'

/**
 * That what would be a broken promise is seen, each by itself; histories are in test/many-nodes/check-history.test.ts, runs
 * of the plugin in check-plugin-runs.test.ts.
 */

const laws: Laws = {
  rules: { families: [4], refusals: new Set(['IPK_POOL_FULL']) },
  limits: { ADD: 100, DEL: 100, CHECK: 100, GC: 100, STATUS: 100 },
  rests: ({ state }) => state === 'cooling',
  refusesDels: new Set(['ledger removed']),
}

const listed = (...leases: readonly SeenLease[]): FinalState => ({
  engine: { leases, holders: [] },
  listings: new Map([['n1', leases]]),
})

const nothing: Evidence = {
  ...{ events: [], runs: [], happened: [], looks: [] },
  end: { state: listed(), after: 9 },
  filled: { free: 3, given: 3 },
}

const add: AddEvent = {
  ...{ kind: 'add', node: 'n1', container: 'a', holder: 'web-0', uid: 'u1', asked: [], began: 0, ended: 1 },
  outcome: { kind: 'given', addresses: ['.2'] },
}
const refusedDel: DelEvent = {
  ...{ kind: 'del', node: 'n1', container: 'a', began: 5, sent: 5, ended: 6 },
  ...{ outcome: 'unknown', refused: 'IPK_STORE_FAILED' },
}
const removed = { kind: 'ledger removed', to: ['n1'], from: 4, until: 9 }
const run: PluginRun = {
  ...{ verb: 'ADD', node: 'n1', container: 'a', began: 0, ended: 1, exit: 0, signal: null },
  ...{ stdout: '{}', stderr: '', meddled: undefined, stalled: 0 },
}

const table: readonly (readonly [name: string, evidence: Partial<Evidence>, faults: readonly RegExp[]])[] = [
  ['nothing', {}, []],
  ['an answer that is lost', { events: [add] }, [/^at the end: lost: \.2 of a/]],
  [
    'an address that rests for ever',
    {
      end: {
        state: listed({ address: '.2', state: 'cooling', holder: 'web-0', container: null, node: 'n1' }),
        after: 9,
      },
    },
    [/^at the end: \.2 of web-0 is cooling/],
  ],
  [
    'an answer that came after the end was looked at',
    { events: [add], end: { state: listed(), after: 0 } },
    [],
  ],
  ['a history that cannot be', { events: [{ ...add, asked: ['.3'] }], end: undefined }, [/^a asked for \.3/]],
  ['a bad document', { runs: [run] }, [/success without a Result/]],
  [
    'a DEL that is refused',
    { events: [refusedDel] },
    [/^the DEL of a on n1 was refused with IPK_STORE_FAILED/],
  ],
  ['while it may be', { events: [refusedDel], happened: [removed] }, []],
  ['on another node', { events: [refusedDel], happened: [{ ...removed, to: ['n2'] }] }, [/^the DEL of a/]],
  ['at another time', { events: [refusedDel], happened: [{ ...removed, from: 7 }] }, [/^the DEL of a/]],
  [
    'in another trouble',
    { events: [refusedDel], happened: [{ ...removed, kind: 'daemon killed' }] },
    [/^the DEL/],
  ],
  [
    'a page that fails',
    { looks: [{ node: 'n1', at: 3, what: '/v1/status', wrong: '500' }] },
    [/^\/v1\/status on n1: 500/],
  ],
  ['a page that does not', { looks: [{ node: 'n1', at: 3, what: '/v1/status', wrong: undefined }] }, []],
  [
    'addresses that nobody can have',
    { filled: { free: 5, given: 3 } },
    [/^5 addresses were free, and 3 could/],
  ],
  ['addresses from nowhere', { filled: { free: 3, given: 4 } }, [/^3 addresses were free, and 4 could/]],
  [
    'the first is told first',
    { runs: [{ ...run, ended: 7 }], looks: [{ node: 'n1', at: 3, what: 'x', wrong: 'y' }], events: [add] },
    [/^x on n1/, /success without/, /^at the end/],
  ],
]

for (const [name, evidence, wanted] of table) {
  const faults = judge({ ...nothing, ...evidence }, laws).map(({ text }) => text)
  t.equal(faults.length, wanted.length, `${name}: ${faults.join('\n')}`)
  for (const [index, pattern] of wanted.entries()) t.match(faults[index], pattern, name)
}
