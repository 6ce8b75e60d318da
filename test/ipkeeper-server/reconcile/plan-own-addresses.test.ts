import t from 'tap'
import { OwnAddresses } from '../../../ipkeeper-server/ipam/pools/own-addresses.ts'
import { suspectOwnAddresses } from '../../../ipkeeper-server/reconcile/plan-own-addresses.ts'
import { attachment, snapshot, type AttachmentWords } from './snapshot-words.ts'

const addresses = ['10.22.0.5', 'fd00:22::5']

for (const [what, own, of, says] of [
  ['none of them', ['10.22.0.6/24 eth0'], {}, undefined],
  [
    'one',
    ['10.22.0.5/24 eth0'],
    {},
    /^shop\/web-0 \(.*\) has 10\.22\.0\.5, which the node has as well, on link eth0$/,
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
