import t from 'tap'
import { gatewayFacts } from '../../../../ipkeeper-server/leases/queries/gateway-facts.ts'
import { sampleConfig } from '../../network/plan/sample-job.ts'
import { TestService } from '../test-service.ts'

t.test('gateways of pools, and of pods', async t => {
  const story = await TestService.open()
  const { service } = story
  await story.add({ pod: 'web-0', container: 'c1', main: sampleConfig })
  await story.add({ pod: 'web-1', container: 'c2', main: { ...sampleConfig, bridge: 'br7' } })
  await story.add({ pod: 'web-2', container: 'c3' })
  await story.add({ container: 'c4' })
  const { isGateway, podsBehind } = gatewayFacts(service)
  for (const [address, expected] of [
    ['10.22.0.1', true],
    ['10.22.0.2', false],
  ] as const)
    t.equal(isGateway(address), expected, address)
  const there = (cidr: string, bridge: string): string => podsBehind(cidr, bridge).toSorted().join(', ')
  // Whoever is wired by another plugin may be on any bridge.
  const anywhere = 'container c4, shop/web-2'
  t.equal(there('10.22.0.1/24', 'ipk0'), 'container c4, shop/web-0, shop/web-2')
  t.equal(there('10.22.0.1/24', 'br7'), 'container c4, shop/web-1, shop/web-2')
  t.equal(there('10.22.0.1/24', 'br8'), anywhere)
  t.equal(there('10.22.0.1/16', 'ipk0'), '', 'another subnet')
  t.equal(there('10.22.0.2/24', 'ipk0'), '', 'a pod is no gateway')
  for (const [what, other] of [
    ['another node', { node: 'n9' }],
    ['another boot', { bootId: 'b9' }],
  ] as const)
    t.same(gatewayFacts({ ...service, ...other }).podsBehind('10.22.0.1/24', 'ipk0'), [], what)
  const forgetful = {
    isGateway: () => false,
    leasesOn: (node: string) => service.ledger.leasesOn(node),
    attachment: () => undefined,
  }
  t.equal(
    gatewayFacts({ ...service, ledger: forgetful }).podsBehind('10.22.0.1/24', 'br8').length,
    4,
    'of pods that a lost journal knew nothing is certain',
  )
  for (const container of ['c1', 'c3', 'c4']) await story.del(container)
  t.equal(there('10.22.0.1/24', 'ipk0'), '')
})
