import t from 'tap'
import { AnswerGuard } from '../../../../ipkeeper-server/network/pod/answer-guard.ts'
import type { ToolEnd, ToolRun } from '../../../../ipkeeper-server/network/run-tool.ts'
import { missing } from '../../../rigs/requirements.ts'
import { toolDouble } from '../../../rigs/tool-double.ts'

/** That pods are not heard while others ask is a help: where it cannot be had, the asking goes on. */

const skip = missing('nft')
const probe = { port: 'ipk000000000001', others: ['ipk000000000002'], addresses: ['10.22.0.50'] }
const table = 'bridge ipkeeper-probe-ipk000000000001-100'

const tables = (...names: readonly string[]): string =>
  JSON.stringify({ nftables: names.map(name => ({ table: { family: 'bridge', name } })) })
const heard = (...ports: readonly string[]): string =>
  JSON.stringify({ nftables: [{ set: { elem: ports } }] })

interface Site {
  readonly guard: AnswerGuard
  /** What nft was called with. */
  readonly calls: () => readonly string[]
  readonly problems: unknown[]
}

function makeSite(answer: (words: string) => Partial<ToolEnd>): Site {
  const words = ({ tool, args }: ToolRun): string => `${tool} ${args.join(' ')}`
  const { run, runs } = toolDouble(asked => answer(words(asked)))
  const problems: unknown[] = []
  const guard = new AnswerGuard({
    ...{ run, monotonic: () => 100_500 },
    onProblem: error => void problems.push(error),
  })
  return { guard, problems, calls: () => runs.map(words) }
}

t.test('as it is meant', { skip }, async t => {
  const { guard, calls, problems } = makeSite(words =>
    words.includes('list tables')
      ? { stdout: tables('ipkeeper-probe-ipk00000000dead-7', 'ipkeeper-probe-ipk00000000beef-99', 'filter') }
      : words.includes('list set')
        ? { stdout: heard('ipk000000000002') }
        : {},
  )
  t.strictSame(await guard.during(probe, () => Promise.resolve(7)), { result: 7, heard: ['ipk000000000002'] })
  t.strictSame(calls(), [
    ...['nft -f -', `nft -j list set ${table} heard`, `nft delete table ${table}`],
    ...['nft -j list tables bridge', 'nft delete table bridge ipkeeper-probe-ipk00000000dead-7'],
  ])
  t.same(problems, [])
})

t.test('nobody to be kept from answering', { skip }, async t => {
  const { guard, calls } = makeSite(() => ({}))
  const alone = { ...probe, others: [] }
  t.strictSame(await guard.during(alone, () => Promise.resolve(7)), { result: 7, heard: [] })
  t.same(calls(), [])
})

t.test('what fails is told, and the work is done', { skip }, async t => {
  for (const [what, part] of [
    ['it cannot be seen what is there', 'list tables'],
    ['the rules are refused', '-f -'],
    ['what was heard cannot be read', 'list set'],
    ['they cannot be taken away', 'delete table'],
  ] as const) {
    const { guard, problems } = makeSite(words =>
      words.includes(part)
        ? { exit: 1, stderr: 'Error: Operation not supported\n' }
        : { stdout: words.includes('list tables') ? tables() : heard('ipk000000000002') },
    )
    const { result } = await guard.during(probe, () => Promise.resolve(7))
    t.equal(result, 7, what)
    t.match(problems, [{ code: 'IPK_WIRING_FAILED', message: /Operation not supported/ }], what)
  }
})

t.test('work that fails leaves no rules', { skip }, async t => {
  const { guard, calls } = makeSite(() => ({ stdout: tables() }))
  await t.rejects(
    guard.during(probe, () => Promise.reject(new Error('down'))),
    { message: 'down' },
  )
  t.ok(calls().includes(`nft delete table ${table}`))
})
