import t from 'tap'
import { HostLinkRemoval } from '../../../ipkeeper-server/network/host-link-removal.ts'
import type { ToolEnd } from '../../../ipkeeper-server/network/run-tool.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'
import { toolDouble } from '../../rigs/tool-double.ts'

/** A link that every namespace has, and one that none has. */
const [present, absent] = ['lo', 'ipk0123456789ab']

/** A removal whose `ip` ends when the test says so. */
function pendingRemoval(): {
  readonly removal: HostLinkRemoval
  readonly runs: readonly unknown[]
  readonly end: (how: Partial<ToolEnd>) => void
} {
  const { promise, resolve } = Promise.withResolvers<Partial<ToolEnd>>()
  const { run, runs } = toolDouble(() => ({}))
  const removal = new HostLinkRemoval(async asked => ({ ...(await run(asked)), ...(await promise) }))
  return { removal, runs, end: resolve }
}

const refused = { exit: 1, stderr: 'RTNETLINK answers: Operation not permitted\nCommand failed -:1\n' }
const gone = { exit: 1, stderr: 'Cannot find device "lo"\nCommand failed -:1\n' }

t.test('a link that is listed is waited for', async t => {
  const { removal, runs, end } = pendingRemoval()
  let isDone = false
  const removed = removal.remove(present).then(() => (isDone = true))
  await new Promise(resolve => setTimeout(resolve, 50))
  t.notOk(isDone)
  t.strictSame(runs, [{ tool: 'ip', args: ['-batch', '-'], input: 'link delete dev lo\n' }])
  end({})
  await removed
  await removal.idle()
})

t.test('one that is listed no more is not: the kernel is at work, and `idle` waits for that', async t => {
  const { removal, end } = pendingRemoval()
  await removal.remove(absent)
  let isIdle = false
  const idle = removal.idle().then(() => (isIdle = true))
  await new Promise(resolve => setTimeout(resolve, 20))
  t.notOk(isIdle)
  end({})
  await idle
  await removal.idle()
})

t.test('how it ends', async t => {
  for (const [what, name, end, code] of [
    ['it is gone already', present, gone, undefined],
    ['the kernel refuses', present, refused, 'IPK_WIRING_FAILED'],
  ] as const) {
    const { removal, end: finish } = pendingRemoval()
    finish(end)
    if (code === undefined) await t.resolves(removal.remove(name), what)
    else t.equal((await thrownProblem(() => removal.remove(name))).code, code, what)
    await t.resolves(removal.idle(), 'what was told is not told again')
  }
})

t.test('a refusal that nobody waits for any more is no unhandled one', async t => {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const { removal, end } = pendingRemoval()
  await removal.remove(absent)
  end(refused)
  await removal.idle()
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(unhandled, [])
})
