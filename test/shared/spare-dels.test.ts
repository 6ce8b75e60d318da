import t from 'tap'
import {
  isFreeSpare,
  isSpareFolder,
  isTakenSpare,
  isWaitingSpare,
  numberOfSpare,
  takenSpare,
  waitingSpare,
} from '../../shared/spare-dels.ts'

const names: readonly (readonly [name: string, is: 'free' | 'taken' | 'waiting' | undefined])[] = [
  ['7', 'free'],
  ['15', 'free'],
  ['7w', 'taken'],
  ['15w', 'taken'],
  ['7d', 'waiting'],
  ['15d', 'waiting'],
  ['123', undefined],
  ['7x', undefined],
  ['7dw', undefined],
  ['.7', undefined],
  ['d', undefined],
  ['', undefined],
]

t.test('what becomes of a file its name says', t => {
  for (const [name, is] of names) {
    t.equal(isFreeSpare(name), is === 'free', `${name}: free`)
    t.equal(isTakenSpare(name), is === 'taken', `${name}: taken`)
    t.equal(isWaitingSpare(name), is === 'waiting', `${name}: waiting`)
    t.equal(isSpareFolder(name), is === 'free', `${name}: a folder`)
  }
  t.end()
})

t.test('it keeps its number', t => {
  for (const number of ['0', '15']) {
    t.ok(isTakenSpare(takenSpare(number)))
    t.ok(isWaitingSpare(waitingSpare(number)))
    for (const name of [number, takenSpare(number), waitingSpare(number)])
      t.equal(numberOfSpare(name), number)
  }
  t.end()
})
