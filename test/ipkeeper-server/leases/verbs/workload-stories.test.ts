/** Which address each pod of a workload gets, and over which changes it stays (DESIGN.md, "Choosing"). */
import t from 'tap'
import { minute, owned, tellStories, type Step } from '../story.ts'
import { poolFrom, type PodWords } from '../test-service.ts'

const three = '10.22.0.50-10.22.0.52'

/** A pod of a StatefulSet, known by its name alone unless an owner is given. */
const replica = (ordinal: number, container: string, patch: Partial<PodWords> = {}): PodWords => ({
  pod: `web-${ordinal}`,
  container,
  ips: three,
  ...patch,
})

/** A pod of Deployment api, of the generation "old" or "new" of its template. */
const hashes = { old: '6d4cf56db6', new: '7c8b9d5f44' }
const copy = (
  generation: keyof typeof hashes,
  suffix: string,
  container: string,
  patch: Partial<PodWords> = {},
): PodWords => ({ pod: `api-${hashes[generation]}-${suffix}`, container, ips: three, ...patch })

const dual = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64'])
const dualList = '10.22.0.50-10.22.0.52,fd00:22::50-fd00:22::52'

const bare: Readonly<Record<string, readonly Step[]>> = {
  'a bare pod gets the first free one of its list, and has it again after its DEL': [
    ['add', { pod: 'printer', container: 'c1', ips: three }, '10.22.0.50', /first free of 3 candidates/],
    ['add', { pod: 'scanner', container: 'c2', ips: three }, '10.22.0.51', /first free of 3 candidates/],
    ['del', 'c2'],
    ['add', { pod: 'fax', container: 'c3', ips: three }, '10.22.0.52'],
    [
      'add',
      { pod: 'copier', container: 'c4', ips: three },
      '10.22.0.51',
      /first of 3 candidates that is only cooling down/,
    ],
    [
      'add',
      { pod: 'plotter', container: 'c5', ips: three },
      'IPK_CANDIDATES_TAKEN',
      /lists 10\.22\.0\.50-10\.22\.0\.52, and all 3 addresses are taken: 10\.22\.0\.50 by shop\/printer on node n1 .*10\.22\.0\.51 by shop\/copier.*10\.22\.0\.52 by shop\/fax.*add addresses to the list/,
    ],
  ],
  'a list of one address that is kept until a moment: waiting helps': [
    ['add', { pod: 'printer', container: 'c1', ips: '10.22.0.50', retain: '30m' }, '10.22.0.50'],
    ['del', 'c1'],
    [
      'add',
      { pod: 'scanner', container: 'c2', ips: '10.22.0.50' },
      'IPK_CANDIDATES_BUSY',
      /lists 10\.22\.0\.50, and its one address is taken: 10\.22\.0\.50 by shop\/printer .*kept by retention/,
    ],
    ['wait', 30 * minute],
    ['add', { pod: 'scanner', container: 'c2', ips: '10.22.0.50' }, '10.22.0.50'],
  ],
  'one that is kept until a moment for the pod that it is reserved for: waiting does not help': [
    ['add', { pod: 'printer', container: 'c1', ips: '10.22.0.50', retain: '30m' }, '10.22.0.50'],
    ['reserve', '10.22.0.50', 'shop/printer'],
    ['del', 'c1'],
    [
      'add',
      { pod: 'scanner', container: 'c2', ips: '10.22.0.50' },
      'IPK_CANDIDATES_TAKEN',
      /its one address is taken: 10\.22\.0\.50 reserved for shop\/printer; .*add addresses to the list/,
    ],
    ['wait', 30 * minute],
    ['add', { pod: 'scanner', container: 'c2', ips: '10.22.0.50' }, 'IPK_CANDIDATES_TAKEN'],
  ],
  'a bare pod whose name ends like an ordinal is taken for the Nth, whether or not the API says that it is bare':
    [
      ['add', { pod: 'node-1', container: 'c1', ips: three }, '10.22.0.51', /candidate 1 of 3 for ordinal 1/],
      ['add', { pod: 'node-2', container: 'c2', ips: three, owner: null }, '10.22.0.52', /ordinal 2/],
    ],
  'a pod of a controller that is no StatefulSet is not, whatever its name': [
    [
      'add',
      { pod: 'kafka-2', container: 'c1', ips: three, owner: owned('StrimziPodSet', 'kafka') },
      '10.22.0.50',
    ],
  ],
}

const retentions = ['release', '30m', 'while-owner-exists', 'forever'] as const

const statefulSet: Readonly<Record<string, readonly Step[]>> = {
  'ordinal N takes the Nth, in whichever order the pods come': [
    ['add', replica(2, 'c2'), '10.22.0.52', /annotation ipkeeper\.io\/ips: candidate 2 of 3 for ordinal 2/],
    ['add', replica(0, 'c0'), '10.22.0.50'],
    ['add', replica(1, 'c1'), '10.22.0.51'],
    [
      'leases',
      ['10.22.0.50 bound shop/web-0 c0', '10.22.0.51 bound shop/web-1 c1', '10.22.0.52 bound shop/web-2 c2'],
    ],
  ],
  ...Object.fromEntries(
    retentions.map(retain => [
      `scaled down and up again with retention ${retain}: each ordinal has its address`,
      [
        ['add', replica(0, 'c0', { retain }), '10.22.0.50'],
        ['add', replica(1, 'c1', { retain }), '10.22.0.51'],
        ['add', replica(2, 'c2', { retain }), '10.22.0.52'],
        ['del', 'c2'],
        ['del', 'c1'],
        ['add', { pod: 'other', container: 'x1' }, '10.22.0.2'],
        ['wait', 9 * minute],
        ['add', replica(1, 'c3', { retain }), '10.22.0.51'],
        ['add', replica(2, 'c4', { retain }), '10.22.0.52'],
        [
          'leases',
          [
            '10.22.0.2 bound shop/other x1',
            '10.22.0.50 bound shop/web-0 c0',
            '10.22.0.51 bound shop/web-1 c3',
            '10.22.0.52 bound shop/web-2 c4',
          ],
        ],
      ] satisfies Step[],
    ]),
  ),
  'while it is scaled down another pod may ask for a released address, but not for a kept one': [
    ['add', replica(0, 'c0'), '10.22.0.50'],
    ['add', replica(1, 'c1', { retain: 'forever' }), '10.22.0.51'],
    ['del', 'c1'],
    ['del', 'c0'],
    ['add', { pod: 'other', container: 'x0', ip: '10.22.0.50' }, '10.22.0.50'],
    ['add', { pod: 'another', container: 'x1', ip: '10.22.0.51' }, 'IPK_ADDRESS_HELD', /kept by retention/],
  ],
  "the ordinal's address is somebody else's: an error that names them, not the next address": [
    ['add', { pod: 'other', container: 'x1', ip: '10.22.0.51' }, '10.22.0.51'],
    ['add', replica(0, 'c0'), '10.22.0.50'],
    [
      'add',
      replica(1, 'c1'),
      'IPK_ADDRESS_HELD',
      /^annotation ipkeeper\.io\/ips \(ordinal 1\) asks for 10\.22\.0\.51, which is held by shop\/other on node n1/,
    ],
    ['del', 'x1'],
    ['add', replica(1, 'c1'), '10.22.0.51'],
  ],
  'nor another ordinal of its own, after the list was reordered': [
    ['add', replica(0, 'c0'), '10.22.0.50'],
    ['add', replica(1, 'c1', { ips: '10.22.0.51,10.22.0.50' }), 'IPK_ADDRESS_HELD', /held by shop\/web-0/],
  ],
  'an ordinal beyond the list names both': [
    [
      'add',
      replica(3, 'c3'),
      'IPK_ORDINAL_BEYOND_LIST',
      /^pod shop\/web-3 has ordinal 3, but annotation ipkeeper\.io\/ips lists 3 addresses \(10\.22\.0\.50-10\.22\.0\.52\); a name that ends in "-N" is taken for the Nth pod/,
    ],
    [
      'add',
      replica(1, 'c1', { ips: '10.22.0.50' }),
      'IPK_ORDINAL_BEYOND_LIST',
      /lists 1 address \(10\.22\.0\.50\)/,
    ],
  ],
  'ordinals that start elsewhere are counted from there, where the API tells': [
    [
      'add',
      replica(7, 'c7', { owner: owned('StatefulSet', 'web', 's1', 5) }),
      '10.22.0.52',
      /candidate 2 of 3 for ordinal 7 with start 5/,
    ],
    ['add', replica(5, 'c5', { owner: owned('StatefulSet', 'web', 's1', 5) }), '10.22.0.50'],
    [
      'add',
      replica(8, 'c8', { owner: owned('StatefulSet', 'web', 's1', 5) }),
      'IPK_ORDINAL_BEYOND_LIST',
      /has ordinal 8 \(spec\.ordinals\.start 5\), but .* lists 3 addresses/,
    ],
    [
      'add',
      replica(4, 'c4', { owner: owned('StatefulSet', 'web', 's1', 5) }),
      'IPK_ORDINAL_BEYOND_LIST',
      /has ordinal 4 \(spec\.ordinals\.start 5\)/,
    ],
  ],
  'an ordinal that looks made up (web-24567) is one where the API says StatefulSet': [
    ['add', replica(24567, 'c1', { owner: owned('StatefulSet', 'web', 's1', 24566) }), '10.22.0.51'],
  ],
  'its kept addresses are for the pods that had them, never for a new one of the set': [
    ['add', { pod: 'web-1', container: 'c1', retain: 'forever' }, '10.22.0.2'],
    ['del', 'c1'],
    ['add', { pod: 'web-2', container: 'c2' }, '10.22.0.3', /lowest free/],
    ['add', { pod: 'web-24567', container: 'c3' }, '10.22.0.4', /lowest free/],
  ],
  'dual stack: the Nth of each family': [
    ['add', replica(2, 'c2', { pool: dual, ips: dualList }), '10.22.0.52,fd00:22::52'],
    [
      'add',
      replica(0, 'c0', { pool: dual, ips: '10.22.0.50-10.22.0.52' }),
      '10.22.0.50,fd00:22::2',
      /lowest free/,
    ],
    [
      'add',
      replica(1, 'c1', { pool: dual, ips: '10.22.0.50-10.22.0.52,fd00:22::50' }),
      'IPK_ORDINAL_BEYOND_LIST',
      /lists 1 address \(fd00:22::50\)/,
    ],
  ],
}

const surge =
  /^annotation ipkeeper\.io\/ips lists 10\.22\.0\.50, and its one address is taken: 10\.22\.0\.50 by shop\/api-6d4cf56db6-x2x5z .*wait until older pods of Deployment shop\/api are gone: set maxSurge 0 or strategy Recreate, or list one more address/

const deployment: Readonly<Record<string, readonly Step[]>> = {
  'each replica is a holder of its own and takes any free one': [
    ['add', copy('old', 'x2x5z', 'c1'), '10.22.0.50', /first free of 3 candidates/],
    ['add', copy('old', 'b4d5f', 'c2'), '10.22.0.51'],
    ['add', copy('old', 'g6h7j', 'c3'), '10.22.0.52'],
    [
      'add',
      copy('old', 'k8l9m', 'c4'),
      'IPK_CANDIDATES_BUSY',
      /all 3 addresses are taken: .*; wait until older pods of Deployment shop\/api are gone/,
    ],
  ],
  'an address in the middle that somebody else has is passed over': [
    ['add', { pod: 'other', container: 'x1', ip: '10.22.0.50' }, '10.22.0.50'],
    ['add', copy('old', 'x2x5z', 'c1'), '10.22.0.51', /first free/],
  ],
  'maxSurge against a list of one address: told to wait and why, and then it works': [
    ['add', copy('old', 'x2x5z', 'c1', { ips: '10.22.0.50' }), '10.22.0.50'],
    ['add', copy('new', 'b4d5f', 'c2', { ips: '10.22.0.50' }), 'IPK_CANDIDATES_BUSY', surge],
    ['leases', ['10.22.0.50 bound shop/api-6d4cf56db6-x2x5z c1']],
    ['del', 'c1'],
    ['add', copy('new', 'b4d5f', 'c2', { ips: '10.22.0.50' }), '10.22.0.50'],
  ],
  'maxSurge against an address that is reserved for the older pod: waiting for that pod does not help': [
    ['add', copy('old', 'x2x5z', 'c1', { ips: '10.22.0.50' }), '10.22.0.50'],
    ['reserve', '10.22.0.50', 'shop/api-6d4cf56db6-x2x5z'],
    [
      'add',
      copy('new', 'b4d5f', 'c2', { ips: '10.22.0.50' }),
      'IPK_CANDIDATES_TAKEN',
      /its one address is taken: 10\.22\.0\.50 reserved for shop\/api-6d4cf56db6-x2x5z; .*add addresses to the list/,
    ],
    ['del', 'c1'],
    ['add', copy('new', 'b4d5f', 'c2', { ips: '10.22.0.50' }), 'IPK_CANDIDATES_TAKEN'],
  ],
  'but it does when an older pod has another candidate': [
    ['add', copy('old', 'x2x5z', 'c1', { ips: '10.22.0.50' }), '10.22.0.50'],
    ['add', copy('old', 'g6h7j', 'c2', { ips: '10.22.0.51' }), '10.22.0.51'],
    ['reserve', '10.22.0.50', 'shop/api-6d4cf56db6-x2x5z'],
    [
      'add',
      copy('new', 'b4d5f', 'c3', { ips: '10.22.0.50-10.22.0.51' }),
      'IPK_CANDIDATES_BUSY',
      /all 2 addresses are taken: 10\.22\.0\.50 reserved for shop\/api-6d4cf56db6-x2x5z, 10\.22\.0\.51 by shop\/api-6d4cf56db6-g6h7j/,
    ],
    ['del', 'c1'],
    ['del', 'c2'],
    ['add', copy('new', 'b4d5f', 'c3', { ips: '10.22.0.50-10.22.0.51' }), '10.22.0.51'],
  ],
  'maxSurge against one exact address: the same': [
    ['add', { pod: 'api-6d4cf56db6-x2x5z', container: 'c1', ip: '10.22.0.50' }, '10.22.0.50'],
    [
      'add',
      { pod: 'api-7c8b9d5f44-b4d5f', container: 'c2', ip: '10.22.0.50' },
      'IPK_CANDIDATES_BUSY',
      /asks for 10\.22\.0\.50, which is held by shop\/api-6d4cf56db6-x2x5z .*set maxSurge 0 or strategy Recreate, or list one more address with ipkeeper\.io\/ips/,
    ],
    ['add', { pod: 'web-6d4cf56db6-x2x5z', container: 'c3', ip: '10.22.0.50' }, 'IPK_ADDRESS_HELD'],
  ],
  ...Object.fromEntries(
    (['30m', 'while-owner-exists', 'forever'] as const).map(retain => [
      `a rollout with retention ${retain}: new pods inherit what gone pods kept, in the order in which they went`,
      [
        ['add', copy('old', 'x2x5z', 'c1', { retain }), '10.22.0.50'],
        ['add', copy('old', 'b4d5f', 'c2', { retain }), '10.22.0.51'],
        ['del', 'c2'],
        [
          'leases',
          ['10.22.0.50 bound shop/api-6d4cf56db6-x2x5z c1', '10.22.0.51 held shop/api-6d4cf56db6-b4d5f -'],
        ],
        [
          'add',
          copy('new', 'g6h7j', 'c3', { retain }),
          '10.22.0.51',
          /kept for Deployment shop\/api since shop\/api-6d4cf56db6-b4d5f is gone/,
        ],
        ['del', 'c1'],
        ['add', copy('new', 'k8l9m', 'c4', { retain }), '10.22.0.50', /kept for Deployment shop\/api/],
        [
          'leases',
          ['10.22.0.50 bound shop/api-7c8b9d5f44-k8l9m c4', '10.22.0.51 bound shop/api-7c8b9d5f44-g6h7j c3'],
        ],
      ] satisfies Step[],
    ]),
  ),
  'the same without a list': [
    ['add', { pod: 'api-6d4cf56db6-x2x5z', container: 'c1', retain: 'forever' }, '10.22.0.2'],
    ['del', 'c1'],
    ['add', { pod: 'other', container: 'x1' }, '10.22.0.3', /lowest free/],
    [
      'add',
      { pod: 'api-7c8b9d5f44-b4d5f', container: 'c2' },
      '10.22.0.2',
      /kept for Deployment shop\/api since/,
    ],
    ['leases', ['10.22.0.2 bound shop/api-7c8b9d5f44-b4d5f c2', '10.22.0.3 bound shop/other x1']],
  ],
  'and by exact request': [
    [
      'add',
      { pod: 'api-6d4cf56db6-x2x5z', container: 'c1', ip: '10.22.0.50', retain: 'forever' },
      '10.22.0.50',
    ],
    ['del', 'c1'],
    ['add', { pod: 'web-6d4cf56db6-x2x5z', container: 'x1', ip: '10.22.0.50' }, 'IPK_ADDRESS_HELD'],
    ['add', { pod: 'api-7c8b9d5f44-b4d5f', container: 'c2', ip: '10.22.0.50' }, '10.22.0.50'],
  ],
  'a new sandbox of the same pod has its own before any other': [
    ['add', copy('old', 'x2x5z', 'c1', { uid: 'u1', retain: 'forever' }), '10.22.0.50'],
    ['add', copy('old', 'b4d5f', 'c2', { uid: 'u2', retain: 'forever' }), '10.22.0.51'],
    ['del', 'c1'],
    [
      'add',
      copy('old', 'b4d5f', 'c3', { uid: 'u2', retain: 'forever' }),
      '10.22.0.51',
      /the one this pod had/,
    ],
  ],
  'same names in another namespace do not inherit': [
    ['add', { pod: 'api-6d4cf56db6-x2x5z', container: 'c1', retain: 'forever' }, '10.22.0.2'],
    ['del', 'c1'],
    ['add', { pod: 'api-6d4cf56db6-b4d5f', namespace: 'other', container: 'c2' }, '10.22.0.3', /lowest free/],
  ],
  'nor does another workload with a name that begins alike, nor one that was made anew': [
    [
      'add',
      {
        pod: 'api-6d4cf56db6-x2x5z',
        container: 'c1',
        retain: 'forever',
        owner: owned('Deployment', 'api', 'd1'),
      },
      '10.22.0.2',
    ],
    ['del', 'c1'],
    ['add', { pod: 'api-v2-6d4cf56db6-b4d5f', container: 'c2' }, '10.22.0.3'],
    [
      'add',
      { pod: 'api-6d4cf56db6-g6h7j', container: 'c3', owner: owned('Deployment', 'api', 'd2') },
      '10.22.0.4',
    ],
    ['add', { pod: 'api-k8l9m', container: 'c4', owner: owned('DaemonSet', 'api', 'd3') }, '10.22.0.5'],
    ['add', { pod: 'api-0', container: 'c5' }, '10.22.0.6'],
    [
      'add',
      { pod: 'api-6d4cf56db6-p2q4r', container: 'c6', owner: owned('Deployment', 'api', 'd1') },
      '10.22.0.2',
      /kept for Deployment/,
    ],
  ],
  'nor a pod of another controller whose names come back': [
    ['add', { pod: 'kafka-x2x5z', container: 'c1', retain: 'forever' }, '10.22.0.2'],
    ['del', 'c1'],
    [
      'add',
      { pod: 'kafka-0', container: 'c2', owner: owned('StrimziPodSet', 'kafka') },
      '10.22.0.3',
      /lowest free/,
    ],
    ['add', { pod: 'kafka-b4d5f', container: 'c3' }, '10.22.0.2', /kept for workload shop\/kafka/],
  ],
  'a pod whose long name was cut inherits where the API says who made it': [
    [
      'add',
      {
        pod: 'a-very-long-name-6d4cf5x2x5z',
        container: 'c1',
        retain: 'forever',
        owner: owned('Deployment', 'a-very-long-name'),
      },
      '10.22.0.2',
    ],
    ['del', 'c1'],
    [
      'add',
      {
        pod: 'a-very-long-name-7c8b9dk4l5m',
        container: 'c2',
        owner: owned('Deployment', 'a-very-long-name'),
      },
      '10.22.0.2',
      /kept for Deployment/,
    ],
  ],
  'dual stack is inherited whole, and given back whole when a family is full': [
    [
      'add',
      copy('old', 'x2x5z', 'c1', { pool: dual, ips: dualList, retain: 'forever' }),
      '10.22.0.50,fd00:22::50',
    ],
    ['del', 'c1'],
    [
      'add',
      copy('new', 'b4d5f', 'c2', { pool: dual, ips: dualList, retain: 'forever' }),
      '10.22.0.50,fd00:22::50',
    ],
    [
      'leases',
      ['10.22.0.50 bound shop/api-7c8b9d5f44-b4d5f c2', 'fd00:22::50 bound shop/api-7c8b9d5f44-b4d5f c2'],
    ],
  ],
  'dual stack: pairs stay together where they can': [
    [
      'add',
      { pod: 'other', container: 'x1', pool: dual, ip: '10.22.0.50,fd00:22::99' },
      '10.22.0.50,fd00:22::99',
    ],
    [
      'add',
      copy('old', 'x2x5z', 'c1', { pool: dual, ips: dualList }),
      '10.22.0.51,fd00:22::51',
      /the one beside that of the other family/,
    ],
    ['add', copy('old', 'b4d5f', 'c2', { pool: dual, ips: dualList }), '10.22.0.52,fd00:22::52'],
    ['add', { pod: 'another', container: 'x2', pool: dual, ip: 'fd00:22::50' }, '10.22.0.2,fd00:22::50'],
  ],
}

const others: Readonly<Record<string, readonly Step[]>> = {
  'a DaemonSet takes any free one of its list on each node': [
    ['add', { pod: 'agent-x2x5z', container: 'c1', ips: three, node: 'n1' }, '10.22.0.50', /first free/],
    ['add', { pod: 'agent-b4d5f', container: 'c2', ips: three, node: 'n2' }, '10.22.0.51'],
    [
      'add',
      { pod: 'agent-g6h7j', container: 'c3', ips: three, node: 'n3', owner: owned('DaemonSet', 'agent') },
      '10.22.0.52',
    ],
    [
      'add',
      { pod: 'agent-k8l9m', container: 'c4', ips: three, node: 'n4' },
      'IPK_CANDIDATES_BUSY',
      /wait until older pods of workload shop\/agent are gone/,
    ],
    ['del', 'c2'],
    ['add', { pod: 'agent-k8l9m', container: 'c4', ips: three, node: 'n4' }, '10.22.0.51'],
  ],
  'a Job takes any free one, also an indexed one, and is told to list one per pod': [
    [
      'add',
      { pod: 'import-x2x5z', container: 'c1', ips: three, owner: owned('Job', 'import') },
      '10.22.0.50',
    ],
    [
      'add',
      { pod: 'import-1-b4d5f', container: 'c2', ips: three, owner: owned('Job', 'import') },
      '10.22.0.51',
    ],
    [
      'add',
      { pod: 'import-g6h7j', container: 'c3', ips: '10.22.0.50', owner: owned('Job', 'import') },
      'IPK_CANDIDATES_BUSY',
      /wait until older pods of Job shop\/import are gone, or list one address per pod/,
    ],
  ],
  'runs of a CronJob inherit what is kept, where the API tells that they are one workload': [
    [
      'add',
      {
        pod: 'nightly-29123456-x2x5z',
        container: 'c1',
        retain: 'forever',
        owner: owned('CronJob', 'nightly'),
      },
      '10.22.0.2',
    ],
    ['del', 'c1'],
    [
      'add',
      { pod: 'nightly-29124896-b4d5f', container: 'c2', owner: owned('CronJob', 'nightly') },
      '10.22.0.2',
      /kept for CronJob shop\/nightly/,
    ],
  ],
}

const interfaces: Readonly<Record<string, readonly Step[]>> = {
  'dual stack is all or nothing: one family full, and nothing is kept of the other': [
    [
      'add',
      { pod: 'a', container: 'c1', pool: poolFrom('net', ['10.22.0.0/29'], ['fd00:22::/126']) },
      '10.22.0.2,fd00:22::2',
    ],
    [
      'add',
      { pod: 'b', container: 'c2', pool: poolFrom('net', ['10.22.0.0/29'], ['fd00:22::/126']) },
      '10.22.0.3,fd00:22::3',
    ],
    [
      'add',
      { pod: 'c', container: 'c3', pool: poolFrom('net', ['10.22.0.0/29'], ['fd00:22::/126']) },
      'IPK_POOL_FULL',
      /failed to allocate for range 1: no IP addresses available in range set: fd00:22::1-fd00:22::3; pool net is full: 2 addresses, 2 in use, 0 kept or reserved/,
    ],
    [
      'leases',
      [
        '10.22.0.2 bound shop/a c1',
        '10.22.0.3 bound shop/b c2',
        'fd00:22::2 bound shop/a c1',
        'fd00:22::3 bound shop/b c2',
      ],
    ],
  ],
  'one family is in the way: neither is moved, and the older address stays kept': [
    [
      'add',
      { pod: 'a', container: 'c1', pool: dual, ip: '10.22.0.50,fd00:22::50', retain: 'forever' },
      '10.22.0.50,fd00:22::50',
    ],
    ['del', 'c1'],
    ['add', { pod: 'b', container: 'c2', pool: dual, ip: 'fd00:22::60' }, '10.22.0.2,fd00:22::60'],
    [
      'add',
      { pod: 'a', container: 'c3', pool: dual, ip: '10.22.0.51,fd00:22::60' },
      'IPK_ADDRESS_HELD',
      /held by shop\/b/,
    ],
    [
      'leases',
      [
        '10.22.0.2 bound shop/b c2',
        '10.22.0.50 held shop/a -',
        'fd00:22::50 held shop/a -',
        'fd00:22::60 bound shop/b c2',
      ],
    ],
  ],
  'several interfaces and networks of one pod are holders of their own': [
    ['add', { pod: 'a', container: 'c1', ip: '10.22.0.50', retain: 'forever' }, '10.22.0.50'],
    ['add', { pod: 'a', container: 'c1', ifname: 'net1' }, '10.22.0.2'],
    [
      'add',
      {
        pod: 'a',
        container: 'c1',
        ifname: 'net2',
        network: 'storage',
        pool: poolFrom('storage', ['10.44.0.0/24']),
      },
      '10.44.0.2',
    ],
    ['add', { pod: 'a', container: 'c1', ifname: 'net1' }, 'IPK_ALREADY_ADDED'],
    ['del', 'c1', 'net2', 'storage'],
    ['del', 'c1', 'net1'],
    ['del', 'c1'],
    ['leases', ['10.22.0.2 cooling shop/a -', '10.22.0.50 held shop/a -', '10.44.0.2 cooling shop/a -']],
    ['add', { pod: 'a', container: 'c2', ifname: 'net1' }, '10.22.0.3', /lowest free/],
    ['add', { pod: 'a', container: 'c2' }, '10.22.0.50', /kept for shop\/a/],
  ],
  'interfaces do not inherit from each other': [
    ['add', { pod: 'api-6d4cf56db6-x2x5z', container: 'c1', ifname: 'net1', retain: 'forever' }, '10.22.0.2'],
    ['del', 'c1', 'net1'],
    ['add', { pod: 'api-6d4cf56db6-b4d5f', container: 'c2' }, '10.22.0.3', /lowest free/],
    [
      'add',
      { pod: 'api-6d4cf56db6-b4d5f', container: 'c2', ifname: 'net1' },
      '10.22.0.2',
      /kept for Deployment/,
    ],
  ],
}

/** A pod of Deployment api that asks for no address. */
const plain = (suffix: string, container: string, patch: Partial<PodWords> = {}): PodWords => ({
  pod: `api-${hashes.old}-${suffix}`,
  container,
  ...patch,
})
/** One that asks for 10.22.0.50 by name. */
const single = (suffix: string, container: string, patch: Partial<PodWords> = {}): PodWords =>
  plain(suffix, container, { ip: '10.22.0.50', ...patch })

const takesOver =
  /Deployment shop\/api takes it over from shop\/api-6d4cf56db6-x2x5z on node n2: the old sandbox is dead/

/** Pods that are on node n2, which is lost, and those that come after them on n1. */
const lost: Readonly<Record<string, readonly Step[]>> = {
  ...Object.fromEntries(
    (['out-of-service', 'gone'] as const).map(state => [
      `the next pod of a Deployment has its address once the API says that the node is ${state}`,
      [
        ['add', single('x2x5z', 'c1', { node: 'n2' }), '10.22.0.50'],
        ['node', 'n2', 'present'],
        ['add', single('b4d5f', 'c2'), 'IPK_CANDIDATES_BUSY'],
        ['node', 'n2', 'unknown'],
        ['add', single('b4d5f', 'c2'), 'IPK_CANDIDATES_BUSY'],
        ['node', 'n2', state],
        ['add', single('b4d5f', 'c2'), '10.22.0.50', takesOver],
        ['leases', ['10.22.0.50 bound shop/api-6d4cf56db6-b4d5f c2']],
        ['node', 'n2', 'present'],
        ['add', single('x2x5z', 'c1b', { node: 'n2' }), 'IPK_CANDIDATES_BUSY'],
        ['del', 'c1'],
        ['leases', ['10.22.0.50 bound shop/api-6d4cf56db6-b4d5f c2']],
        ['del', 'c2'],
        ['add', single('g6h7j', 'c3'), '10.22.0.50'],
      ] satisfies Step[],
    ]),
  ),
  ...Object.fromEntries(
    ['ReplicaSet', 'DaemonSet', 'Job', 'CronJob', 'ReplicationController'].map(kind => [
      `likewise of a ${kind}`,
      [
        ['add', single('x2x5z', 'c1', { node: 'n2', owner: owned(kind, 'api') }), '10.22.0.50'],
        ['node', 'n2', 'out-of-service'],
        ['add', single('b4d5f', 'c2', { owner: owned(kind, 'api', 'made-anew') }), 'IPK_ADDRESS_HELD'],
        ['add', single('b4d5f', 'c2', { owner: owned(kind, 'api') }), '10.22.0.50'],
      ] satisfies Step[],
    ]),
  ),
  'nobody else has it: not another workload, nor a bare pod, nor another pod of a StatefulSet': [
    ['add', single('x2x5z', 'c1', { node: 'n2' }), '10.22.0.50'],
    ['add', { pod: 'db-1', container: 'c4', ip: '10.22.0.51', node: 'n2' }, '10.22.0.51'],
    ['node', 'n2', 'out-of-service'],
    ['add', single('b4d5f', 'c2', { namespace: 'other' }), 'IPK_ADDRESS_HELD'],
    ['add', { pod: 'web-6d4cf56db6-b4d5f', container: 'c2', ip: '10.22.0.50' }, 'IPK_ADDRESS_HELD'],
    ['add', { pod: 'api', container: 'c2', ip: '10.22.0.50' }, 'IPK_ADDRESS_HELD'],
    ['add', { pod: 'db-2', container: 'c2', ip: '10.22.0.51' }, 'IPK_ADDRESS_HELD'],
    ['add', single('b4d5f', 'c2', { ifname: 'net1' }), 'IPK_ADDRESS_HELD'],
    ['leases', ['10.22.0.50 bound shop/api-6d4cf56db6-x2x5z c1', '10.22.0.51 bound shop/db-1 c4']],
  ],
  'of a list the free ones come first, then what rests, then what was left': [
    ['add', copy('old', 'x2x5z', 'c1', { node: 'n2' }), '10.22.0.50'],
    ['add', copy('old', 'g6h7j', 'c2'), '10.22.0.51'],
    ['del', 'c2'],
    ['node', 'n2', 'out-of-service'],
    ['add', copy('old', 'b4d5f', 'c3'), '10.22.0.52', /first free of 3/],
    ['add', copy('old', 'k8l9m', 'c4'), '10.22.0.51', /only cooling down/],
    ['add', copy('old', 'p2q4r', 'c5'), '10.22.0.50', takesOver],
    ['add', copy('old', 's5t6v', 'c6'), 'IPK_CANDIDATES_BUSY'],
  ],
  'but what would be kept for the workload comes before those': [
    ['add', copy('old', 'x2x5z', 'c1', { node: 'n2', retain: '30m' }), '10.22.0.50'],
    ['node', 'n2', 'out-of-service'],
    ['add', copy('old', 'b4d5f', 'c3', { retain: '30m' }), '10.22.0.50', takesOver],
  ],
  'an address that nobody asked for and that is kept follows as well': [
    ['add', plain('x2x5z', 'c1', { node: 'n2', retain: 'forever' }), '10.22.0.2'],
    ['add', plain('b4d5f', 'c2', { retain: 'forever' }), '10.22.0.3', /lowest free/],
    ['node', 'n2', 'out-of-service'],
    ['add', plain('g6h7j', 'c3', { retain: 'forever' }), '10.22.0.2', takesOver],
  ],
  'one that is not kept does not: a purely dynamic pod gets a fresh one': [
    ['add', plain('x2x5z', 'c1', { node: 'n2' }), '10.22.0.2'],
    ['node', 'n2', 'out-of-service'],
    ['add', plain('b4d5f', 'c2'), '10.22.0.3', /lowest free/],
    [
      'leases',
      ['10.22.0.2 bound shop/api-6d4cf56db6-x2x5z c1', '10.22.0.3 bound shop/api-6d4cf56db6-b4d5f c2'],
    ],
  ],
  'one that is reserved for the workload': [
    ['reserve', '10.22.0.9', 'shop/deployment/api'],
    ['add', plain('x2x5z', 'c1', { node: 'n2' }), '10.22.0.9'],
    ['node', 'n2', 'out-of-service'],
    ['add', plain('b4d5f', 'c2'), '10.22.0.9', /reserved for this workload/],
  ],
  'one that is reserved for somebody else': [
    ['add', single('x2x5z', 'c1', { node: 'n2' }), '10.22.0.50'],
    ['reserve', '10.22.0.50', 'shop/api-6d4cf56db6-x2x5z'],
    ['node', 'n2', 'out-of-service'],
    ['add', single('b4d5f', 'c2'), 'IPK_ADDRESS_RESERVED'],
  ],
  'of two families the one that is asked for; the other stays until its DEL': [
    [
      'add',
      single('x2x5z', 'c1', { node: 'n2', pool: dual, ip: '10.22.0.50,fd00:22::50' }),
      '10.22.0.50,fd00:22::50',
    ],
    ['node', 'n2', 'out-of-service'],
    ['add', single('b4d5f', 'c2', { pool: dual }), '10.22.0.50,fd00:22::2'],
    ['del', 'c1'],
    [
      'leases',
      [
        '10.22.0.50 bound shop/api-6d4cf56db6-b4d5f c2',
        'fd00:22::2 bound shop/api-6d4cf56db6-b4d5f c2',
        'fd00:22::50 cooling shop/api-6d4cf56db6-x2x5z -',
      ],
    ],
  ],
  'on the node itself as soon as its namespace is gone, DEL or not; and over a restart': [
    ['add', single('x2x5z', 'c1'), '10.22.0.50'],
    ['add', single('b4d5f', 'c2'), 'IPK_CANDIDATES_BUSY'],
    ['netns', 'c1', 'gone'],
    ['restart'],
    ['add', single('b4d5f', 'c2'), '10.22.0.50', /takes it over from shop\/api-6d4cf56db6-x2x5z on node n1/],
    ['restart'],
    ['del', 'c1'],
    ['leases', ['10.22.0.50 bound shop/api-6d4cf56db6-b4d5f c2']],
  ],
}

tellStories(t, { ...bare, ...statefulSet, ...deployment, ...others, ...interfaces, ...lost })
