import t from 'tap'
import { walkGrid } from '../../../../../ipkeeper-server/http/page/client/grid-walk.ts'

t.test('keys lead through a grid, and not out of it', t => {
  // Sixteen columns; the last row has six.
  const grid = { columns: 16, count: 38 }
  const table: readonly [key: string, from: number, to: number | undefined][] = [
    ['ArrowRight', 0, 1],
    ['ArrowRight', 15, 16],
    ['ArrowRight', 37, 37],
    ['ArrowLeft', 16, 15],
    ['ArrowLeft', 0, 0],
    ['ArrowDown', 3, 19],
    ['ArrowDown', 30, 30],
    ['ArrowUp', 19, 3],
    ['ArrowUp', 3, 3],
    ['PageDown', 3, 35],
    ['PageDown', 15, 31],
    ['PageUp', 35, 3],
    ['Home', 19, 16],
    ['End', 19, 31],
    ['End', 33, 37],
    ['Control+Home', 33, 0],
    ['Control+End', 3, 37],
    ['Tab', 3, undefined],
    ['a', 3, undefined],
  ]
  for (const [name, from, to] of table) {
    const ctrlKey = name.startsWith('Control+')
    t.equal(walkGrid({ key: name.replace('Control+', ''), ctrlKey }, from, grid), to, `${name} from ${from}`)
  }
  t.end()
})
