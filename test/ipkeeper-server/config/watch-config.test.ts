import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { DaemonConfig } from '../../../ipkeeper-server/config/load-config.ts'
import { WatchedConfig } from '../../../ipkeeper-server/config/watch-config.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

/** Cool-downs tell the contents apart. */
const saying = (seconds: number): string => `node: n1\ncooldown: ${seconds}s\n`

interface Site {
  readonly config: WatchedConfig
  readonly path: string
  /** Seconds of cool-down of each configuration that was put in force. */
  readonly applied: number[]
  readonly problems: string[]
  readonly unwatched: string[]
  /** Resolves when it holds; fails the test after 20 s. */
  readonly until: (what: string, holds: () => boolean) => Promise<void>
  readonly untilApplied: (seconds: number) => Promise<void>
  readonly untilProblem: (message: string) => Promise<void>
}

/** A file, opened and watched, with the first look behind it: what is seen from now on was watched. */
async function watchFile(
  t: Test,
  path: string,
  { apply, mustExist = true }: { apply?: (next: DaemonConfig) => void; mustExist?: boolean } = {},
): Promise<Site> {
  let now = 1000
  const config = WatchedConfig.open(path, mustExist, () => now++)
  t.teardown(() => config.stop())
  const applied: number[] = []
  const problems: string[] = []
  const unwatched: string[] = []
  config.watch({
    apply: next => {
      apply?.(next)
      applied.push(next.cooldown / 1000)
    },
    onProblem: ({ message }) => problems.push(message.replace(`${dirname(path)}/`, '')),
    onUnwatched: folder => unwatched.push(folder),
  })
  await config.reload()
  const until = async (what: string, holds: () => boolean): Promise<void> => {
    const deadline = performance.now() + 20_000
    while (!holds() && performance.now() < deadline) await delay(10)
    t.ok(holds(), what)
  }
  return {
    config,
    path,
    applied,
    problems,
    unwatched,
    until,
    untilApplied: seconds =>
      until(`${seconds}s is in force`, () => config.current.cooldown === seconds * 1000),
    untilProblem: message => until(message, () => problems.at(-1) === message),
  }
}

/** Another text in place of a file, in the ways in which people and programs do that. */
const ways: Readonly<Record<string, (path: string, text: string) => void>> = {
  'a rename over it': (path, text) => {
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
  },
  'a rename after the old one was put aside': (path, text) => {
    renameSync(path, `${path}~`)
    writeFileSync(path, text)
  },
  'truncating and writing': (path, text) => {
    const file = openSync(path, 'w')
    for (const part of text.split(/(?<=\n)/)) writeSync(file, part)
    closeSync(file)
  },
  'deleting and writing': (path, text) => {
    unlinkSync(path)
    writeFileSync(path, text)
  },
  'a link to another file': (path, text) => {
    writeFileSync(`${path}.target`, text)
    unlinkSync(path)
    symlinkSync(`${path}.target`, path)
  },
}
for (const [name, replace] of Object.entries(ways)) {
  t.test(`seen: ${name}`, async t => {
    const folder = t.testdir({ 'config.yaml': saying(5) })
    const { config, path, applied, problems, untilApplied } = await watchFile(t, join(folder, 'config.yaml'))
    replace(path, saying(6))
    await untilApplied(6)
    t.strictSame(config.status(), { path, loadedAt: 1001, problem: null, stricter: [] })
    t.strictSame(applied, [6], 'once')
    t.strictSame(problems, [])
  })
}

t.test('seen: the swap of a ConfigMap, again and again', async t => {
  const folder = t.testdir({})
  /** What kubelet does: a folder for each content, and a link to the newest that is replaced by a rename. */
  const publish = (version: number, text: string): void => {
    mkdirSync(join(folder, `..v${version}`))
    writeFileSync(join(folder, `..v${version}`, 'config.yaml'), text)
    symlinkSync(`..v${version}`, join(folder, '..data_tmp'))
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
    rmSync(join(folder, `..v${version - 1}`), { recursive: true, force: true })
  }
  publish(1, saying(5))
  symlinkSync('..data/config.yaml', join(folder, 'config.yaml'))
  const { applied, untilApplied } = await watchFile(t, join(folder, 'config.yaml'))
  for (const [version, seconds] of [
    [2, 6],
    [3, 7],
    [4, 8],
  ] as const) {
    publish(version, saying(seconds))
    await untilApplied(seconds)
  }
  t.strictSame(applied, [6, 7, 8])
})

t.test('seen: a change of the file in another folder that the path is a link to', async t => {
  const folder = t.testdir({ etc: {}, there: { 'real.yaml': saying(5) } })
  symlinkSync('../there/real.yaml', join(folder, 'etc', 'config.yaml'))
  const { untilApplied } = await watchFile(t, join(folder, 'etc', 'config.yaml'))
  writeFileSync(join(folder, 'there', 'real.yaml'), saying(6))
  await untilApplied(6)
  renameSync(join(folder, 'there'), join(folder, 'elsewhere'))
  symlinkSync('../elsewhere/real.yaml', join(folder, 'etc', 'next'))
  renameSync(join(folder, 'etc', 'next'), join(folder, 'etc', 'config.yaml'))
  await untilApplied(6)
  writeFileSync(join(folder, 'elsewhere', 'real.yaml'), saying(7))
  await untilApplied(7)
})

t.test('seen: a change between opening and watching', async t => {
  const folder = t.testdir({ 'config.yaml': saying(5) })
  const path = join(folder, 'config.yaml')
  const config = WatchedConfig.open(path, true, () => 0)
  t.teardown(() => config.stop())
  writeFileSync(path, saying(6))
  t.equal(await config.reload(), 'unchanged', 'nobody is there yet to put it in force')
  const seen = new Promise(resolve => {
    config.watch({ apply: resolve, onProblem: resolve, onUnwatched: resolve })
  })
  t.match(await seen, { cooldown: 6000 })
})

t.test('a bad file leaves the last good one in force, and is told once', async t => {
  const folder = t.testdir({ 'config.yaml': saying(5) })
  const { config, path, applied, problems, untilApplied, untilProblem } = await watchFile(
    t,
    join(folder, 'config.yaml'),
  )
  writeFileSync(path, 'node: n1\ncolldown: 5s\n')
  const message = 'config.yaml:2:1: unknown key "colldown"; did you mean "cooldown"?'
  await untilProblem(message)
  t.equal(config.current.cooldown, 5000)
  t.match(config.status(), { loadedAt: 1000, problem: { code: 'IPK_DAEMON_CONFIG' } })

  // Events that bring nothing new: other files, and the same text once more.
  writeFileSync(join(folder, 'other.txt'), '')
  writeFileSync(path, 'node: n1\ncolldown: 5s\n')
  writeFileSync(path, saying(6))
  await untilApplied(6)
  t.equal(config.status().problem, null)
  t.strictSame([applied, problems], [[6], [message]])
})

t.test('the former text is no change, and ends the problem', async t => {
  const folder = t.testdir({ 'config.yaml': saying(5) })
  const { config, path, applied, until, untilProblem } = await watchFile(t, join(folder, 'config.yaml'))
  writeFileSync(path, 'x: 1\n')
  await untilProblem('config.yaml:1:1: unknown key "x"')
  writeFileSync(path, saying(5))
  await until('the problem is over', () => config.status().problem === null)
  t.strictSame(applied, [])
})

t.test('what is asked about beforehand is judged as it would be when it is there', async t => {
  const path = join(t.testdir({ 'config.yaml': saying(1) }), 'config.yaml')
  const { config } = await watchFile(t, path)
  for (const text of ['', ' \n']) {
    const { code, message } = await thrownProblem(() => config.judge(text, 'new.yaml'))
    t.match({ code, message }, { code: 'IPK_DAEMON_CONFIG', message: /^new\.yaml: is empty; for defaults/ })
  }
  t.match(config.judge('{}', 'new.yaml'), { config: { pools: [] } })
  const first = WatchedConfig.open(join(dirname(path), 'none'), false, () => 0)
  t.match(first.judge('', 'new.yaml'), { config: { pools: [] } }, 'without a file nothing is taken away')
})

/** What happens to a file, and what is said of it. */
const losses: readonly (readonly [name: string, change: (path: string) => void, message: string])[] = [
  [
    'gone',
    path => {
      unlinkSync(path)
    },
    'config.yaml: is gone; what was read before stays in force',
  ],
  [
    'empty',
    path => {
      writeFileSync(path, '')
    },
    'config.yaml: is empty; for defaults write {}; what was read before stays in force',
  ],
  [
    'a folder',
    path => {
      unlinkSync(path)
      mkdirSync(path)
    },
    'config.yaml: cannot be read (EISDIR)',
  ],
  [
    'a link to nothing',
    path => {
      unlinkSync(path)
      symlinkSync('nowhere', path)
    },
    'config.yaml: is gone; what was read before stays in force',
  ],
  [
    'another node',
    path => {
      appendFileSync(path, 'kubernetes: { mode: off }\n')
      writeFileSync(path, 'kubernetes: { mode: off }\nnode: n2\n')
    },
    'config.yaml:2:7: node, kubernetes.mode cannot change while the daemon runs; nothing of the file is put in force',
  ],
  [
    'the store',
    path => {
      appendFileSync(path, 'store:\n  singleNode: true\n')
    },
    'config.yaml:4:15: store.singleNode cannot change while the daemon runs; nothing of the file is put in force',
  ],
  [
    'no node',
    path => {
      writeFileSync(path, 'cooldown: 9s\n')
    },
    'config.yaml:1:1: node cannot change while the daemon runs; nothing of the file is put in force',
  ],
]
for (const [name, change, message] of losses) {
  t.test(`refused: ${name}`, async t => {
    const folder = t.testdir({ 'config.yaml': saying(5) })
    const { config, path, problems, applied, untilProblem, untilApplied } = await watchFile(
      t,
      join(folder, 'config.yaml'),
    )
    change(path)
    await untilProblem(message)
    t.equal(config.current.cooldown, 5000)
    t.equal(await config.reload(), 'refused')
    t.equal(problems.at(-1), message, 'who asks is told again')
    rmSync(path, { recursive: true, force: true })
    writeFileSync(path, saying(6))
    await untilApplied(6)
    t.strictSame(applied, [6])
  })
}

t.test('what cannot be put in force is refused, and tried again when asked', async t => {
  const folder = t.testdir({ 'config.yaml': saying(5) })
  let inUse = true
  const { config, path, problems, applied, untilProblem } = await watchFile(t, join(folder, 'config.yaml'), {
    apply: () => {
      if (inUse) throw new Problem('IPK_POOLS_ORPHAN', 'pool a goes')
    },
  })
  writeFileSync(path, saying(6))
  await untilProblem('pool a goes')
  t.match(config.status(), { loadedAt: 1000, problem: { code: 'IPK_POOLS_ORPHAN', message: 'pool a goes' } })
  t.equal(await config.reload(), 'refused')
  t.equal(problems.length, 2)
  inUse = false
  t.equal(await config.reload(), 'applied')
  t.equal(await config.reload(), 'unchanged')
  t.strictSame([applied, config.status().problem], [[6], null])
})

t.test('a bug while it is put in force is a problem as well', async t => {
  const folder = t.testdir({ 'config.yaml': saying(5) })
  const { config, path, untilProblem } = await watchFile(t, join(folder, 'config.yaml'), {
    apply: () => {
      throw new TypeError('oops')
    },
  })
  writeFileSync(path, saying(6))
  await untilProblem('internal error: oops')
  t.equal(config.current.cooldown, 5000)
})

t.test('touching the file changes nothing', async t => {
  const folder = t.testdir({ 'config.yaml': saying(5) })
  const { config, path, applied } = await watchFile(t, join(folder, 'config.yaml'))
  utimesSync(path, 1, 1)
  t.equal(await config.reload(), 'unchanged')
  t.equal(config.status().loadedAt, 1000)
  t.strictSame(applied, [])
})

t.test('two at a time are one after the other', async t => {
  const folder = t.testdir({ 'config.yaml': saying(5) })
  const { config, path, applied } = await watchFile(t, join(folder, 'config.yaml'))
  writeFileSync(path, saying(6))
  t.strictSame(await Promise.all([config.reload(), config.reload()]), ['applied', 'unchanged'])
  t.strictSame(applied, [6])
})

t.test('a file that need not be there', async t => {
  const folder = t.testdir({})
  const { config, path, problems, untilApplied, untilProblem } = await watchFile(
    t,
    join(folder, 'config.yaml'),
    {
      mustExist: false,
    },
  )
  t.equal(await config.reload(), 'unchanged', 'still none')
  writeFileSync(path, 'cooldown: 6s\n')
  await untilApplied(6)
  unlinkSync(path)
  await untilProblem('config.yaml: is gone; what was read before stays in force')
  t.equal(problems.length, 1)
})

t.test('a folder that is not there is said, and looked for', async t => {
  const folder = t.testdir({})
  const { path, unwatched, problems, untilApplied } = await watchFile(t, join(folder, 'etc', 'config.yaml'), {
    mustExist: false,
  })
  mkdirSync(dirname(path))
  writeFileSync(path, 'cooldown: 6s\n')
  await untilApplied(6)
  // From now on it is watched.
  writeFileSync(path, 'cooldown: 7s\n')
  await untilApplied(7)
  t.strictSame([unwatched, problems], [[dirname(path)], []])
})

t.test('a folder that is replaced by another one is watched anew', async t => {
  const folder = t.testdir({ etc: { 'config.yaml': saying(5) }, next: { 'config.yaml': saying(6) } })
  const { path, untilApplied } = await watchFile(t, join(folder, 'etc', 'config.yaml'))
  renameSync(join(folder, 'etc'), join(folder, 'former'))
  renameSync(join(folder, 'next'), join(folder, 'etc'))
  // The rename of a folder is seen in the folder around it only: an operator who does this says so.
  appendFileSync(join(folder, 'former', 'config.yaml'), '# left behind\n')
  await untilApplied(6)
  writeFileSync(path, saying(7))
  await untilApplied(7)
})

t.test('after stop nothing happens', async t => {
  const folder = t.testdir({ 'config.yaml': saying(5) })
  const { config, path, applied } = await watchFile(t, join(folder, 'config.yaml'))
  await config.stop()
  writeFileSync(path, saying(6))
  t.equal(await config.reload(), 'unchanged')
  t.strictSame(applied, [])
})

t.test('the first reading throws what is wrong', async t => {
  const folder = t.testdir({ 'config.yaml': 'x: 1\n' })
  for (const [name, mustExist, message] of [
    ['config.yaml', false, 'config.yaml:1:1: unknown key "x"'],
    ['none.yaml', true, 'none.yaml: cannot be read (ENOENT)'],
  ] as const) {
    const problem = await thrownProblem(() => WatchedConfig.open(join(folder, name), mustExist, () => 0))
    t.match(problem, { code: 'IPK_DAEMON_CONFIG', message: join(folder, message) })
  }
})
