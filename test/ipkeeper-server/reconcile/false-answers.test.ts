import t from 'tap'
import { FalseAnswers } from '../../../ipkeeper-server/reconcile/false-answers.ts'
import { suspectAnswers } from '../../../ipkeeper-server/reconcile/plan-addresses.ts'
import { attachment, snapshot } from './snapshot-words.ts'

const hour = 3_600_000

t.test('who answers for what is not his is told of for an hour', t => {
  let now = 0
  const answers = new FalseAnswers(() => now)
  const [one, two] = [attachment({ id: 'one' }).record, attachment({ id: 'two' }).record]
  t.same(answers.list(), [])
  t.equal(answers.note(one, ['10.22.0.7']), 1)
  now = hour / 2
  t.equal(answers.note(two, ['10.22.0.7']), 1)
  t.equal(answers.note(one, ['10.22.0.8', 'fd00:22::8']), 2)
  t.match(answers.list(), [
    { attachment: two, addresses: ['10.22.0.7'], times: 1 },
    { attachment: one, addresses: ['10.22.0.8', 'fd00:22::8'], times: 2 },
  ])
  now += hour
  t.equal(answers.list().length, 2)
  now++
  t.same(answers.list(), [])
  t.equal(answers.note(one, ['10.22.0.9']), 1, 'counted anew')
  t.end()
})

t.test('not of more pods than anybody could look at', t => {
  const answers = new FalseAnswers(() => 0)
  for (let number = 0; number < 1_100; number++)
    answers.note(attachment({ id: `pod-${number}` }).record, ['10.22.0.7'])
  t.equal(answers.list().length, 1_000)
  t.match(answers.list()[0]?.attachment.holder, { name: 'pod-100' })
  t.end()
})

t.test('the finding', t => {
  const seen = attachment({ id: 'c1', pod: 'web-0' })
  const of = (times: number): ReturnType<typeof suspectAnswers> =>
    suspectAnswers({
      ...snapshot({ attachments: [seen] }),
      falseAnswers: [{ attachment: seen.record, addresses: ['10.22.0.7', 'fd00:22::7'], times }],
    })
  t.match(of(1), [
    {
      kind: 'false-answer',
      says: /^shop\/web-0 \(.*\) answered for 10\.22\.0\.7, fd00:22::7, which were not assigned to it$/,
      remedy: /kubectl delete pod -n shop web-0$/,
      about: { pod: 'shop/web-0', address: '10.22.0.2/16' },
      action: { kind: 'none' },
      certainty: { by: 'proof' },
    },
  ])
  t.match(of(2)[0]?.says, /, and 1 time before,/)
  t.match(of(3)[0]?.says, /, and 2 times before,/)
  t.same(suspectAnswers(snapshot({ attachments: [seen] })), [], 'nobody answered')
  const gone = { attachment: seen.record, addresses: ['10.22.0.7'], times: 1 }
  t.same(suspectAnswers({ ...snapshot({}), falseAnswers: [gone] }), [], 'the pod is gone')
  t.end()
})
