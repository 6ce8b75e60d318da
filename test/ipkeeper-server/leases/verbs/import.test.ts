import t from 'tap'
import { importAllocations } from '../../../../ipkeeper-server/leases/verbs/import.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import type { NetnsState } from '../../../../ipkeeper-server/ipam/records/standing.ts'
import type { FoundAllocation, ImportRequest } from '../../../../shared/api/import.schema.ts'
import { poolFrom, TestService } from '../test-service.ts'

const networks: ImportRequest['networks'] = [
  {
    cniVersion: '1.0.0',
    name: 'net',
    ipam: {
      type: 'ipkeeper',
      ranges: [[{ subnet: '10.22.0.0/24', exclude: ['10.22.0.100'] }], [{ subnet: 'fd00:22::/64' }]],
    },
  },
]

const base: FoundAllocation = {
  origin: 'here',
  address: '10.22.0.50',
  network: 'net',
  containerId: 'new',
  ifname: 'eth0',
  pod: { namespace: 'shop', name: 'web-9', uid: 'u9' },
  ...{ node: null, mac: null, netns: null, since: null, keeps: false, runtime: 'listed' },
}

/** What is in the ledger before: web-0 in c0 has .2, db-0 keeps .3, .60 is reserved for db-7, gone has let .4 go. */
async function begin(): Promise<TestService> {
  const story = await TestService.open()
  story.pool = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64'])
  await story.add({ pod: 'web-0', container: 'c0' })
  await story.add({ pod: 'db-0', container: 'd0', retain: 'forever' })
  await story.add({ pod: 'gone', container: 'g0' })
  await story.del('d0')
  await story.del('g0')
  await reserve(story.service, { segment: 'default', address: '10.22.0.60', owner: 'shop/db-7', note: '' })
  return story
}

const namespaceAt = (path: string): NetnsState => {
  if (path === '/run/netns/alive') return { kind: 'namespace', inode: '7' }
  if (path === '/run/netns/hidden') return { kind: 'unreadable', reason: 'EACCES' }
  return path === '/run/netns/file' ? { kind: 'not-a-namespace' } : { kind: 'absent' }
}

async function run(
  story: TestService,
  found: readonly FoundAllocation[],
  more: Partial<ImportRequest> = {},
): Promise<
  readonly {
    readonly verdict: string
    readonly reason: string
    readonly hint: string
    readonly as: string | null
  }[]
> {
  const request: ImportRequest = { source: 'host-local', apply: true, networks, found: [...found], ...more }
  // The pool of the ledger came with the ADDs of another conflist.
  story.pool = poolFrom('net', ['10.22.0.0/24'])
  return (await importAllocations(story.service, { namespaceAt, reachNetns }, request)).items
}

const reachNetns = (): Promise<void> => Promise.resolve()

t.test('what becomes of one allocation', async t => {
  const rows: readonly (readonly [
    what: string,
    found: Partial<FoundAllocation>,
    verdict: string,
    reason: RegExp,
    hint: RegExp,
    more?: Partial<ImportRequest>,
  ])[] = [
    ['a free address', {}, 'adopt', /^bound to container new of shop\/web-9$/, /^$/],
    ['one that rests', { address: '10.22.0.4' }, 'adopt', /^bound to/, /^$/],
    ['without a pod', { pod: null }, 'adopt', /^bound to container new$/, /^$/],
    ['its namespace lives', { netns: '/run/netns/alive', runtime: 'cached' }, 'adopt', /^bound/, /^$/],
    ['no interface is told', { ifname: null }, 'adopt', /^bound/, /^$/],
    ['for nobody who runs', { containerId: null, keeps: true }, 'adopt', /^kept for shop\/web-9$/, /^$/],
    [
      'what its holder keeps',
      { address: '10.22.0.3', pod: { namespace: 'shop', name: 'db-0', uid: 'x' } },
      'conflict',
      /keeps fd00:22::3 already/,
      /release fd00:22::3/,
    ],
    [
      'reserved for it',
      { address: '10.22.0.60', pod: { namespace: 'shop', name: 'db-7', uid: null } },
      'adopt',
      /^bound/,
      /^$/,
    ],
    [
      'reserved for another',
      { address: '10.22.0.60' },
      'conflict',
      /^it is reserved for shop\/db-7$/,
      /unreserve 10\.22\.0\.60/,
    ],
    [
      'in this container already',
      { address: '10.22.0.2', containerId: 'c0', pod: null },
      'ours',
      /bound to this container/,
      /^$/,
    ],
    [
      'of its pod in a newer one',
      { address: '10.22.0.2', pod: { namespace: 'shop', name: 'web-0', uid: null } },
      'ours',
      /shop\/web-0 has it/,
      /^$/,
    ],
    [
      "somebody else's",
      { address: '10.22.0.2' },
      'conflict',
      /^it is bound to shop\/web-0 on node n1 since /,
      /who 10\.22\.0\.2/,
    ],
    [
      'kept for somebody else',
      { address: '10.22.0.3' },
      'conflict',
      /^it is kept for shop\/db-0/,
      /who 10\.22\.0\.3/,
    ],
    [
      'a second one of its range',
      { address: '10.22.0.51', containerId: 'c0', pod: { namespace: 'shop', name: 'web-0', uid: null } },
      'conflict',
      /its container has 10\.22\.0\.2 of the same ranges/,
      /delete the pod/,
    ],
    [
      'a container of another pod',
      { address: '10.22.0.51', containerId: 'c0' },
      'conflict',
      /container c0 is known as shop\/web-0/,
      /who/,
    ],
    [
      'the gateway',
      { address: '10.22.0.1' },
      'unfit',
      /in pool net it is the gateway of 10\.22\.0\.0\/24/,
      /change the ranges/,
    ],
    ['excluded', { address: '10.22.0.100' }, 'unfit', /in pool net it is excluded/, /change the ranges/],
    ['of no pool', { address: '10.99.0.1' }, 'unfit', /no pool of segment default has it/, /--subnet CIDR/],
    ['no address', { address: 'none' }, 'unfit', /"none" is no IP address/, /^$/],
    [
      'of no network',
      { network: null, address: '10.99.0.1' },
      'unfit',
      /its network is not known/,
      /--network NAME/,
    ],
    ['of the only network that has it', { network: null }, 'adopt', /^bound/, /^$/],
    ['of nobody', { containerId: null, pod: null }, 'unfit', /its holder is not known/, /^$/],
    [
      'a container ID that is none',
      { containerId: '../x' },
      'unfit',
      /invalid characters in containerID/,
      /^$/,
    ],
    [
      'its namespace is gone',
      { netns: '/run/netns/x', runtime: 'cached' },
      'gone',
      /its namespace \/run\/netns\/x is gone/,
      /^$/,
    ],
    ['listed, and its namespace not seen', { netns: '/run/netns/x' }, 'adopt', /^bound/, /^$/],
    [
      'its namespace cannot be read',
      { netns: '/run/netns/hidden', runtime: 'cached' },
      'unfit',
      /^cannot determine whether its container is running: .* at \/run\/netns\/hidden \(EACCES\)/,
      /let the daemon see it.* remove here/,
    ],
    [
      'a file is in the place of its namespace',
      { netns: '/run/netns/file', runtime: 'cached' },
      'unfit',
      /^cannot determine whether/,
      /let the daemon see it/,
    ],
    [
      'the process of its namespace is not seen',
      { netns: '/proc/4711/ns/net', runtime: 'cached' },
      'unfit',
      /^cannot determine whether/,
      /let the daemon see it/,
    ],
    ['listed, and its namespace cannot be read', { netns: '/run/netns/hidden' }, 'adopt', /^bound/, /^$/],
    [
      'no runtime lists it, which may be none of theirs',
      { runtime: 'absent', pod: null },
      'unfit',
      /^cannot determine whether it is running: no runtime of this node lists container new/,
      /nerdctl ps.* remove here/,
    ],
    [
      'no runtime lists it',
      { runtime: 'absent' },
      'gone',
      /no runtime of this node lists container new/,
      /^$/,
    ],
    ['of another node', { node: 'n2' }, 'elsewhere', /it is of node n2/, /run the same command there/],
    ['no runtime could be asked', { runtime: 'unknown' }, 'adopt', /^bound/, /^$/],
    [
      'the same, of the whole cluster',
      { runtime: 'unknown' },
      'unfit',
      /nothing is known of its container on this node/,
      /runtime/,
      { source: 'calico' },
    ],
    [
      'ranges that cannot be read',
      { address: '10.98.0.1', network: 'odd' },
      'unfit',
      /invalid CIDR/,
      /./,
      { networks: [{ name: 'odd', cniVersion: '1.0.0', ipam: { subnet: 'x' } }] },
    ],
    ['ranges that overlap others', { address: '10.22.0.70', network: 'two' }, 'adopt', /^bound/, /^$/],
  ]
  for (const [what, found, verdict, reason, hint, more] of rows) {
    const [item] = await run(await begin(), [{ ...base, ...found }], more)
    t.equal(item?.verdict, verdict, `${what}: ${item?.reason ?? ''}`)
    t.match(item?.reason, reason, what)
    t.match(item?.hint, hint, what)
    t.equal(item?.as === null, verdict !== 'adopt', what)
  }
})

t.test('two claims of one address are both in conflict; one that is gone claims nothing', async t => {
  const other = { ...base, origin: 'there', containerId: 'other', pod: null }
  const both = await run(await begin(), [base, other])
  t.same(
    both.map(({ verdict }) => verdict),
    ['conflict', 'conflict'],
  )
  t.match(both[0]?.reason, /another one claims it: there/)
  const web8 = { namespace: 'shop', name: 'web-8', uid: null }
  const one = await run(await begin(), [base, { ...other, pod: web8, runtime: 'absent' }])
  t.same(
    one.map(({ verdict }) => verdict),
    ['adopt', 'gone'],
  )
  const unseen = await run(await begin(), [base, { ...other, netns: '/run/netns/hidden', runtime: 'cached' }])
  t.same(
    unseen.map(({ verdict }) => verdict),
    ['conflict', 'unfit'],
    'one of which nothing can be told may live',
  )
})

t.test('the newest sandbox of a pod is the one that has what the pod has', async t => {
  const story = await begin()
  const old = { ...base, address: '10.22.0.51', containerId: 'old', since: 1000 }
  await run(story, [old, { ...base, since: 2000 }])
  t.match(
    story.service.ledger.holder({
      kind: 'pod',
      network: 'net',
      namespace: 'shop',
      name: 'web-9',
      ifname: 'eth0',
    }),
    {
      attachment: { containerId: 'new' },
      leases: [{ address: '10.22.0.50' }],
    },
  )
  await story.del('old')
  await story.del('new')
  t.ok(
    [...story.service.ledger.leases()].every(
      ({ state, source }) => !source.startsWith('import') || state === 'cooling',
    ),
  )
})

t.test('retention: as asked, else as found, else as the pool says', async t => {
  const rows = [
    [{}, {}, 'release'],
    [{ keeps: true }, {}, 'while-owner-exists'],
    [{ keeps: true }, { retain: 'release' }, 'release'],
    [{}, { retain: '30m' }, { milliseconds: 1_800_000 }],
  ] as const
  for (const [found, more, expected] of rows) {
    const story = await begin()
    await run(story, [{ ...base, ...found }], more)
    t.same(story.service.ledger.lease({ segment: 'default', address: '10.22.0.50' })?.retain, expected)
  }
  await t.rejects(run(await begin(), [base], { retain: 'for ever' }), { code: 'IPK_REQUEST_INVALID' })
  await t.rejects(run(await begin(), [base], { segment: 'A B' }), { code: 'IPK_REQUEST_INVALID' })
})

t.test('one address of a range set is kept for a pod, however often it is imported', async t => {
  const kept = { ...base, containerId: null, keeps: true }
  const db0 = { namespace: 'shop', name: 'db-0', uid: null }
  const rows = [
    [{ ...kept, address: '10.22.0.71' }, ['adopt', 'ours'], /./],
    [
      { ...kept, address: '10.22.0.72' },
      ['conflict', 'conflict'],
      /^shop\/web-9 keeps 10\.22\.0\.71 of the same ranges of pool net$/,
    ],
    [{ ...kept, address: 'fd00:22::71' }, ['adopt', 'ours'], /./],
    [{ ...kept, pod: db0, address: '10.22.0.3' }, ['ours', 'ours'], /./],
    [
      { ...kept, pod: db0, address: '10.22.0.73' },
      ['conflict', 'conflict'],
      /^shop\/db-0 keeps 10\.22\.0\.3 of/,
    ],
  ] as const
  const story = await begin()
  const found = rows.map(([one]) => one)
  const first = await run(story, found)
  const second = await run(story, found)
  for (const [index, [{ address }, verdicts, reason]] of rows.entries()) {
    t.strictSame([first[index]?.verdict, second[index]?.verdict], verdicts, address)
    t.match(second[index]?.reason, reason, address)
  }
  t.match(second[1]?.hint, /ipkeeperctl release 10\.22\.0\.71,/)
})
