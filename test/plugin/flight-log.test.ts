import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { appendFlight, type FlightLogLimits } from '../../plugin/flight-log.ts'
import type { FlightWriterData } from '../rigs/flight-writer.ts'

/** A state folder whose flights are in `folder`. */
function makeState(t: Test): { readonly stateDir: string; readonly folder: string } {
  const stateDir = join(t.testdir({}), 'not-there-yet')
  return { stateDir, folder: join(stateDir, 'flights') }
}

const linesOf = (folder: string): string[] =>
  readdirSync(folder)
    .sort()
    .flatMap(name => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter(line => line !== '')

t.test('one line each, for our own user alone; the next file when one is full', t => {
  const { stateDir, folder } = makeState(t)
  const limits = { fileBytes: 10, files: 2 }
  const steps: readonly (readonly [line: string, files: readonly string[]])[] = [
    ['first', ['000001.jsonl']],
    ['second', ['000001.jsonl']],
    ['third', ['000001.jsonl', '000002.jsonl']],
    ['fourth, which is long', ['000001.jsonl', '000002.jsonl']],
    ['fifth, which is long', ['000002.jsonl', '000003.jsonl']],
    ['sixth', ['000003.jsonl', '000004.jsonl']],
  ]
  for (const [line, files] of steps) {
    appendFlight(stateDir, line, limits)
    t.strictSame(readdirSync(folder).sort(), files, line)
  }
  t.strictSame(linesOf(folder), ['fifth, which is long', 'sixth'])
  t.equal(statSync(folder).mode & 0o777, 0o700)
  t.equal(statSync(join(folder, '000004.jsonl')).mode & 0o777, 0o600)
  t.end()
})

t.test('the bound of a node: four files of 1 MiB', t => {
  const { stateDir, folder } = makeState(t)
  mkdirSync(folder, { recursive: true })
  for (const [name, bytes] of [
    ['000006.jsonl', 1024 * 1024],
    ['000007.jsonl', 1024 * 1024],
    ['000008.jsonl', 1024 * 1024],
    ['000009.jsonl', 1024 * 1024 - 1],
  ] as const)
    writeFileSync(join(folder, name), 'x'.repeat(bytes))
  appendFlight(stateDir, 'fits')
  t.equal(readdirSync(folder).length, 4)
  t.equal(statSync(join(folder, '000009.jsonl')).size, 1024 * 1024 + 4)
  appendFlight(stateDir, 'next')
  const kept = ['000007.jsonl', '000008.jsonl', '000009.jsonl', '000010.jsonl']
  t.strictSame(readdirSync(folder).sort(), kept)
  t.end()
})

t.test('what is not ours stays, and does not count', t => {
  const { stateDir, folder } = makeState(t)
  const foreign = ['999.jsonl', '9999999999.jsonl', 'notes.txt', '.000009.jsonl']
  mkdirSync(folder, { recursive: true })
  for (const name of foreign) writeFileSync(join(folder, name), 'of another')
  for (const line of ['a', 'b', 'c']) appendFlight(stateDir, line, { fileBytes: 1, files: 1 })
  t.strictSame(readdirSync(folder).sort(), [...foreign, '000003.jsonl'].sort())
  t.end()
})

t.test('what stands in the way is passed by, and nothing waits', t => {
  const { stateDir, folder } = makeState(t)
  mkdirSync(folder, { recursive: true })
  const target = join(stateDir, 'target')
  writeFileSync(target, '')
  const obstacles: readonly (readonly [name: string, make: (path: string) => void])[] = [
    ['000001.jsonl', path => t.equal(spawnSync('mkfifo', [path]).status, 0)],
    [
      '000003.jsonl',
      path => {
        symlinkSync(target, path)
      },
    ],
    [
      '000005.jsonl',
      path => {
        symlinkSync('/dev/full', path)
      },
    ],
    [
      '000007.jsonl',
      path => {
        mkdirSync(path)
      },
    ],
  ]
  for (const [name, make] of obstacles) {
    make(join(folder, name))
    appendFlight(stateDir, `after ${name}`, { fileBytes: 1000, files: 100 })
  }
  t.equal(readFileSync(target, 'utf8'), '', 'a link is not followed')
  for (const [name, line] of [
    ['000002.jsonl', 'after 000001.jsonl\n'],
    ['000004.jsonl', 'after 000003.jsonl\n'],
    ['000006.jsonl', 'after 000005.jsonl\n'],
    ['000008.jsonl', 'after 000007.jsonl\n'],
  ] as const)
    t.equal(readFileSync(join(folder, name), 'utf8'), line)
  t.end()
})

t.test('a folder that takes nothing is an error for the caller to ignore', t => {
  const base = t.testdir({ file: '' })
  t.throws(
    () => {
      appendFlight(join(base, 'file'), 'x')
    },
    { code: 'ENOTDIR' },
  )
  t.throws(() => {
    appendFlight('/proc/none', 'x')
  })
  t.throws(
    () => {
      appendFlight(join(base, 'no', 'parent'), 'x')
    },
    { code: 'ENOENT' },
  )
  t.notOk(existsSync(join(base, 'no')), 'one level is made, not a path')
  const locked = join(base, 'locked')
  mkdirSync(join(locked, 'flights'), { recursive: true })
  chmodSync(join(locked, 'flights'), 0o500)
  // For root that is no obstacle.
  if (process.getuid?.() !== 0)
    t.doesNotThrow(() => {
      appendFlight(locked, 'x')
    }, 'no file can be made: no line')
  t.end()
})

const linesEach = 20

/** Lets all writers go at the same moment and waits for their ends. */
async function writeTogether(writers: number, stateDir: string, limits: FlightLogLimits): Promise<string[]> {
  const gate = new SharedArrayBuffer(4)
  const script = new URL('../rigs/flight-writer.ts', import.meta.url)
  const threads = Array.from({ length: writers }, (_, writer) => {
    const lines = Array.from(
      { length: linesEach },
      (_, nth) => `${writer}:${nth}:${'x'.repeat(nth * 10)}:end`,
    )
    const workerData: FlightWriterData = { stateDir, lines, limits, gate }
    return { thread: new Worker(script, { workerData }), lines }
  })
  const ends = threads.map(({ thread }) => once(thread, 'exit'))
  await Promise.all(threads.map(({ thread }) => once(thread, 'online')))
  Atomics.store(new Int32Array(gate), 0, 1)
  Atomics.notify(new Int32Array(gate), 0)
  for (const [code] of await Promise.all(ends)) if (code !== 0) throw new Error('a writer failed')
  return threads.flatMap(({ lines }) => lines)
}

t.test('fifty writers at once lose and tear nothing', async t => {
  const { stateDir, folder } = makeState(t)
  const written = await writeTogether(50, stateDir, { fileBytes: 10_000, files: 1000 })
  t.ok(readdirSync(folder).length > 5, `${readdirSync(folder).length} files`)
  t.strictSame(linesOf(folder).sort(), written.sort())
})

t.test('writers at once keep the bound', async t => {
  const { stateDir, folder } = makeState(t)
  const limits = { fileBytes: 5_000, files: 4 }
  const writers = 20
  const written = new Set(await writeTogether(writers, stateDir, limits))
  // One that was stopped for long may have left a line in an old file; the next file that is begun puts that right.
  const last = 'x'.repeat(limits.fileBytes)
  for (let lines = 0; lines < 2; lines++) appendFlight(stateDir, last, limits)
  written.add(last)
  const sizes = readdirSync(folder).map(name => statSync(join(folder, name)).size)
  const longestLine = 210
  t.ok(sizes.length <= limits.files, `${sizes.length} files`)
  for (const size of sizes) t.ok(size <= 2 * limits.fileBytes + writers * longestLine, `${size} bytes`)
  const kept = linesOf(folder)
  t.ok(kept.length > 20, `${kept.length} lines`)
  t.ok(
    kept.every(line => written.has(line)),
    'no line is torn',
  )
})
