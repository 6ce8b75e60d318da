import t from 'tap'
import { watchCommand } from '../../../../ipkeeper-server/cli/framework/watch-command.ts'
import { Problem } from '../../../../shared/problem/problem.ts'

/** Answers one after the other, then ends as Ctrl-C does. */
async function watch(answers: readonly unknown[], screen: boolean, goneAfter = Infinity) {
  const interruption = new AbortController()
  const [out, err]: [string[], string[]] = [[], []]
  let asked = 0
  await watchCommand({
    look: () => {
      const answer = answers[asked++]
      if (asked >= answers.length)
        setImmediate(() => {
          interruption.abort()
        })
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    },
    show: data => `${JSON.stringify(data)}\n`,
    ...{ screen, every: 1, title: 'title' },
    out: text => out.push(text),
    err: text => err.push(text),
    readerGone: () => out.length >= goneAfter,
    interruption: interruption.signal,
  })
  return { out, err, asked }
}

const away = new Problem('IPK_DAEMON_UNREACHABLE', 'cannot reach the daemon')

t.test('on a pipe: what changed, and nothing else', async t => {
  t.strictSame((await watch([1, 1, 2, 2, 1, 1], false)).out, ['1\n', '2\n', '1\n'])
})

t.test('a daemon that goes away is told of once, and waited for', async t => {
  const { out, err } = await watch([1, away, away, 1, 2, 2], false)
  t.strictSame(out, ['1\n', '2\n'])
  t.equal(err.length, 1)
  t.match(
    err[0],
    /^error: cannot reach the daemon \[IPK_DAEMON_UNREACHABLE\]\nhint: systemctl restart ipkeeper/,
  )
})

t.test('a first look that fails is a failure', async t => {
  await t.rejects(watch([away, 1], false), { code: 'IPK_DAEMON_UNREACHABLE' })
})

t.test('a reader that has gone ends it', async t => {
  t.equal((await watch([1, 2, 3, 4, 5, 6], false, 2)).out.length, 2)
})

t.test('on a screen: drawn over at each look, and the terminal left as it was', async t => {
  const { out, err } = await watch([1, 1, away, 2, 2], true)
  t.strictSame([out[0], out.at(-1)], ['\u001b[?1049h\u001b[?25l', '\u001b[?25h\u001b[?1049l'])
  t.match(out[1], '\u001b[Htitle\u001b[K\n\u001b[K\n1\u001b[K\n\u001b[J')
  t.ok(
    out.some(text => text.includes('error: cannot reach the daemon') && text.includes('\n1')),
    'with what was known last',
  )
  t.strictSame(err, [])
})
