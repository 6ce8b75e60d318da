/**
 * Plays histories of whole daemons (test/simulation), and tells the story of the first that ends wrong; make simulate gives
 * the variables:
 *
 *   KIND=transactions    embedded, transactions, piecewise or amnesia; all in turn unless set
 *   SEED=7               the first one; 1 unless set
 *   COUNT=100            so many of each kind; 1, with its story, where SEED is set
 */
import { historyOf } from '../test/simulation/history-of.ts'
import { playHistory } from '../test/simulation/play-history.ts'
import { kinds, type Kind } from '../test/simulation/steps.ts'

const { KIND: kind = '', SEED: seed = '', COUNT: count = '' } = process.env

function numberOf(name: string, text: string, otherwise: number): number {
  if (text === '') return otherwise
  if (!/^[0-9]{1,9}$/.test(text) || Number(text) === 0) {
    console.error(`simulate: ${name}=${text} is no number from 1 on`)
    process.exit(2)
  }
  return Number(text)
}

const wanted = kinds.filter(one => kind === '' || one === kind)
if (wanted.length === 0) {
  console.error(`simulate: there is no kind ${kind}; there are ${kinds.join(', ')}`)
  process.exit(2)
}
const first = numberOf('SEED', seed, 1)
const many = numberOf('COUNT', count, seed === '' ? 100 : 1)

async function isWell(one: Kind, number: number): Promise<boolean> {
  const { violations, story } = await playHistory(historyOf(one, number))
  if (violations.length === 0 && many > 1) return true
  for (const line of story) console.log(line)
  for (const { invariant, at, says } of violations)
    console.log(`${(at / 1000).toFixed(3)} WRONG: ${invariant}: ${says}`)
  if (violations.length === 0) return true
  console.log(`again: make simulate KIND=${one} SEED=${number}`)
  return false
}

for (const one of wanted) {
  const began = performance.now()
  for (let number = first; number < first + many; number++) {
    if (!(await isWell(one, number))) process.exit(1)
    if (number % 50 === 0) console.log(`${one}: up to seed ${number}`)
  }
  const took = (performance.now() - began) / many
  console.log(`${one}: ${many} well, ${took.toFixed(0)} ms each`)
}
