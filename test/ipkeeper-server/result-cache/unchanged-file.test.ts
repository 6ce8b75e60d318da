import { chownSync, lstatSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { identityOf } from '../../../ipkeeper-server/result-cache/file-calls.ts'
import {
  isTemporaryName,
  removeTemporaries,
  replaceUnchanged,
  temporaryName,
} from '../../../ipkeeper-server/result-cache/unchanged-file.ts'
import { callsUntilPowerCut } from './failing-calls.ts'

const changed = { message: 'it changed meanwhile' }

function cachedFile(t: Test) {
  const folder = t.testdir({ 'net-c1-eth0': 'old' })
  const path = join(folder, 'net-c1-eth0')
  return { folder, path, seen: () => identityOf(lstatSync(path, { bigint: true })) }
}

t.test('puts the new text in place, for the owner of the old file alone', async t => {
  const { folder, path, seen } = cachedFile(t)
  if (process.getuid?.() === 0) chownSync(path, 1234, 1235)
  await replaceUnchanged(Buffer.from(path), seen(), 'new text')
  t.equal(readFileSync(path, 'utf8'), 'new text')
  t.equal(lstatSync(path).mode & 0o777, 0o600)
  if (process.getuid?.() === 0) t.match(lstatSync(path), { uid: 1234, gid: 1235 })
  t.strictSame(readdirSync(folder), ['net-c1-eth0'])
})

t.test('leaves a file alone that is not as it was seen', async t => {
  const changes: Readonly<Record<string, (path: string) => void>> = {
    'written to': path => {
      writeFileSync(path, 'newer')
    },
    'with another time': path => {
      utimesSync(path, 1, 1)
    },
  }
  for (const [what, change] of Object.entries(changes)) {
    const { folder, path, seen } = cachedFile(t)
    const before = seen()
    change(path)
    const kept = readFileSync(path, 'utf8')
    await t.rejects(replaceUnchanged(Buffer.from(path), before, 'new text'), changed, what)
    t.equal(readFileSync(path, 'utf8'), kept)
    t.strictSame(readdirSync(folder), ['net-c1-eth0'], 'and leaves nothing')
  }
})

t.test('whenever the power goes, there is the old file or the new one, whole', async t => {
  let steps = 0
  for (let count = 0; ; count++) {
    const { folder, path, seen } = cachedFile(t)
    const { calls, made } = callsUntilPowerCut(count)
    const done = await replaceUnchanged(Buffer.from(path), seen(), 'new text', calls).then(
      () => true,
      () => false,
    )
    const renamed = made.includes('rename')
    t.equal(readFileSync(path, 'utf8'), renamed ? 'new text' : 'old', made.join(' '))
    const others = readdirSync(folder).filter(name => name !== 'net-c1-eth0')
    t.ok(others.every(isTemporaryName), 'what else is there is known as ours')
    if (renamed)
      t.ok(
        made.indexOf('sync') > -1 && made.indexOf('sync') < made.indexOf('rename'),
        'durable before it counts',
      )
    if (done) {
      steps = count
      t.equal(made.filter(name => name === 'sync').length, 2, 'the folder, too')
      break
    }
  }
  t.ok(steps >= 8, `${steps} steps`)
})

t.test('takes away what a crash of ours left, and nothing else', async t => {
  const [ours, fresh, others] = [temporaryName(), temporaryName(), '.nfs0001']
  const folder = t.testdir({ [ours]: 'x', [fresh]: 'x', [others]: 'x', 'net-c1-eth0': 'x' })
  const hourAgo = Date.now() / 1000 - 3600
  for (const name of [ours, others, 'net-c1-eth0']) utimesSync(join(folder, name), hourAgo, hourAgo)
  await removeTemporaries(folder, Date.now())
  t.strictSame(readdirSync(folder).sort(), [fresh, others, 'net-c1-eth0'].sort())
})
