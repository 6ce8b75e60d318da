import t from 'tap'
import { exportHistory } from '../../../../ipkeeper-server/leases/queries/export-history.ts'
import { TestService } from '../test-service.ts'

t.test('pages of the history, and when there is more of it', async t => {
  const story = await TestService.open()
  let recorded = 0
  story.service.ledger.subscribe({ recorded: () => recorded++ })
  t.strictSame(await exportHistory(story.service, { after: 0, limit: 10 }), {
    before: undefined,
    entries: [],
  })
  for (const container of ['c1', 'c2']) {
    await story.add({ pod: 'web-0', container, ip: '10.22.0.50' })
    await story.del(container)
  }
  t.equal(recorded, 4, 'each change is told when it is durable')
  const stored = await story.store.history({ after: 0, limit: 10 })
  const linkOf = (id: number): string | undefined => stored[id - 1]?.link
  for (const [after, limit, before, ids, previous] of [
    [0, 10, undefined, [1, 2, 3, 4], ''],
    [0, 2, undefined, [1, 2], ''],
    [2, 10, 2, [3, 4], linkOf(2)],
    [2, 1, 2, [3], linkOf(2)],
    [4, 10, 4, [], undefined],
    [9, 10, undefined, [], undefined],
  ] as const) {
    const page = await exportHistory(story.service, { after, limit })
    t.equal(page.before?.id, before, `after ${after}`)
    t.strictSame(
      page.entries.map(({ id }) => id),
      ids,
    )
    t.equal(page.entries[0]?.previous, previous)
    t.match(page.entries, Array(ids.length).fill({ recorder: 'n1' }))
  }
  await story.store.pruneHistory({ olderThan: -Infinity, maxEntries: 1, now: story.now })
  const pruned = await exportHistory(story.service, { after: 2, limit: 10 })
  t.equal(pruned.before, undefined)
  t.match(pruned.entries, [{ id: 4, previous: linkOf(3), pruned: 1 }])
})
