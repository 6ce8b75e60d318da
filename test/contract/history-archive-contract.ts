import type { Test } from 'tap'
import type { HistoryArchive, HistoryPart, PartName } from '../../ipkeeper-server/store/history-archive.ts'

const begun = Date.now()

const part = (
  node: string,
  stretch: string,
  first: number,
  patch: Partial<HistoryPart> = {},
): HistoryPart => ({
  ...{ node, stretch, first, from: begun + first, last: first + 1, to: begun + first + 10 },
  ...{ entries: 2, data: Buffer.from(`${node} ${first}`).toString('base64') },
  ...patch,
})

async function all(archive: HistoryArchive, node?: string): Promise<HistoryPart[]> {
  const found: HistoryPart[] = []
  for await (const page of archive.list(node)) found.push(...page)
  const key = (one: PartName): string => `${one.node} ${one.stretch} ${String(one.first).padStart(9, '0')}`
  return found.sort((a, b) => (key(a) < key(b) ? -1 : 1))
}

/** What HistoryArchive promises, of an empty one. */
export function historyArchiveContract(t: Test, archive: () => Promise<HistoryArchive>): void {
  t.test('parts come back as they were put, of one node or of all, page after page', async t => {
    const subject = await archive()
    t.strictSame(await all(subject), [])
    const longName = `worker-1.${'x'.repeat(60)}.example.${'y'.repeat(60)}`
    const parts = [
      ...Array.from({ length: 45 }, (_, index) => part('n1', 'aa', 1 + index * 2)),
      ...[part('n1', 'bb', 1), part('n10', 'aa', 1), part(longName, 'aa', 1)],
    ]
    for (const one of parts) await subject.put(one)
    t.strictSame(await all(subject), parts)
    t.equal((await all(subject, 'n1')).length, 46, 'and not those of n10')
    t.strictSame(await all(subject, longName), [part(longName, 'aa', 1)])
    t.strictSame(await all(subject, 'n'), [])
  })

  t.test('a part is replaced by one of its name, and removed once or twice', async t => {
    const subject = await archive()
    const first = part('n1', 'aa', 1)
    const grown = { ...first, last: 9, entries: 9, to: begun + 50, data: 'Z3Jvd24=' }
    await subject.put(first)
    await subject.put(grown)
    t.strictSame(await all(subject), [grown])
    await subject.remove(first)
    await subject.remove(first)
    t.strictSame(await all(subject), [])
  })

  t.test('a large part', async t => {
    const subject = await archive()
    const large = part('n1', 'aa', 1, { data: 'A'.repeat(400_000) })
    await subject.put(large)
    t.strictSame(await all(subject), [large])
  })

  t.test('parts that were begun before a moment are removed, whoever made them', async t => {
    const subject = await archive()
    await subject.put(part('n1', 'aa', 1))
    await subject.put(part('gone', 'aa', 1))
    t.equal(await subject.removeBegunBefore(begun - 60_000), 0)
    t.equal((await all(subject)).length, 2)
    t.equal(await subject.removeBegunBefore(Date.now() + 60_000), 2)
    t.strictSame(await all(subject), [])
  })
}
