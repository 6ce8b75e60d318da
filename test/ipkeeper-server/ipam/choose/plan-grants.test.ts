/** One address for each range set, or none at all: those asked for by name, what the pod had, and what it may not have. */
import t from 'tap'
import { tellStories, type Step } from '../../leases/story.ts'
import { poolFrom, type PodWords } from '../../leases/test-service.ts'

const dual = { pool: poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64']) }
const web = (container: string, uid: string, patch: Partial<PodWords> = {}): PodWords => ({
  pod: 'web-0',
  container,
  uid,
  ...patch,
})

const stories: Readonly<Record<string, readonly Step[]>> = {
  'each address that is asked for goes to the range set that it lies in': [
    ['add', web('c1', 'u1', { ip: 'fd00:22::50,10.22.0.50', ...dual }), '10.22.0.50,fd00:22::50'],
  ],
  'a range set of which none is asked for gives one of its choice': [
    ['add', web('c1', 'u1', { ip: 'fd00:22::50', ...dual }), '10.22.0.2,fd00:22::50'],
  ],
  'one that lies in no range set': [
    ['add', web('c1', 'u1', { ip: '10.22.0.50,10.99.0.1', ...dual }), 'IPK_ADDRESS_OUTSIDE', /10\.99\.0\.1/],
    ['leases', []],
  ],
  'a list beside an address of the same family has no range set left': [
    [
      'add',
      web('c1', 'u1', { ip: '10.22.0.50', ips: '10.22.0.60-10.22.0.70' }),
      'IPK_ADDRESS_OUTSIDE',
      /10\.22\.0\.60/,
    ],
  ],
  'a pod that is gone gives its addresses of both families to its next sandbox': [
    ['add', web('c1', 'u1', { retain: 'forever', ...dual }), '10.22.0.2,fd00:22::2'],
    ['del', 'c1'],
    ['add', web('c2', 'u2', dual), '10.22.0.2,fd00:22::2', /kept for shop\/web-0/],
  ],
  'an address of the same name that an older sandbox may still use is not given, even by name': [
    ['add', web('c1', 'u1'), '10.22.0.2'],
    [
      'add',
      web('c2', 'u2'),
      '10.22.0.3',
      /older sandbox c1 of the same name may still be running: a new address/,
    ],
    [
      'add',
      web('c3', 'u2', { ip: '10.22.0.2' }),
      'IPK_HOLDER_LIVE',
      /10\.22\.0\.2 is still held by shop\/web-0 \(UID u1\)/,
    ],
    ['netns', 'c1', 'gone'],
    ['add', web('c3', 'u2', { ip: '10.22.0.2' }), '10.22.0.2'],
  ],
  'a gateway that an annotation names is the one of the subnet': [
    ['add', web('c1', 'u1', { gateway: '10.22.0.1,fd00:22::1', ...dual }), '10.22.0.2,fd00:22::2'],
  ],
  'another gateway is refused': [
    ['add', web('c1', 'u1', { gateway: '10.22.0.9' }), 'IPK_GATEWAY_MISMATCH', /10\.22\.0\.9.*10\.22\.0\.1/],
    ['leases', []],
  ],
  'and one of a family that the pod does not get': [
    ['add', web('c1', 'u1', { gateway: 'fd00:22::1' }), 'IPK_GATEWAY_MISMATCH', /fd00:22::1/],
    ['leases', []],
  ],
}
tellStories(t, stories)
