import { closeSync, openSync } from 'node:fs'
import t, { type Test } from 'tap'
import { CommandRefused, isTaken, runCommands, ipJson } from '../../../ipkeeper-server/network/ip-commands.ts'
import type { Command } from '../../../ipkeeper-server/network/plan/command.ts'
import { runTool } from '../../../ipkeeper-server/network/run-tool.ts'
import { startInNewNamespace } from '../../rigs/namespace-process.ts'
import { missing } from '../../rigs/requirements.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'
import { toolDouble } from '../../rigs/tool-double.ts'

const command = (place: Command['place'], words: string, more: Partial<Command> = {}): Command => ({
  ...{ place, words: words.split(' '), about: `try ${words}` },
  ...more,
})

/** What `ip -batch -` says when its line of that number is refused. */
const refused = (line: number, answer: string) => ({
  exit: 1,
  stderr: `RTNETLINK answers: ${answer}\nCommand failed -:${line}\n`,
})

t.test('commands of one place and program go in one batch, in their order', async t => {
  const { run, runs } = toolDouble(() => ({}))
  const commands = [
    command('host', 'one'),
    command('host', 'two'),
    command('host', 'vlan', { tool: 'bridge' }),
    command('host', 'three'),
    command('pod', 'four'),
    command('pod', 'five'),
    command('host', 'six'),
  ]
  await runCommands(run, commands, 7)
  t.strictSame(
    runs.map(({ tool, args, input, inside, beside }) => [tool, args.join(' '), input, inside, beside]),
    [
      ['ip', '-batch -', 'one\ntwo\n', undefined, 7],
      ['bridge', '-batch -', 'vlan\n', undefined, 7],
      ['ip', '-batch -', 'three\n', undefined, 7],
      ['ip', '-batch -', 'four\nfive\n', 7, undefined],
      ['ip', '-batch -', 'six\n', undefined, 7],
    ],
  )
  const bare = toolDouble(() => ({}))
  await runCommands(bare.run, [], undefined)
  t.strictSame(bare.runs, [], 'nothing is no process')
  await runCommands(bare.run, [command('host', 'one')], undefined)
  t.strictSame(bare.runs, [{ tool: 'ip', args: ['-batch', '-'], input: 'one\n' }])
})

t.test('after a refusal that is fine the rest is run, and nothing twice', async t => {
  const answers = [refused(2, 'File exists'), refused(1, 'No such process'), {}]
  const { run, runs } = toolDouble(() => answers.shift() ?? { exit: 1 })
  await runCommands(
    run,
    [
      command('host', 'one'),
      command('host', 'two', { existing: 'fine' }),
      command('host', 'three', { missing: 'fine' }),
      command('host', 'four'),
    ],
    undefined,
  )
  t.strictSame(
    runs.map(({ input }) => input),
    ['one\ntwo\nthree\nfour\n', 'three\nfour\n', 'four\n'],
  )
})

t.test('what is no fault, and what is', async t => {
  for (const [answer, more, outcome] of [
    ['File exists', { existing: 'fine' }, undefined],
    ['Error: ipv4: Address already assigned.', { existing: 'fine' }, undefined],
    ['File exists', { missing: 'fine' }, 'IPK_WIRING_FAILED'],
    ['File exists', {}, 'IPK_WIRING_FAILED'],
    ['No such process', { existing: 'fine' }, 'IPK_WIRING_FAILED'],
    ['No such device', { missing: 'fine' }, undefined],
    ['No such file or directory', { missing: 'fine' }, undefined],
    ['Cannot assign requested address', { missing: 'fine' }, undefined],
    ['Error: ipv4: Address not found.', { missing: 'fine' }, undefined],
    ['Error: ipv6: address not found.', { missing: 'fine' }, undefined],
    ['Operation not permitted', { missing: 'fine', existing: 'fine' }, 'IPK_WIRING_FAILED'],
    ['Address family not supported by protocol', { unsupported: 'fine' }, undefined],
    ['Address family not supported by protocol', { missing: 'fine', existing: 'fine' }, 'IPK_WIRING_FAILED'],
    ['Operation not permitted', { unsupported: 'fine' }, 'IPK_WIRING_FAILED'],
    ['Operation not supported', { needs: 'vlan-filtering' }, 'IPK_UNSUPPORTED'],
    ['Unknown argument', { needs: 'vlan-filtering' }, 'IPK_UNSUPPORTED'],
    ['Operation not supported', {}, 'IPK_WIRING_FAILED'],
    ['Operation not permitted', { needs: 'vlan-filtering' }, 'IPK_WIRING_FAILED'],
  ] as const) {
    const { run, runs } = toolDouble(({ input }) => (input === 'one\n' ? refused(1, answer) : {}))
    const commands = [command('host', 'one', more), command('pod', 'two')]
    const what = `${answer} ${JSON.stringify(more)}`
    if (outcome === undefined) {
      await t.resolves(runCommands(run, commands, 7), what)
      t.equal(runs.length, 2, 'it goes on')
    } else {
      t.equal((await thrownProblem(() => runCommands(run, commands, 7))).code, outcome, what)
      t.equal(runs.length, 1, 'nothing comes after it')
    }
  }
})

t.test('a refusal says what was tried, and why it failed', async t => {
  const fails = (stderr: string, commands: readonly Command[]) =>
    thrownProblem(() => runCommands(toolDouble(() => ({ exit: 1, stderr })).run, commands, undefined))
  const commands = [command('host', 'one'), command('host', 'two', { about: 'give eth0 an address' })]
  const problem = await fails('RTNETLINK answers: File exists\nCommand failed -:2\n', commands)
  t.equal(problem.message, 'cannot give eth0 an address: File exists')
  t.ok(problem instanceof CommandRefused)
  t.match(problem, { command: commands[1] })
  t.ok(isTaken(problem))
  for (const [stderr, message] of [
    ['Command failed -:1\n', 'cannot try one: ip gave no reason'],
    [
      'Error: Nexthop has invalid gateway.\nCommand failed -:1\n',
      'cannot try one: Error: Nexthop has invalid gateway.',
    ],
    ['a\n\nb\nCommand failed -:1\n', 'cannot try one: a; b'],
    ['Option "-batch" is unknown\n', 'ip -batch failed: Option "-batch" is unknown'],
    ['Command failed -:9\n', 'ip -batch failed: ip gave no reason'],
  ] as const) {
    const other = await fails(stderr, commands)
    t.equal(other.message, message)
    t.equal(other.code, 'IPK_WIRING_FAILED')
    t.notOk(isTaken(other))
  }
  t.notOk(isTaken(new Error('File exists')))
})

t.test('a batch that ends without the number of its line goes on by single commands', async t => {
  const commands = [
    command('host', 'link one'),
    command('host', 'neighbour two'),
    command('host', 'neighbour three', { missing: 'fine' }),
    command('host', 'link four'),
  ]
  const spoken = 'RTNETLINK answers: No such file or directory\n'
  const answering = (refused: string) =>
    toolDouble(({ input = '' }) => (input.includes(refused) ? { exit: 2, stderr: spoken } : {}))
  const lenient = answering('three')
  await runCommands(lenient.run, commands, undefined)
  t.strictSame(
    lenient.runs.map(({ input }) => input).slice(1),
    ['neighbour two\n', 'neighbour three\n', 'link four\n'],
    'what was before the first of them is done',
  )
  const strict = answering('two')
  const problem = await thrownProblem(() => runCommands(strict.run, commands, undefined))
  t.match(problem, { message: 'cannot try neighbour two: No such file or directory', command: commands[1] })
})

t.test('a namespace that cannot be entered is not a link that is not there', async t => {
  for (const stderr of [
    'nsenter: failed to execute /usr/sbin/ip: No such file or directory\n',
    'nsenter: cannot open /proc/self/fd/3: No such file or directory\n',
    'nsenter: reassociate to namespace failed: Operation not supported\n',
  ]) {
    const all = { missing: 'fine', existing: 'fine', unsupported: 'fine' } as const
    const { run, runs } = toolDouble(() => ({ exit: 127, stderr }))
    const failed = {
      code: 'IPK_WIRING_FAILED',
      message: /^cannot run ip in the namespace of the pod: nsenter: /,
    }
    for (const commands of [
      [command('pod', 'one', all)],
      [command('pod', 'one', all), command('pod', 'two', all)],
    ])
      t.match(await thrownProblem(() => runCommands(run, commands, 7)), failed, stderr)
    t.equal(runs.length, 2, 'each is tried once')
    t.match(await thrownProblem(() => ipJson(run, ['link', 'show'], 7)), failed, stderr)
  }
})

t.test('a word that is none never reaches a program', async t => {
  const { run, runs } = toolDouble(() => ({}))
  await t.rejects(runCommands(run, [{ place: 'host', words: ['link', 'a\nb'], about: '' }], undefined))
  t.strictSame(runs, [])
})

t.test('what ip shows', async t => {
  for (const [end, expected] of [
    [{ stdout: '[{"ifname":"lo"}]\n' }, [{ ifname: 'lo' }]],
    [{ stdout: '' }, []],
    [{ stdout: ' \n' }, []],
    [{ stdout: '{}' }, []],
    [{ exit: 1, stderr: 'Device "eth7" does not exist.\n' }, []],
    [{ exit: 1, stderr: 'Cannot find device "eth7"\n' }, []],
  ] as const) {
    const { run, runs } = toolDouble(() => end)
    t.strictSame(await ipJson(run, ['link', 'show'], 7), expected, JSON.stringify(end))
    t.strictSame(runs, [{ tool: 'ip', args: ['-json', 'link', 'show'], inside: 7 }])
  }
  const { run } = toolDouble(() => ({ exit: 255, stderr: 'Object "lnk" is unknown\n' }))
  const problem = await thrownProblem(() => ipJson(run, ['lnk']))
  t.match(problem, { code: 'IPK_WIRING_FAILED', message: 'ip lnk: Object "lnk" is unknown' })
})

/** A namespace with an fd of it. */
async function openNamespace(t: Test): Promise<number> {
  const { path } = await startInNewNamespace(t)
  const fd = openSync(path, 'r')
  t.teardown(() => {
    closeSync(fd)
  })
  return fd
}

t.test(
  'the words of the real ip and kernel are those that are looked for',
  { skip: missing('namespaces') },
  async t => {
    const fd = await openNamespace(t)
    const pod = (words: string, more: Partial<Command> = {}): Command => command('pod', words, more)
    const veth = 'link add name one type veth peer name two'
    await runCommands(
      runTool,
      [
        ...[
          pod(veth),
          pod('address add 192.0.2.1/24 dev one'),
          pod('link set dev one up'),
          pod('link set dev two up'),
        ],
        pod('route add 198.51.100.0/24 via 192.0.2.9 dev one'),
      ],
      fd,
    )
    for (const words of [
      veth,
      'address add 192.0.2.1/24 dev one',
      'route add 198.51.100.0/24 via 192.0.2.9 dev one',
    ]) {
      const problem = await thrownProblem(() => runCommands(runTool, [pod(words)], fd))
      t.ok(isTaken(problem), `${words}: ${problem.message}`)
      await t.resolves(runCommands(runTool, [pod(words, { existing: 'fine' })], fd), words)
    }
    for (const words of [
      'link delete dev none',
      'address delete 192.0.2.7/24 dev one',
      'address delete fd00:22::7/64 dev one',
      'route delete fd00:24::/64 dev one',
      'neighbour delete proxy fd00:22::7 dev one',
      'route delete 203.0.113.0/24 dev one',
      'neighbour delete proxy 192.0.2.7 dev one',
    ]) {
      t.equal(
        (await thrownProblem(() => runCommands(runTool, [pod(words)], fd))).code,
        'IPK_WIRING_FAILED',
        words,
      )
      await t.resolves(runCommands(runTool, [pod(words, { missing: 'fine' })], fd), words)
    }
    await runCommands(runTool, [pod('link add name small mtu 1279 type veth peer name other mtu 1279')], fd)
    const bare = 'link set dev small addrgenmode none'
    t.match((await thrownProblem(() => runCommands(runTool, [pod(bare)], fd))).message, /not supported/)
    await t.resolves(runCommands(runTool, [pod(bare, { unsupported: 'fine' })], fd), bare)
    t.strictSame(await ipJson(runTool, ['address', 'show', 'dev', 'none'], fd), [])
    t.match(await ipJson(runTool, ['address', 'show', 'dev', 'one'], fd), [{ ifname: 'one' }])

    await runCommands(
      runTool,
      [
        pod('address add 192.0.2.2/24 dev one'),
        pod(veth, { existing: 'fine' }),
        pod('address add 192.0.2.3/24 dev one'),
        pod('link delete dev none', { missing: 'fine' }),
        pod('address add 192.0.2.4/24 dev one'),
      ],
      fd,
    )
    const [link] = (await ipJson(runTool, ['-4', 'address', 'show', 'dev', 'one'], fd)) as readonly {
      readonly addr_info: readonly { readonly local: string }[]
    }[]
    t.strictSame(
      link?.addr_info.map(({ local }) => local),
      ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'],
      'what is fine keeps nothing else from being done',
    )
  },
)
