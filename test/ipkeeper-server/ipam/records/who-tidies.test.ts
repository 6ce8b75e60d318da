import t from 'tap'
import { leftToItsNode, tidiesUp } from '../../../../ipkeeper-server/ipam/records/who-tidies.ts'

const over = 1_000_000

t.test('who deletes the record of an address whose time is over', t => {
  const table: readonly [
    what: string,
    elected: boolean | undefined,
    of: 'own' | 'other' | 'gone',
    since: number,
    tidies: boolean,
  ][] = [
    ['its own node, at once', false, 'own', 0, true],
    ['another one leaves it', false, 'other', 0, false],
    ['for good, since somebody is elected', false, 'other', leftToItsNode * 10, false],
    ['even of a node that is gone', false, 'gone', leftToItsNode * 10, false],
    ['the elected one leaves it to a node that is there', true, 'other', 0, false],
    ['for a while', true, 'other', leftToItsNode - 1, false],
    ['and no longer', true, 'other', leftToItsNode, true],
    ['of a node that is gone, at once', true, 'gone', 0, true],
    ['where nobody is elected, each one', undefined, 'other', leftToItsNode, true],
    ['after the same while', undefined, 'other', leftToItsNode - 1, false],
    ['though nobody can say who is gone', undefined, 'gone', 0, false],
  ]
  for (const [what, elected, of, since, tidies] of table) {
    const tidier = { node: 'own', elected, isGone: (node: string) => node === 'gone' }
    t.equal(tidiesUp(tidier, { node: of, until: over }, over + since), tidies, what)
  }
  t.equal(
    tidiesUp({ node: 'own', elected: true, isGone: () => false }, { node: 'other', until: null }, 1e15),
    false,
  )
  t.end()
})
