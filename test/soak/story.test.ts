import t from 'tap'
import type { NodeEvent } from '../many-nodes/history.ts'
import type { Verdict } from './episode.ts'
import { tellStory, wholeStory } from './story.ts'

/** That a person sees what went wrong first, what led there, and how to see it again. */

const [one, two, stranger] = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc']
const pod = { kind: 'add', node: 'host-1', asked: [], began: 0 } as const
const events: readonly NodeEvent[] = [
  {
    ...pod,
    container: one,
    holder: 'web-0',
    uid: 'u1',
    ended: 1000,
    outcome: { kind: 'given', addresses: ['.2'] },
  },
  {
    ...pod,
    container: stranger,
    holder: 'x',
    uid: 'u3',
    ended: 1500,
    outcome: { kind: 'given', addresses: ['.9'] },
  },
  { kind: 'gc', node: 'host-1', valid: [stranger], began: 500, sent: 2500, ended: 2600, outcome: 'done' },
  {
    ...{ ...pod, container: two, holder: 'web-1', uid: 'u2', began: 3000, ended: 3012 },
    outcome: { kind: 'given', addresses: ['.2'] },
  },
]

const verdict: Verdict = {
  ...{ seed: 7, plan: { store: 'embedded', kinds: ['daemon frozen'] }, took: 9000 },
  faults: [
    { at: 3012, text: `two holders: .2 of ${one}, and .2 of ${two}` },
    { at: Infinity, text: 'at the end: lost' },
  ],
  evidence: {
    ...{ events, runs: [], end: undefined, filled: undefined },
    happened: [{ kind: 'daemon frozen', to: ['host-1'], from: 400, until: 2400 }],
    looks: [{ node: 'host-1', at: 3500, what: '/v1/status', wrong: undefined }],
  },
  ...{ lives: new Map(), mishaps: new Map(), refusals: new Map() },
  logs: new Map([['host-1', 'a line of the log']]),
}

t.equal(
  tellStory(verdict, 'make soak SEED=7'),
  `seed 7: daemon frozen (embedded)
  1. two holders: .2 of ${one}, and .2 of ${two}
  2. at the end: lost
     0.400 s  ## daemon frozen: host-1
     1.000 s  host-1  ADD ${one} (web-0, u1): given .2 (1000 ms)
     2.400 s  ## over: daemon frozen: host-1
     2.600 s  host-1  GC (began 2.0 s before): done (100 ms); lives: ${stranger}
     3.012 s  host-1  ADD ${two} (web-1, u2): given .2 (12 ms)
>>   3.012 s  FIRST WRONG: two holders: .2 of ${one}, and .2 of ${two}
again: make soak SEED=7`,
)

const whole = wholeStory(verdict).split('\n')
t.ok(
  whole.some(line => line.includes(`ADD ${stranger}`)),
  'the file has what concerns others',
)
t.equal(whole.at(-1), 'a line of the log')
