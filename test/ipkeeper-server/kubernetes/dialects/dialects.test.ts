import t from 'tap'
import { dialectNames, dialects } from '../../../../ipkeeper-server/kubernetes/dialects/dialects.ts'

t.test('the dialects by their names, and the keys of each', t => {
  t.strictSame(Object.fromEntries(dialectNames.map(name => [name, Object.keys(dialects[name]).sort()])), {
    'crd-ipkeeper': ['gateway', 'ip_address', 'ip_pool'].map(word => `ipkeeper.generals.space/${word}`),
    calico: ['hwAddr', 'ipAddrs', 'ipAddrsNoIpam'].map(word => `cni.projectcalico.org/${word}`),
    'kube-ovn': ['ip_address', 'ip_pool', 'mac_address'].map(word => `ovn.kubernetes.io/${word}`),
    hybridnet: ['networking.alibaba.com/ip-pool'],
    antrea: ['ipam.antrea.io/pod-ips'],
  })
  t.end()
})

t.test('no two dialects have a key in common, and none of ours', t => {
  const keys = dialectNames.flatMap(name => Object.keys(dialects[name]))
  t.equal(new Set(keys).size, keys.length)
  t.notOk(keys.some(key => key.startsWith('ipkeeper.io/')))
  t.end()
})
