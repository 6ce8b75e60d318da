import t from 'tap'
import { suspectAddresses, suspectOwnAddresses } from '../../../ipkeeper-server/reconcile/plan-addresses.ts'
import type { SeenPod } from '../../../ipkeeper-server/reconcile/plan-snapshot.ts'
import { attachment, pod, snapshot, type AttachmentWords } from './snapshot-words.ts'
import { OwnAddresses } from '../../../ipkeeper-server/ipam/pools/own-addresses.ts'

const [v4, other4, v6, other6] = ['10.22.0.5', '10.22.0.6', 'fd00:22::5', 'fd00:22::6']
const at = (...addresses: readonly string[]): SeenPod => pod('web-0', { addresses })

const table: readonly (readonly [
  what: string,
  of: Partial<AttachmentWords>,
  api: SeenPod | undefined,
  says: RegExp | undefined,
])[] = [
  ['nobody looked', {}, undefined, undefined],
  ['the kernel agrees', { kernel: ['10.22.0.5/16'] }, undefined, undefined],
  ['the kernel has more', { kernel: ['10.22.0.5/16', '192.0.2.1/32'] }, undefined, undefined],
  [
    'the kernel has another one',
    { kernel: ['10.22.0.6/16'] },
    undefined,
    /lease is 10\.22\.0\.5\/16.*kernel has 10\.22\.0\.6\/16/,
  ],
  ['the kernel has another prefix', { kernel: ['10.22.0.5/24'] }, undefined, /kernel has 10\.22\.0\.5\/24/],
  ['the kernel has nothing', { kernel: [] }, undefined, /kernel has nothing/],
  [
    'the kernel has one of two',
    { addresses: [v4, v6], kernel: ['10.22.0.5/16'] },
    undefined,
    /lease is fd00:22::5\/64/,
  ],
  ['the API agrees', {}, at(v4), undefined],
  ['the API reports nothing yet', {}, at(), undefined],
  [
    'the API reports another one',
    {},
    at(other4),
    /lease is 10\.22\.0\.5, the Kubernetes API reports 10\.22\.0\.6/,
  ],
  ['both families agree', { addresses: [v4, v6] }, at(v4, v6), undefined],
  ['one family is reported', { addresses: [v4, v6] }, at(v6), undefined],
  [
    'one family differs',
    { addresses: [v4, v6] },
    at(v4, other6),
    /lease is fd00:22::5, .* reports fd00:22::6/,
  ],
  ['one of two of a family is reported', { addresses: [v4, other4] }, at(other4), undefined],
  ['another plugin gave the other family', {}, at(v4, v6), undefined],
  ['another UID', { uid: 'old' }, at(other4), undefined],
  ['no UID', { uid: null }, at(other4), undefined],
  ['a second interface', { ifname: 'net1' }, at(other4), undefined],
  ['the pod is being deleted', {}, pod('web-0', { addresses: [other4], deleting: true }), undefined],
  ['its sandbox is dead', { death: 'namespace', kernel: [] }, at(other4), undefined],
  ['an older sandbox', { current: false, kernel: [] }, at(other4), undefined],
  ['without leases', { addresses: [], kernel: [] }, at(other4), undefined],
]

for (const [what, of, api, says] of table) {
  t.test(what, t => {
    const seen = attachment({ id: 'c1', pod: 'web-0', addresses: [v4], ...of })
    const pods =
      api === undefined ? ({ state: 'later' } as const) : ({ state: 'asked', found: [api] } as const)
    const found = suspectAddresses(snapshot({ attachments: [seen], pods }))
    t.equal(found.length, says === undefined ? 0 : 1)
    for (const one of found) {
      t.match(one, { kind: 'ip-differs', action: { kind: 'none' }, certainty: { by: 'absence' } })
      t.match(one.says, says)
      t.match(one.remedy, /kubectl delete pod -n shop web-0/)
    }
    t.end()
  })
}

t.test('of a container without a pod', t => {
  const seen = attachment({ id: 'c1', pod: null, kernel: [] })
  t.match(suspectAddresses(snapshot({ attachments: [seen] })), [{ remedy: 'recreate the container' }])
  t.end()
})

t.test('of an allocation of Nomad', t => {
  const seen = attachment({ id: 'c1', pod: 'web.cache[0]', kernel: [] })
  const remedy = 'recreate the pod: nomad alloc stop -namespace shop c1'
  t.match(suspectAddresses(snapshot({ attachments: [seen] })), [{ remedy }])
  t.end()
})

const addresses = ['10.22.0.5', 'fd00:22::5']

for (const [what, own, of, says] of [
  ['none of them', ['10.22.0.6/24 eth0'], {}, undefined],
  [
    'one',
    ['10.22.0.5/24 eth0'],
    {},
    /^shop\/web-0 \(.*\) has 10\.22\.0\.5, which the node also has, on link eth0$/,
  ],
  [
    'both',
    ['10.22.0.5/24 eth0', 'fd00:22::5/128 lo'],
    {},
    /has 10\.22\.0\.5, fd00:22::5, .* on link eth0, lo$/,
  ],
  ['of a dead sandbox', ['10.22.0.5/24 eth0'], { death: 'namespace' }, undefined],
] as readonly (readonly [string, readonly string[], Partial<AttachmentWords>, RegExp | undefined])[]) {
  t.test(what, t => {
    const seen = attachment({ id: 'c1', pod: 'web-0', addresses, ...of })
    const entries = own.map(entry => {
      const [cidr = '', link = ''] = entry.split(' ')
      return { cidr, link }
    })
    const found = suspectOwnAddresses({
      ...snapshot({ attachments: [seen] }),
      own: new OwnAddresses(entries),
    })
    t.equal(found.length, says ? 1 : 0)
    if (says) {
      t.match(found[0], { kind: 'address-on-node', says, about: { pod: 'shop/web-0' } })
      t.match(found[0]?.remedy, 'ip address delete 10.22.0.5/24 dev eth0')
    }
    t.end()
  })
}

t.test('where nobody looks', t => {
  t.same(suspectOwnAddresses(snapshot({ attachments: [attachment({ id: 'c1' })] })), [])
  t.end()
})
