import t from 'tap'
import { commandsOfSearch } from '../../../../../ipkeeper-server/http/page/client/command-view.ts'
import {
  readSearch,
  searchFilters,
  withFilter,
} from '../../../../../ipkeeper-server/http/page/client/search-terms.ts'
import { foundView } from '../../../../../ipkeeper-server/http/page/client/search-view.ts'
import { leaseTerms } from '../../../../../shared/api/listing-query.schema.ts'

t.test('filters and words as they are typed', t => {
  for (const [typed, filters, text] of [
    ['web-0', {}, 'web-0'],
    ['namespace:shop', { namespace: 'shop' }, ''],
    ['namespace:shop state:held web-0', { namespace: 'shop', state: 'held' }, 'web-0'],
    ['  web  Namespace:Shop  0 ', { namespace: 'Shop' }, 'web 0'],
    ['owner:"StatefulSet shop/web" pool:net', { owner: 'StatefulSet shop/web', pool: 'net' }, ''],
    ['owner:external:printer-3', { owner: 'external:printer-3' }, ''],
    ['selector:"app in (web, db)"', { selector: 'app in (web, db)' }, ''],
    ['state:Leased', { state: 'bound' }, ''],
    ['state:leased,cooling,reserved', { state: 'bound,cooling,reserved' }, ''],
    ['fd00:22::1 external:printer-3 a-pool:x', {}, 'fd00:22::1 external:printer-3 a-pool:x'],
    ['"third floor"', {}, 'third floor'],
  ] as const)
    t.strictSame(readSearch(typed), { filters, text }, typed)
  for (const [typed, problem] of [
    ['namespace:', /^namespace: wants a value, such as namespace:shop$/],
    ['web node: x', /^node: wants a value/],
    ['pool:a web pool:b', /^pool: is there twice$/],
    ['state:held state:cooling', /^state: is there twice; of two: state:held,cooling$/],
    ['state:free', /^there is no state "free" here; there are leased, held, cooling and reserved$/],
    ['state:held,', /^there is no state "held," here/],
  ] as const)
    t.match(readSearch(typed), { problem }, typed)
  t.end()
})

t.test('a filter that is chosen is typed behind the rest', t => {
  t.strictSame(searchFilters.toSorted(), leaseTerms.filters.toSorted(), 'those of ipkeeperctl leases')
  for (const name of searchFilters) t.equal(withFilter('', name), `${name}:`)
  t.equal(withFilter('namespace:shop ', 'state'), 'namespace:shop state:')
  t.end()
})

t.test('what is said of several together, and what to type', t => {
  const nothing = { leases: [], reservations: [] }
  t.equal(foundView(nothing, 'pool:net web', true).says, 'No address fits all of "pool:net web".')
  const words = (typed: string, pods: readonly string[]): readonly string[] => {
    const terms = readSearch(typed)
    return 'problem' in terms ? [] : commandsOfSearch(terms, pods).map(hint => hint.words.slice(1).join(' '))
  }
  const two = ['shop/web-0', 'shop/web-1']
  t.strictSame(words('namespace:shop state:leased', two), ['leases --namespace shop --state bound'])
  t.strictSame(words('state:reserved', ['']), [], 'reservations are no leases')
  t.strictSame(words('namespace:shop web', two), [], 'no listing takes words')
  const [doctor, explain] = ['doctor --pod shop/web-9', 'explain shop/web-9']
  t.strictSame(words('pod:web-9 namespace:shop', []), [doctor, explain])
  t.strictSame(words('namespace:shop web-9', []), [doctor, explain])
  t.strictSame(words('namespace:shop shop/web-9', []), [doctor, explain])
  for (const typed of ['namespace:shop', 'namespace:shop 10.22', 'pool:net'])
    t.strictSame(words(typed, []), [], typed)
  t.end()
})
