import { readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Reserve } from '../../../../ipkeeper-server/store/room/reserve.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'

const folder = tempFolder(t)
const pieces = (): readonly string[] => readdirSync(folder.file('reserve')).sort()

// On a disk with plenty of room; what becomes of it on others is in test/privileged/full-disk.test.ts.
t.test('it is made, given up piece by piece, and made whole again', async t => {
  const reserve = new Reserve(folder.path)
  t.same(reserve.state(), { kept: 0, wanted: 4 * 2 ** 20 })
  t.notOk(reserve.isWhole)
  t.notOk(reserve.giveUp(), 'there is nothing to give')
  t.ok(await reserve.refill())
  t.equal(pieces().length, 16)
  for (const name of pieces()) {
    const { size, blocks, mode } = statSync(join(folder.path, 'reserve', name))
    t.equal(size, 256 * 1024)
    t.ok(blocks * 512 >= size, `${name} is really there`)
    t.equal(mode & 0o777, 0o600)
  }
  t.ok(reserve.giveUp())
  t.equal(pieces().length, 15)
  t.same(reserve.state(), { kept: 15 * 256 * 1024, wanted: 4 * 2 ** 20 })
  t.ok(await reserve.refill())
  t.equal(pieces().length, 16)
  t.equal(reserve.isDiskFull, false)
  t.equal(reserve.hasSpare, true)
})

t.test(
  'the next daemon finds it; a piece that is cut is none, and one that somebody took is passed over',
  async t => {
    truncateSync(folder.file('reserve', '03'), 100)
    const reserve = new Reserve(folder.path)
    t.equal(reserve.state().kept, 15 * 256 * 1024)
    for (const name of pieces().slice(0, 14)) rmSync(folder.file('reserve', name))
    let given = 0
    while (reserve.giveUp()) given++
    t.equal(given, 2)
    t.ok(await reserve.refill())
    t.equal(pieces().length, 16)
  },
)

t.test('what somebody took away for the room is made again', async t => {
  const reserve = new Reserve(folder.path)
  t.ok(await reserve.refill())
  rmSync(folder.file('reserve'), { recursive: true })
  t.ok(await reserve.refill())
  t.equal(pieces().length, 16)
})

t.test('where there is no such folder nothing is wanted', t => {
  const reserve = new Reserve(folder.file('none'))
  t.same(reserve.state(), { kept: 0, wanted: 0 })
  t.ok(reserve.isWhole)
  t.notOk(reserve.giveUp())
  t.equal(reserve.isDiskFull, false)
  t.end()
})
