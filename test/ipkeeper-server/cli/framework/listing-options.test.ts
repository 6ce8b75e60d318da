import t from 'tap'
import {
  listingOptions,
  listingQueryText,
} from '../../../../ipkeeper-server/cli/framework/listing-options.ts'
import { attachmentTerms, leaseTerms } from '../../../../shared/api/listing-query.schema.ts'

t.test('what is asked of the daemon', t => {
  for (const [options, query] of [
    [{}, ''],
    [{ namespace: 'shop' }, '?namespace=shop'],
    [{ pod: 'shop/web-0', limit: '5' }, '?pod=shop%2Fweb-0&limit=5'],
    [{ state: 'held,bound,held' }, '?state=held%2Cbound'],
    [{ 'sort-by': 'until', owner: 'StatefulSet shop/web' }, '?owner=StatefulSet+shop%2Fweb&sort=until'],
    // Options of other kinds are none of the daemon's.
    [{ segment: 'lab' }, ''],
  ] as const)
    t.equal(listingQueryText(leaseTerms, { options }), query, JSON.stringify(options))
  t.end()
})

t.test('what it cannot be asked', t => {
  for (const [options, message] of [
    [{ state: 'heldd' }, '--state heldd is none of bound, held, cooling; did you mean held?'],
    [{ state: 'held,' }, "--state '' is none of bound, held, cooling"],
    [{ state: 'held,free' }, '--state free is none of bound, held, cooling'],
    [{ state: '' }, '--state is empty'],
    [{ node: '' }, '--node is empty'],
    [{ pod: 'shop/' }, '--pod "shop/" is neither NAME nor NAMESPACE/NAME'],
    [{ pod: 'a/b/c' }, '--pod "a/b/c" is neither NAME nor NAMESPACE/NAME'],
    [
      { 'sort-by': 'sinc' },
      '--sort-by sinc is none of address, since, until, state, pod, node, pool; did you mean since?',
    ],
    [{ limit: '0' }, '--limit "0" is not a whole number above 0'],
  ] as const)
    t.throws(() => listingQueryText(leaseTerms, { options }), { code: 'IPK_USAGE', message })
  t.end()
})

t.test('a listing has the options of its terms, and no others', t => {
  t.strictSame(Object.keys(listingOptions(attachmentTerms)), [
    'namespace',
    'pod',
    'node',
    'selector',
    'sort-by',
    'limit',
  ])
  t.end()
})
