import t from 'tap'
import { readFilter, type Listed } from '../../../../ipkeeper-server/leases/queries/listing-filter.ts'
import type { Filters } from '../../../../shared/api/listing-query.schema.ts'

const web = { namespace: 'shop', kind: 'StatefulSet', name: 'web' }

const rows: Readonly<Record<string, Listed>> = {
  web: {
    ...{ namespace: 'shop', pod: 'web-0', node: 'n1', owner: web, state: 'bound' },
    pool: () => 'prod',
  },
  lab: {
    ...{ namespace: 'lab', pod: 'web-0', node: 'n2', owner: { ...web, namespace: 'lab', kind: 'Job' } },
    ...{ state: 'held', pool: () => 'lab' },
  },
  container: { node: 'n1', state: 'cooling', pool: () => 'prod' },
  printer: { owner: { namespace: '', kind: 'external', name: 'printer-3' }, pool: () => undefined },
}

t.test('which rows fit', t => {
  for (const [filters, found] of [
    [{}, 'web lab container printer'],
    [{ namespace: 'shop' }, 'web'],
    [{ namespace: 'sho' }, ''],
    [{ pod: 'web-0' }, 'web lab'],
    [{ pod: 'lab/web-0' }, 'lab'],
    [{ pod: 'web' }, ''],
    [{ namespace: 'lab', pod: 'web-0' }, 'lab'],
    [{ namespace: 'lab', pod: 'lab/web-0' }, 'lab'],
    [{ node: 'n1' }, 'web container'],
    [{ state: 'held' }, 'lab'],
    [{ state: 'held,cooling' }, 'lab container'],
    [{ pool: 'prod' }, 'web container'],
    [{ pool: 'prod', node: 'n1', state: 'bound' }, 'web'],
    [{ owner: 'web' }, 'web lab'],
    [{ owner: 'sts/web' }, 'web'],
    [{ owner: 'StatefulSet/web' }, 'web'],
    [{ owner: 'shop/web' }, 'web'],
    [{ owner: 'lab/job/web' }, 'lab'],
    [{ owner: 'lab/sts/web' }, ''],
    [{ owner: 'StatefulSet shop/web' }, 'web'],
    [{ owner: 'external:printer-3' }, 'printer'],
    [{ owner: 'printer-3' }, 'printer'],
    [{ owner: 'shop/sts/web/0' }, ''],
  ] as const satisfies readonly (readonly [Filters, string])[]) {
    const isAsked = readFilter(filters)
    const names = Object.keys(rows).filter(name => isAsked(rows[name] ?? {}))
    t.equal(names.join(' '), found, JSON.stringify(filters))
  }
  t.end()
})

t.test('two namespaces', t => {
  t.throws(() => readFilter({ namespace: 'lab', pod: 'shop/web-0' }), {
    code: 'IPK_REQUEST_INVALID',
    message: 'pod shop/web-0 is not in namespace lab',
  })
  t.end()
})
