import t from 'tap'
import { ObjectNews } from '../../../../ipkeeper-server/store/kubernetes/object-news.ts'

/** "put web 3", "gone web 4": as the watch tells it; "told web 3", "toldGone web 4": as an answer does. */
const rows: readonly (readonly [name: string, news: readonly string[], heard: readonly string[]])[] = [
  ['what the watch tells', ['put a 1', 'put a 2', 'gone a 3'], ['put a 1', 'put a 2', 'remove a 3']],
  ['an answer, and then the watch', ['told a 5', 'put a 5', 'put a 6'], ['put a 5', 'put a 6']],
  ['a watch that lags behind answers', ['told a 7', 'put a 5', 'put a 6', 'put a 7'], ['put a 7']],
  ['an older answer', ['put a 5', 'told a 4'], ['put a 5']],
  ['deleted by an answer', ['put a 5', 'toldGone a 6', 'put a 5', 'gone a 6'], ['put a 5', 'remove a 6']],
  ['what is gone is not told again', ['toldGone a 6', 'put a 4', 'put a 5'], []],
  [
    'made anew after it was gone',
    ['put a 5', 'toldGone a 6', 'told a 7', 'gone a 6'],
    ['put a 5', 'remove a 6', 'put a 7'],
  ],
  ['an answer that there was none, older than what is there', ['told a 8', 'toldGone a 7'], ['put a 8']],
  ['a deletion that is older than what is there', ['told a 9', 'gone a 8'], ['put a 9']],
  [
    'one does not matter to the other',
    ['put a 1', 'put b 2', 'gone a 3'],
    ['put a 1', 'put b 2', 'remove a 3'],
  ],
]

function play(news: readonly string[]): { readonly heard: readonly string[]; readonly newest: number } {
  const heard: string[] = []
  const objects = new ObjectNews<{ readonly revision: number }>({
    put: (name, { revision }) => heard.push(`put ${name} ${revision}`),
    remove: (name, revision) => heard.push(`remove ${name} ${revision}`),
    synced: () => heard.push('synced'),
    broke: reason => heard.push(`broke: ${reason}`),
  })
  for (const line of news) {
    const [what, name = '', revision] = line.split(' ')
    const entry = { revision: Number(revision) }
    if (what === 'put') objects.put(name, entry)
    else if (what === 'gone') objects.remove(name, entry)
    else if (what === 'told') objects.told(name, entry)
    else objects.toldGone(name, entry.revision)
  }
  return { heard, newest: objects.newest }
}

for (const [name, news, heard] of rows) {
  t.test(name, t => {
    t.strictSame(play(news).heard, heard)
    t.equal(play(news).newest, Math.max(...news.map(line => Number(line.split(' ')[2]))))
    t.end()
  })
}

t.test('a list of a collection that has gone back', t => {
  const heard: string[] = []
  const objects = new ObjectNews<{ readonly revision: number }>({
    put: (name, { revision }) => heard.push(`put ${name} ${revision}`),
    remove: (name, revision) => heard.push(`remove ${name} ${revision}`),
    synced: () => heard.push('synced'),
    broke: () => heard.push('broke'),
  })
  const listed = (revision: number, names: Readonly<Record<string, number>>): readonly string[] => {
    const entries = Object.entries(names).map(([name, revision]) => [name, { revision }] as const)
    objects.replace(new Map(entries), String(revision))
    return heard.splice(0)
  }
  listed(10, { a: 3, b: 4, c: 5 })
  objects.told('a', { revision: 30 })
  heard.splice(0)
  t.strictSame(listed(20, { a: 3, b: 4 }), ['remove c 20'], 'older than what is known, as the whole list is')
  objects.remove('b', { revision: 32 })
  heard.splice(0)
  t.strictSame(listed(40, { a: 3 }), ['broke'], 'an older version at a later moment')
  objects.toldGone('a', 45)
  heard.splice(0)
  t.strictSame(listed(50, { a: 30 }), ['broke'], 'there again, as it was before')
  objects.reset()
  t.equal(objects.newest, 0)
  t.strictSame(listed(12, { a: 3 }), ['put a 3', 'synced'])
  t.end()
})

t.test('lists', t => {
  const heard: string[] = []
  const objects = new ObjectNews<{ readonly revision: number }>({
    put: (name, { revision }) => heard.push(`put ${name} ${revision}`),
    remove: (name, revision) => heard.push(`remove ${name} ${revision}`),
    synced: () => heard.push('synced'),
    broke: reason => heard.push(`broke: ${reason}`),
  })
  objects.told('late', { revision: 12 })
  objects.replace(
    new Map([
      ['a', { revision: 3 }],
      ['b', { revision: 4 }],
    ]),
    '10',
  )
  t.strictSame(
    heard.splice(0),
    ['put late 12', 'put a 3', 'put b 4', 'synced'],
    'what is newer than the list stays',
  )
  objects.replace(
    new Map([
      ['b', { revision: 11 }],
      ['late', { revision: 12 }],
    ]),
    '20',
  )
  t.strictSame(heard.splice(0), ['put b 11', 'remove a 20'], 'it is said once that all was told')
  t.equal(objects.newest, 20)
  t.end()
})
