import t from 'tap'
import { resultFault } from '../../plugin/result-fault.ts'
import { supportedVersions } from '../../shared/cni/versions.ts'

t.test('each version has its shape, and an address', t => {
  const ip4 = { ip: '10.22.0.2/16' }
  const ips = [{ address: '10.22.0.2/16' }]
  for (const cniVersion of supportedVersions) {
    const byFamily = cniVersion < '0.3.0'
    const fault = (result: object): string | undefined => resultFault({ cniVersion, ...result }, cniVersion)
    t.equal(fault(byFamily ? { ip4 } : { ips }), undefined, cniVersion)
    t.equal(fault(byFamily ? { ip6: ip4 } : { ips: [...ips, ...ips] }), undefined, cniVersion)
    t.match(fault(byFamily ? { ips } : { ip4 }), /in the shape of another version/, cniVersion)
    t.match(fault({ ip4, ips }), /in the shape of another version/, cniVersion)
    for (const none of [{}, byFamily ? { ip4: undefined } : { ips: [] }])
      t.equal(fault(none), 'a result without an address', cniVersion)
    t.match(resultFault({ cniVersion: '9.9.9', ip4, ips }, cniVersion), /^a result of version "9\.9\.9"/)
  }
  t.end()
})
