import t from 'tap'
import { inTurns } from '../../../../ipkeeper-server/leases/queries/in-turns.ts'

t.test('others have their turn after every 500 records, whether or not they fit', async t => {
  for (const [records, fits, found, turns] of [
    [0, () => true, 0, 0],
    [499, () => true, 499, 0],
    [500, () => true, 500, 1],
    [1_600, () => false, 0, 3],
    [1_600, (index: number) => index % 2 === 0, 800, 3],
  ] as const) {
    let taken = 0
    const all: number[] = []
    const turn = () => Promise.resolve(taken++)
    for await (const one of inTurns(Array(records).keys(), fits, turn)) all.push(one)
    t.strictSame([all.length, taken], [found, turns], `${records} records`)
    t.ok(all.every(fits))
  }
})
