import t from 'tap'
import { leaseKey, type ReservationRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { ReservationBook } from '../../../../ipkeeper-server/store/kubernetes/reservation-book.ts'
import { reservationRecord } from '../../../rigs/records.ts'

const keyOf = (address: string): string => leaseKey({ segment: 'default', address })

interface Told {
  readonly book: ReservationBook
  /** What was told since it was asked last. */
  readonly told: () => readonly string[]
  /** "web 5 made 1: 10.0.0.1 10.0.0.2" */
  readonly put: (words: string) => void
}

function open(): Told {
  let lines: string[] = []
  const address = (key: string): string => (JSON.parse(key) as [string, string])[1]
  const book = new ReservationBook({
    put: ({ key, text, revision }) => {
      lines.push(`${address(key)} ${(JSON.parse(text) as ReservationRecord).name} ${revision}`)
    },
    remove: key => {
      lines.push(`${address(key)} nobody`)
    },
    twice: (key, counts, ignored) => {
      lines.push(`${address(key)}: ${counts}, not ${ignored}`)
    },
  })
  return {
    book,
    told: () => {
      const heard = lines
      lines = []
      return heard
    },
    put: words => {
      const [title = '', addresses = ''] = words.split(': ')
      const [name = '', revision, , createdAt] = title.split(' ')
      const records = addresses
        .split(' ')
        .filter(one => one !== '')
        .map(one => reservationRecord(one, name))
      book.put(name, { revision: Number(revision), createdAt: Number(createdAt), records })
    },
  }
}

t.test('an object of several addresses', t => {
  const { book, put, told } = open()
  put('web 5 made 1: 10.0.0.1 10.0.0.2')
  t.strictSame(told(), ['10.0.0.1 web 5', '10.0.0.2 web 5'])
  put('web 6 made 1: 10.0.0.2 10.0.0.3')
  t.strictSame(told().toSorted(), ['10.0.0.1 nobody', '10.0.0.2 web 6', '10.0.0.3 web 6'])
  t.match(book.get(keyOf('10.0.0.2')), { name: 'web', revision: 6, object: { revision: 6 } })
  t.equal(book.get(keyOf('10.0.0.1')), undefined)
  book.remove('web', 7)
  t.strictSame(told(), ['10.0.0.2 nobody', '10.0.0.3 nobody'])
  book.remove('web', 8)
  t.strictSame(told(), [])
  t.end()
})

t.test('two objects of one address', t => {
  const { book, put, told } = open()
  put('second 5 made 2: 10.0.0.1')
  put('first 6 made 1: 10.0.0.1')
  t.strictSame(
    told(),
    ['10.0.0.1 second 5', '10.0.0.1: first, not second', '10.0.0.1 first 6'],
    'the older one',
  )
  put('second 7 made 2: 10.0.0.1')
  t.strictSame(told(), ['10.0.0.1: first, not second'], 'a change of the other one says nothing')
  book.remove('first', 8)
  t.strictSame(told(), ['10.0.0.1 second 8'], 'its revision does not go backwards')
  t.match(
    book.get(keyOf('10.0.0.1')),
    { name: 'second', revision: 8, object: { revision: 7 } },
    'the version to name',
  )
  t.end()
})

t.test('of the same age, the names decide', t => {
  const { put, told } = open()
  put('b 5 made 1: 10.0.0.1')
  put('a 6 made 1: 10.0.0.1')
  t.strictSame(told(), ['10.0.0.1 b 5', '10.0.0.1: a, not b', '10.0.0.1 a 6'])
  t.end()
})
