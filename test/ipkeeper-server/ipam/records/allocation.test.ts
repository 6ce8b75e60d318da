import t from 'tap'
import {
  allocationName,
  bearsAllocationId,
  groupOf,
  isAllocation,
  isAllocationName,
} from '../../../../ipkeeper-server/ipam/records/allocation.ts'
import {
  bearsGeneratedName,
  describeWorkload,
  ordinalOf,
  workloadOf,
} from '../../../../ipkeeper-server/ipam/records/workload.ts'
import { podHolder as pod } from '../../../rigs/records.ts'

const id = '5b0ff3f4-6f0c-4d4f-9b0e-0c5b2b1f6a11'
const web = { namespace: 'shop', job: 'web', group: 'cache', id }

t.test('the name of an allocation, and the group that it tells', t => {
  for (const [patch, name, group, made] of [
    [{}, `web.cache[${id}]`, 'web.cache', true],
    [{ index: 0 }, 'web.cache[0]', 'web.cache', false],
    [{ index: 999_999_999 }, 'web.cache[999999999]', 'web.cache', false],
    [{ job: 'team/web', index: 2 }, 'team:web.cache[2]', 'team:web.cache', false],
    [{ job: 'web/periodic-1700000000' }, `web.cache[${id}]`, 'web.cache', true],
    [{ job: 'web/periodic-1700000000', index: 0 }, `web.cache[${id}]`, 'web.cache', true],
    [{ job: 'web/dispatch-1700000000-0a1b2c3d', index: 0 }, `web.cache[${id}]`, 'web.cache', true],
    [{ job: 'web/dispatch-nightly-1700000000-0a1b2c3d' }, `web.cache[${id}]`, 'web.cache', true],
    [{ job: 'web/periodic-x', index: 0 }, 'web:periodic-x.cache[0]', 'web:periodic-x.cache', false],
    [
      { job: 'web-6d4cf56db6-x2x5z', index: 0 },
      'web-6d4cf56db6-x2x5z.cache[0]',
      'web-6d4cf56db6-x2x5z.cache',
      false,
    ],
  ] as const) {
    t.equal(allocationName({ ...web, ...patch }), name)
    const workload = { namespace: 'shop', kind: 'NomadGroup', name: group, apiVersion: null, uid: null }
    t.strictSame(groupOf({ namespace: 'shop', name }), workload)
    t.strictSame(workloadOf(pod(name), null, undefined), workload, 'the name alone tells')
    t.strictSame(workloadOf(pod(name), null, null), workload, 'whatever an API says that has no such pod')
    t.equal(bearsAllocationId(name), made)
    t.equal(bearsGeneratedName(name, workload), made, 'no later one bears it')
    t.ok(isAllocation(pod(name)))
    t.equal(ordinalOf(pod(name), undefined), undefined)
  }
  const workload = groupOf({ namespace: 'shop', name: 'web.cache[0]' })
  t.equal(workload && describeWorkload(workload), 'NomadGroup shop/web.cache')
  t.end()
})

t.test('the longest name fits', t => {
  const longest = { ...web, job: 'j'.repeat(128), group: 'g'.repeat(80) }
  t.ok(allocationName(longest).length <= 253)
  t.ok(isAllocationName(allocationName(longest)))
  t.end()
})

t.test('what is none', t => {
  for (const name of [
    'web-0',
    'web.cache',
    'web.cache[]',
    'web.cache[x]',
    '[0]',
    'web.cache[0]x',
    'a/b[0]',
    'a b[0]',
    'a[0][0]',
    'web.cache[1234567890]',
  ])
    t.notOk(isAllocationName(name), name)
  t.notOk(isAllocation({ kind: 'container', network: 'net', containerId: id, ifname: 'eth0' }))
  t.end()
})
