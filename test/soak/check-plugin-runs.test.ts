import t from 'tap'
import { faultsOfRuns, type Limits, type PluginRun } from './check-plugin-runs.ts'
import { stalledWithin } from './heartbeat.ts'

/** That what a runtime cannot understand is seen. */

const limits: Limits = { ADD: 100, DEL: 100, CHECK: 100, GC: 100, STATUS: 100 }
const result = '{"cniVersion":"1.1.0","ips":[{"address":"10.22.0.2/24"}]}\n'
const error = '{"cniVersion":"1.1.0","code":11,"msg":"wait"}\n'

const table: readonly (readonly [name: string, run: Partial<PluginRun>, fault: RegExp | undefined])[] = [
  ['a Result', { stdout: result }, undefined],
  ['an error', { stdout: error, exit: 1 }, undefined],
  ['nothing', {}, /success without a Result/],
  ['an empty Result', { stdout: '{"cniVersion":"1.1.0","ips":[]}' }, /success without a Result/],
  ['an address without a prefix', { stdout: result.replace('/24', '') }, /success without a Result/],
  ['a Result of another version', { stdout: result.replace('1.1.0', '1.0.0') }, /success without a Result/],
  ['an error that is called a success', { stdout: error }, /success without a Result/],
  ['two documents', { stdout: result + error }, /no document/],
  ['half a document', { stdout: result.slice(0, 20) }, /no document/],
  ['a list', { stdout: '[]' }, /no document/],
  ['an error that says nothing', { stdout: '{}', exit: 1 }, /exit 1 without an error document/],
  ['silence with exit 1', { exit: 1 }, /exit 1 without an error document/],
  ['another exit code', { stdout: error, exit: 2 }, /exit 2/],
  ['a DEL', { verb: 'DEL' }, undefined],
  ['a DEL that talks', { verb: 'DEL', stdout: '{}' }, /a document with its success/],
  [
    'a DEL that fails in words that runtimes swallow',
    { verb: 'DEL', exit: 1, stdout: error.replace('wait', 'lease not found') },
    /take this for a success/,
  ],
  ['too long', { stdout: result, ended: 200 }, /took 0\.2 s, and has 0\.1 s/],
  ['too long, having been paused', { stdout: result, ended: 200, meddled: 'paused' }, undefined],
  ['too long, caught by a freeze', { stdout: result, ended: 200, meddled: 'caught' }, undefined],
  ['too long, because the machine was late', { stdout: result, ended: 200, stalled: 101 }, undefined],
  ['too long, also without that', { stdout: result, ended: 202, stalled: 101 }, /took 0\.1 s/],
  ['killed', { exit: null, signal: 'SIGKILL', meddled: 'killed' }, undefined],
  [
    'killed behind its answer',
    { exit: null, signal: 'SIGKILL', meddled: 'killed', stdout: result },
    undefined,
  ],
  [
    'killed within its answer',
    { exit: null, signal: 'SIGKILL', meddled: 'killed', stdout: '{"cni' },
    /half a document/,
  ],
  ['died of itself', { exit: null, signal: 'SIGSEGV' }, /ended by SIGSEGV/],
]

for (const [name, run, fault] of table) {
  const whole: PluginRun = {
    ...{ verb: 'ADD', node: 'n1', container: 'a', began: 0, ended: 1, exit: 0, signal: null },
    ...{ stdout: '', stderr: '', meddled: undefined, stalled: 0 },
    ...run,
  }
  const faults = faultsOfRuns([whole], limits).map(({ text }) => text)
  if (fault === undefined) t.strictSame(faults, [], name)
  else t.match(faults, [fault], name)
}

t.test('lateness counts where it overlaps a run', t => {
  const stalls = [
    { from: 0, until: 10 },
    { from: 20, until: 50 },
    { from: 60, until: 70 },
  ]
  for (const [began, ended, stalled] of [
    [0, 100, 50],
    [5, 30, 15],
    [25, 30, 5],
    [50, 60, 0],
  ] as const)
    t.equal(stalledWithin(stalls, began, ended), stalled, `${began} to ${ended}`)
  t.end()
})
