import t from 'tap'
import { readOwnResult } from '../../../../ipkeeper-server/result-cache/plan/read-cached-result.ts'

const cached = (config: unknown): string =>
  JSON.stringify({
    kind: 'cniCacheV1',
    containerId: 'c1',
    ifName: 'eth0',
    networkName: 'net',
    config: typeof config === 'string' ? config : Buffer.from(JSON.stringify(config)).toString('base64'),
    result: { ips: [{ address: '10.22.0.5/16' }] },
  })

const ours = { type: 'ipkeeper', stateDir: '/srv/state' }

const cases: readonly (readonly [what: string, config: unknown, stateDirs: readonly string[] | undefined])[] =
  [
    ['a list, as IPAM', { plugins: [{ type: 'bridge', ipam: ours }] }, ['/srv/state']],
    ['a list, as main plugin', { plugins: [{ ...ours, ipam: { type: 'ipkeeper' } }] }, ['/srv/state']],
    ['a plugin alone', { type: 'macvlan', ipam: ours }, ['/srv/state']],
    ['what it was told', { plugins: [{ type: 'ptp', ipam: { type: 'ipkeeper' } }] }, ['/srv/told']],
    ['behind flannel', { plugins: [{ type: 'flannel', delegate: { ipam: ours } }] }, ['/srv/state']],
    [
      'behind multus',
      { type: 'multus', delegates: [{ plugins: [{ type: 'bridge', ipam: ours }] }] },
      ['/srv/state'],
    ],
    ['another plugin', { plugins: [{ type: 'bridge', ipam: { type: 'host-local' } }] }, undefined],
    ['a chain with us in a name only', { name: 'ipkeeper', plugins: [{ type: 'bridge' }] }, undefined],
    ['a setting that the plugin refuses', { type: 'ptp', ipam: { ...ours, stateDir: 'state' } }, undefined],
    ['no JSON', 'ipkeeper', undefined],
    ['nothing', {}, undefined],
  ]

for (const [what, config, stateDirs] of cases) {
  t.test(what, t => {
    const result = readOwnResult(cached(config), '/srv/told')
    t.strictSame(result?.stateDirs, stateDirs)
    if (result) t.match(result, { containerId: 'c1', addresses: ['10.22.0.5'] })
    t.end()
  })
}

t.test('what is no file of libcni', t => {
  for (const text of ['', '{', '[]', '{"kind":"cniCacheV1"}', '{"kind":"other","config":""}'])
    t.equal(readOwnResult(text, '/srv/told'), undefined)
  t.end()
})
