import t from 'tap'
import { listLinks } from '../../../ipkeeper-server/network/host-links.ts'
import { removeSeenLink } from '../../../ipkeeper-server/network/seen-link-removal.ts'
import { missing } from '../../rigs/requirements.ts'
import { makeSpot } from '../../rigs/spot.ts'

const name = 'ipk000000000001'
const make = `link add ${name} index 50 type veth peer name x0 index 51`

t.test('the link that was seen, and no other', { skip: missing('namespaces') }, async t => {
  const spot = await makeSpot(t)
  const links = async (): Promise<readonly string[]> =>
    (await listLinks(spot.run, ['type', 'veth'])).map(link => `${link.index} ${link.name}`).toSorted()

  await spot.ip(make)
  t.ok(await removeSeenLink(spot.run, { index: 50, name }))
  t.same(await links(), [])
  t.notOk(await removeSeenLink(spot.run, { index: 50, name }), 'gone')

  await spot.ip(make)
  t.notOk(await removeSeenLink(spot.run, { index: 49, name }), 'another one of its name')
  t.notOk(await removeSeenLink(spot.run, { index: 51, name }), 'another one of its index')
  await spot.ip('link set x0 name if50')
  t.notOk(await removeSeenLink(spot.run, { index: 50, name }), 'one that is called like the index')
  t.same(await links(), [`50 ${name}`, '51 if50'])
})

t.test('how a veth tells that its pod uses it', { skip: missing('namespaces') }, async t => {
  const [spot, pod] = await Promise.all([makeSpot(t), makeSpot(t)])
  const carrier = async (): Promise<unknown> =>
    (await listLinks(spot.run, ['type', 'veth'])).map(link => link.carrier)
  await spot.ip(`link add ${name} type veth peer name eth0 netns ${pod.pid}`)
  t.same(await carrier(), [false])
  await spot.ip(`link set ${name} up`)
  t.same(await carrier(), [false], 'as a program leaves it that made the host’s side alone')
  await pod.ip('link set eth0 up')
  t.same(await carrier(), [true])
})
