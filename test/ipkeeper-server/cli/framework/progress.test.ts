import t from 'tap'
import { progressLine, showProgress } from '../../../../ipkeeper-server/cli/framework/progress.ts'

t.test('one line', t => {
  const leases = { what: 'leases', total: 10_240 }
  for (const [counted, done, elapsed, line] of [
    [leases, 0, 100, 'migrating [------------------------]  0 of 10,240 leases, 0 %'],
    [leases, 5_120, 1_000, 'migrating [############------------]  5,120 of 10,240 leases, 50 %'],
    [leases, 5_120, 8_000, 'migrating [############------------]  5,120 of 10,240 leases, 50 %, 8 s left'],
    [leases, 1, 60_000, 'migrating [------------------------]  1 of 10,240 leases, 0 %, 10239 min left'],
    [leases, 10_240, 9_000, 'migrating [########################]  10,240 of 10,240 leases, 100 %'],
    [leases, 10_300, 9_000, 'migrating [########################]  10,300 of 10,240 leases, 100 %'],
    [{ what: 'files' }, 3_210, 4_000, 'migrating  3,210 files, 4 s'],
    [{ what: '' }, 0, 120_000, 'migrating 2 min'],
    [{ what: 'leases', total: 0 }, 0, 10, 'migrating 1 s'],
  ] as const)
    t.equal(progressLine('migrating', counted, done, elapsed), line)
  t.end()
})

t.test('drawn at a pace, and taken away', t => {
  const lines: string[] = []
  let now = 0
  const progress = showProgress(
    { progress: text => lines.push(text) },
    'scanning',
    { what: 'files', total: 100 },
    () => now,
  )
  for (let done = 1; done <= 100; done++) {
    now += 10
    progress.at(done)
  }
  progress.end()
  progress.end()
  t.equal(lines.length, 11, 'at once, then one each 100 ms, then nothing')
  t.match(lines[1], /11 of 100 files/)
  t.equal(lines.at(-1), '')
  t.end()
})

t.test('what nobody looks at', t => {
  const unseen = showProgress({}, 'scanning')
  unseen.at(1)
  unseen.end()
  t.end()
})

t.test('what reports nothing shows the time it takes', async t => {
  const lines: string[] = []
  let now = 0
  await new Promise<void>(resolve => {
    const progress = showProgress(
      {
        progress: text => {
          lines.push(text)
          if (lines.length === 1) {
            progress.end()
            resolve()
          }
        },
      },
      'asking the daemon',
      undefined,
      () => (now += 5_000),
    )
    // The timer of a job keeps no process alive; this one does.
    setTimeout(() => undefined, 5_000).unref()
    const keep = setInterval(() => {
      if (lines.length > 0) clearInterval(keep)
    }, 20)
  })
  t.match(lines[0], /^asking the daemon \d+ s$/)
})
