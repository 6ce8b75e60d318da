import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { NodeIdentity, type IdentityOptions } from '../../../ipkeeper-server/identity/node-identity.ts'

const sight = { marks: { machineId: 'm1' }, bootId: 'b1', folder: '1:2' }

function identityFolder(t: Test) {
  const stateDir = t.testdir({})
  const path = join(stateDir, 'node.json')
  let now = 1000
  const open = (name: string, more: Partial<IdentityOptions> = {}): NodeIdentity =>
    NodeIdentity.open({ stateDir, name, sight, wasInUse: false, now: () => now++, ...more })
  const start = (name: string, more: Partial<IdentityOptions> = {}): NodeIdentity => {
    const identity = open(name, more)
    identity.take()
    return identity
  }
  /** A start whose name is confirmed. */
  const startAs = (name: string): NodeIdentity => {
    const identity = start(name)
    identity.begin()
    return identity
  }
  return {
    path,
    open,
    start,
    startAs,
    file: () => JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>,
  }
}

t.test('the first start makes an ID, and the next ones find it', t => {
  const { path, start, file } = identityFolder(t)
  const first = start('n1')
  t.match(first, { origin: 'first', name: 'n1', wanted: 'n1' })
  t.match(first.id, /^[0-9a-f]{32}$/)
  t.equal(statSync(path).mode & 0o777, 0o600)
  const again = start('n1')
  t.match(again, { origin: 'same', id: first.id, name: 'n1' })
  t.match(file(), { version: 1, name: 'n1', marks: { machineId: 'm1' }, bootId: 'b1' })
  t.not(identityFolder(t).start('n1').id, first.id)
  t.end()
})

t.test('what is not seen at one start is remembered', t => {
  const { start, file } = identityFolder(t)
  start('n1')
  start('n1', { sight: { ...sight, marks: { hardware: 'h1' } } })
  t.same(file()['marks'], { machineId: 'm1', hardware: 'h1' })
  t.end()
})

t.test('nothing is written for nothing', t => {
  const { path, start, startAs } = identityFolder(t)
  startAs('n1')
  const { ino } = statSync(path)
  start('n1').begin()
  t.equal(statSync(path).ino, ino)
  t.end()
})

t.test('a name is its own once it was confirmed', t => {
  const { start, file } = identityFolder(t)
  const refused = start('n1')
  t.same([refused.names(), refused.isOwn('n1')], [[], false], 'another machine may have it')
  const other = start('n2')
  t.match(
    [other.name, other.names(), other.leftNames()],
    ['n2', [], []],
    'what it was refused leaves nothing',
  )
  other.took()
  t.match([other.names(), file()], [['n2'], { name: 'n2', alsoNames: [] }])
  const next = start('n3')
  t.same(next.names(), ['n2'], 'it goes on as it was called')
  next.begin()
  t.same(next.names(), ['n2', 'n3'])
  t.same(
    identityFolder(t).start('n1', { wasInUse: true }).names(),
    ['n1'],
    'a folder of a version that knew of no names',
  )
  t.end()
})

t.test('the steps to another name, each of them durable', t => {
  const { start, startAs, file } = identityFolder(t)
  const { id } = startAs('n1')
  const seen = (): unknown => {
    const { name, alsoNames } = file() as { name: string; alsoNames: readonly string[] }
    return [name, ...alsoNames].join(' ')
  }
  const one = start('n2')
  t.match(one, { name: 'n1', wanted: 'n2' })
  t.same(one.leftNames(), ['n1'])
  one.begin()
  t.equal(seen(), 'n1 n2')
  t.ok(['n1', 'n2'].every(name => one.isOwn(name)) && !one.isOwn('n3'))

  const two = start('n2')
  t.same(two.leftNames(), ['n1'], 'a start that was broken off is gone on with')
  two.begin()
  two.settle()
  t.equal(seen(), 'n2 n1')
  t.same(start('n2').leftNames(), ['n1'])
  two.forget('n1')
  t.equal(seen(), 'n2')
  t.same(
    two.formerNames.map(({ name }) => name),
    ['n1'],
  )
  t.match(start('n2'), { id, origin: 'same' })
  t.end()
})

t.test('somebody thinks better of it, half-way', t => {
  const { start, startAs } = identityFolder(t)
  startAs('n1')
  startAs('n2')
  const back = start('n1')
  t.match(back, { name: 'n1', wanted: 'n1' })
  t.same(back.leftNames(), ['n2'], 'what bears the new name already comes back')
  back.begin()
  back.settle()
  back.forget('n2')
  t.same(back.leftNames(), [])
  t.end()
})

t.test('names that were found', t => {
  const { start } = identityFolder(t)
  const identity = start('n2')
  identity.begin(['n1', 'n0'])
  t.same(identity.leftNames(), ['n1', 'n0'])
  for (const name of ['n1', 'n0']) identity.forget(name)
  t.same(
    identity.formerNames.map(({ name }) => name),
    ['n0', 'n1'],
  )
  t.end()
})

t.test('a folder that was put in place of the one that has claimed the names may be older', t => {
  const { start } = identityFolder(t)
  const first = start('n1')
  t.notOk(first.mayBeOlder, 'none has')
  first.claimed('s1')
  const next = { ...sight, bootId: 'b2', folder: '3:2' }
  t.notOk(start('n1').mayBeOlder)
  t.notOk(start('n1', { sight: next }).mayBeOlder, 'its device has another number after a boot')
  const put = start('n1', { sight: { ...next, folder: '3:9' } })
  t.ok(put.mayBeOlder)
  t.ok(start('n1', { sight: { ...next, folder: '3:9' } }).mayBeOlder, 'until names are claimed with it')
  put.claimed('s2')
  t.notOk(put.mayBeOlder)
  t.end()
})

t.test('the folder of another machine', t => {
  const { start, open, file } = identityFolder(t)
  const first = start('n1')
  const other = open('n2', { sight: { marks: { machineId: 'm2' }, bootId: 'b2', folder: '1:2' } })
  t.match(other, { origin: 'other', copyOf: first.id, name: 'n2' })
  t.not(other.id, first.id)
  t.equal(file()['id'], first.id, 'the file is that of the other one until it is taken')
  other.take()
  t.match(file(), { id: other.id, copyOf: first.id })
  t.same(other.leftNames(), [], 'its names are not ours')
  t.end()
})

t.test('where transactions are fenced', t => {
  const fresh = identityFolder(t).start('n1')
  t.equal(fresh.fence, fresh.id)
  const { start } = identityFolder(t)
  t.equal(start('n1', { wasInUse: true }).fence, 'n1', 'as the versions before did')
  t.equal(start('n2').fence, 'n1', 'also under another name')
  t.end()
})

t.test('a file that cannot be understood is not replaced', t => {
  for (const text of ['', '{', '{"version":2}', '{"version":1,"id":""}', '[]', 'null']) {
    const { path, open } = identityFolder(t)
    writeFileSync(path, text)
    t.throws(() => open('n1'), {
      code: 'IPK_STORE_FAILED',
      message: /node\.json cannot be read/,
      hint: /mv \S+node\.json /,
    })
    t.equal(readFileSync(path, 'utf8'), text)
  }
  t.end()
})

t.test('a file that cannot be written', t => {
  const { path, open } = identityFolder(t)
  // Root may write anywhere, but not where a folder is.
  mkdirSync(join(path, '..', '.node.json'))
  t.throws(
    () => {
      open('n1').take()
    },
    { code: 'IPK_STORE_FAILED' },
  )
  t.end()
})

t.test('a copy is new until it has opened a store, however many starts that takes', t => {
  const { start, file } = identityFolder(t)
  t.notOk(start('n1').hasOpenedNone, 'a first folder shows for itself')
  const elsewhere = { sight: { marks: { machineId: 'm2' }, bootId: 'b2', folder: '1:3' } }
  t.match(start('n2', elsewhere), { origin: 'other', hasOpenedNone: true })
  const second = start('n2', elsewhere)
  t.match(second, { origin: 'same', hasOpenedNone: true })
  second.opened()
  t.notOk('hasOpenedNone' in file())
  t.match(start('n2', elsewhere), { origin: 'same', hasOpenedNone: false })
  t.end()
})
