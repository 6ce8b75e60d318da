/** Which address allocations of Nomad get, over restarts in place and reschedules, with and without an index. */
import t from 'tap'
import { minute, tellStories, type Step } from '../story.ts'
import type { PodWords } from '../test-service.ts'

const [a, b, c] = ['a', 'b', 'c'].map(digit => `${digit.repeat(8)}-0000-4000-8000-${digit.repeat(12)}`) as [
  string,
  string,
  string,
]

/** Nomad calls the container by the allocation's ID. */
const allocation = (id: string, patch: Partial<PodWords> = {}): PodWords => ({
  ...{ namespace: 'default', pod: `web.cache[${id}]`, container: id, uid: null },
  ...patch,
})

const indexed = (index: number, id: string, patch: Partial<PodWords> = {}): PodWords =>
  allocation(id, { pod: `web.cache[${index}]`, ...patch })

const kept = { retain: '30m' }
const fixed = { cniIp: '10.22.0.50' }

const withoutIndex: Readonly<Record<string, readonly Step[]>> = {
  'a reschedule: the next allocation of the group gets what was kept': [
    ['add', allocation(a, kept), '10.22.0.2'],
    ['del', a],
    ['leases', [`10.22.0.2 held default/web.cache[${a}] -`]],
    ['add', { pod: 'other', container: 'c9' }, '10.22.0.3'],
    [
      'add',
      allocation(b, kept),
      '10.22.0.2',
      /kept for NomadGroup default\/web\.cache since default\/web\.cache\[aaaaaaaa-.*\] is gone/,
    ],
    ['leases', [`10.22.0.2 bound default/web.cache[${b}] ${b}`, '10.22.0.3 bound shop/other c9']],
  ],
  'over a restart of the daemon too': [
    ['add', allocation(a, kept), '10.22.0.2'],
    ['restart'],
    ['del', a],
    ['restart'],
    ['add', allocation(b, kept), '10.22.0.2'],
  ],
  'two allocations of the group at once have an address each; two that take their places have the two, the longest kept first':
    [
      ['add', allocation(a, kept), '10.22.0.2'],
      ['add', allocation(b, kept), '10.22.0.3'],
      ['del', b],
      ['wait', minute],
      ['del', a],
      ['add', allocation(c, kept), '10.22.0.3'],
      ['add', allocation(a, kept), '10.22.0.2'],
    ],
  'another group of the job, or the group in another namespace, gets nothing of it': [
    ['add', allocation(a, kept), '10.22.0.2'],
    ['del', a],
    ['add', allocation(b, { ...kept, pod: `web.api[${b}]` }), '10.22.0.3'],
    ['add', allocation(c, { ...kept, namespace: 'batch' }), '10.22.0.4'],
  ],
  'its time over, anybody can have it': [
    ['add', allocation(a, kept), '10.22.0.2'],
    ['del', a],
    ['wait', 31 * minute],
    ['add', { pod: 'other', container: 'c9' }, '10.22.0.2'],
  ],
  'nothing is kept without retention': [
    ['add', allocation(a), '10.22.0.2'],
    ['del', a],
    ['add', allocation(b), '10.22.0.3'],
  ],
  'an address asked for: not before the older allocation is gone, and then the very one': [
    ['add', allocation(a, { ...kept, ...fixed }), '10.22.0.50'],
    [
      'add',
      allocation(b, { ...kept, ...fixed }),
      'IPK_CANDIDATES_BUSY',
      /wait until older allocations of NomadGroup default\/web\.cache are gone/,
    ],
    ['del', a],
    ['add', allocation(b, { ...kept, ...fixed }), '10.22.0.50'],
  ],
  'kept for the group, nobody else gets it by asking': [
    ['add', allocation(a, { ...kept, ...fixed }), '10.22.0.50'],
    ['del', a],
    ['add', { pod: 'other', container: 'c9', ...fixed }, 'IPK_ADDRESS_KEPT'],
    ['add', allocation(b, { pod: `thief.cache[${b}]`, ...fixed }), 'IPK_ADDRESS_KEPT'],
  ],
  'no DEL comes from a node that was rebooted: the next allocation on it has the address': [
    ['add', allocation(a, kept), '10.22.0.2'],
    ['reboot'],
    ['add', allocation(b, kept), '10.22.0.2', /takes it over from/],
  ],
  'the network namespace of an allocation is made anew after a failed CHECK: an ADD of the same ID, without a DEL':
    [
      ['add', allocation(a), '10.22.0.2'],
      ['netns', a, 'replaced'],
      ['add', allocation(a, { netns: '/proc/self/ns/net' }), '10.22.0.2'],
      ['leases', [`10.22.0.2 bound default/web.cache[${a}] ${a}`]],
    ],
}

const withIndex: Readonly<Record<string, readonly Step[]>> = {
  'a reschedule: the same index has the same address, whichever comes first': [
    ['add', indexed(0, a, kept), '10.22.0.2'],
    ['add', indexed(1, b, kept), '10.22.0.3'],
    ['del', a],
    ['wait', minute],
    ['del', b],
    ['add', indexed(1, c, kept), '10.22.0.3'],
    ['add', indexed(0, a, kept), '10.22.0.2'],
  ],
  'a new index gets nothing of another one': [
    ['add', indexed(0, a, kept), '10.22.0.2'],
    ['del', a],
    ['add', indexed(1, b, kept), '10.22.0.3'],
  ],
  'a canary with the index of an allocation that lives gets another address, or an error where the address is kept for it':
    [
      ['add', indexed(0, a), '10.22.0.2'],
      ['add', indexed(0, b), '10.22.0.3'],
      ['del', a],
      ['del', b],
      ['add', indexed(0, a, kept), '10.22.0.4'],
      [
        'add',
        indexed(0, b, kept),
        'IPK_HOLDER_LIVE',
        /still held by default\/web\.cache\[0\] on node n1 .*wait until the old allocation has stopped, or end it: nomad alloc stop aaaaaaaa-/,
      ],
      ['del', a],
      ['add', indexed(0, b, kept), '10.22.0.4'],
    ],
  'a job that gives an index from now on inherits nothing, and disturbs nothing': [
    ['add', allocation(a, kept), '10.22.0.2'],
    ['del', a],
    ['add', indexed(0, b, kept), '10.22.0.3'],
    ['leases', [`10.22.0.2 held default/web.cache[${a}] -`, `10.22.0.3 bound default/web.cache[0] ${b}`]],
  ],
}

t.test('by the ID of the allocation', t => {
  tellStories(t, withoutIndex)
  t.end()
})

t.test('by an index that the job gives', t => {
  tellStories(t, withIndex)
  t.end()
})
