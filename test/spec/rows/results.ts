import { writeFileSync } from 'node:fs'
import type { CniVersion } from '../../../shared/cni/versions.ts'
import { makeNetworkNamespace } from '../../rigs/netns.ts'
import { added, allVersions, assertRefused, container, isByFamily, refuses, silent } from '../answers.ts'
import { firstAddresses, network, ranges, withIpam, type Config } from '../network.ts'
import type { Row } from '../row.ts'
import { hostOf, mainNetwork, versionsWithInterfaces, wiredPods } from '../wired.ts'

/** Given in long form, so that what is printed shows the canonical one. */
const routes = [
  { dst: '0.0.0.0/0' },
  { dst: '2001:0DB8:0:0::/32', gw: 'FD00:22::0001' },
  { dst: '192.168.0.0/16', gw: '10.22.0.9', mtu: 1400, advmss: 1300, priority: 10, table: 50, scope: 253 },
]
const numbers = { mtu: 1400, advmss: 1300, priority: 10, table: 50, scope: 253 }
const dns = {
  nameservers: ['10.22.0.53', 'fd00:22::53'],
  domain: 'a.test',
  search: ['a.test', 'b.test'],
  options: ['ndots:2'],
}
const resolvConf =
  'nameserver 10.22.0.53\nnameserver fd00:22::53\ndomain a.test\nsearch a.test b.test\noptions ndots:2\n'

/** The whole result of the first container, in the shape of the version. */
function expectedResult(cniVersion: CniVersion): Config {
  const [v4, v6] = firstAddresses
  const gateways = { v4: '10.22.0.1', v6: 'fd00:22::1' }
  const short = { dst: '192.168.0.0/16', gw: '10.22.0.9' }
  const overV6 = { dst: '2001:db8::/32', gw: 'fd00:22::1' }
  if (isByFamily(cniVersion)) {
    return {
      cniVersion,
      ip4: { ip: v4, gateway: gateways.v4, routes: [{ dst: '0.0.0.0/0' }, short] },
      ip6: { ip: v6, gateway: gateways.v6, routes: [overV6] },
      dns,
    }
  }
  const family = (version: string): object => (cniVersion.startsWith('0.') ? { version } : {})
  return {
    cniVersion,
    ips: [
      { ...family('4'), address: v4, gateway: gateways.v4 },
      { ...family('6'), address: v6, gateway: gateways.v6 },
    ],
    routes: [{ dst: '0.0.0.0/0' }, overV6, cniVersion === '1.1.0' ? { ...short, ...numbers } : short],
    dns,
  }
}

export const resultRows: readonly Row[] = [
  {
    id: 'E1',
    title: 'the shape of a result is exactly that of its version',
    cases: [
      {
        title: 'both families, routes with every key, DNS: the whole document',
        versions: allVersions,
        differs: 'the reference prints the route keys of 1.1.0 in results of 0.3.0 to 1.0.0 too',
        run: async (t, rig, version) => {
          const path = rig.folder.file('resolv.conf')
          writeFileSync(path, resolvConf)
          const { document } = await rig.run({
            config: withIpam(version, { ranges, routes, resolvConf: path }),
          })
          t.strictSame(document, expectedResult(version))
        },
      },
      {
        title: 'nothing but an address: dns is there before 1.0.0, empty, and absent from then on',
        versions: allVersions,
        run: async (t, rig, version) => {
          const { document = {} } = await rig.run({ config: withIpam(version, { subnet: '10.22.0.0/24' }) })
          t.strictSame(document['dns'], version.startsWith('0.') ? {} : undefined)
          t.notOk('routes' in document)
        },
      },
      refuses(
        '0.1.0 and 0.2.0 have room for one address of a family',
        version =>
          [
            [[{ subnet: '10.22.0.0/24' }], [{ subnet: '10.23.0.0/24' }]],
            [[{ subnet: 'fd00:22::/64' }], [{ subnet: 'fd00:23::/64' }]],
          ].map(
            sets =>
              [
                JSON.stringify(sets),
                { config: withIpam(version, { ranges: sets }) },
                ...([112, `CNI version ${version} does not support more than 1 address per family`] as const),
              ] as const,
          ),
        { versions: allVersions.filter(isByFamily) },
      ),
      {
        title: 'later ones have room for two',
        versions: allVersions.filter(version => !isByFamily(version)),
        run: async (t, rig, version) => {
          const two = [[{ subnet: '10.22.0.0/24' }], [{ subnet: '10.23.0.0/24' }]]
          const addresses = await added(t, rig, version, { config: withIpam(version, { ranges: two }) })
          t.strictSame(addresses, ['10.22.0.2/24', '10.23.0.2/24'])
        },
      },
    ],
  },
  {
    id: 'E2',
    title: 'numbers are printed as JSON integers',
    cases: [
      {
        title: 'of routes, and code',
        run: async (t, rig) => {
          const config = withIpam('1.1.0', { ranges, routes })
          const good = await rig.run({ config })
          for (const [key, value] of Object.entries(numbers))
            t.match(good.stdout, new RegExp(`"${key}": ${value}[,\n]`))
          t.match((await rig.run({ config })).stdout, /"code": [1-9][0-9]*,\n/)
        },
      },
    ],
  },
  {
    id: 'E3',
    title: 'addresses are CIDR texts in canonical form, gateways are addresses',
    cases: [
      {
        title: 'a configuration in long form and capitals',
        versions: allVersions,
        run: async (t, rig, version) => {
          const range = {
            subnet: 'FD00:0022:0:0::/64',
            rangeStart: 'FD00:22:0:0:0:0:0:00A0',
            gateway: 'FD00:22::0009',
          }
          const { document, stdout } = await rig.run({ config: withIpam(version, range) })
          t.ok(document)
          t.match(stdout, '"fd00:22::a0/64"')
          t.match(stdout, '"gateway": "fd00:22::9"')
        },
      },
    ],
  },
  {
    id: 'E4',
    title: 'an interface index points into the list of interfaces',
    cases: [
      {
        title: "main role: each address points to the interface of the container, and to none of the host's",
        versions: versionsWithInterfaces,
        wiresPods: true,
        run: async (t, rig, version) => {
          for (const { mode, result } of await wiredPods(t, rig, version)) {
            const { interfaces, ips } = result
            const inside = interfaces.findIndex(({ sandbox }) => sandbox !== undefined)
            t.ok(inside > 0, `${mode}: those of the host come first`)
            t.strictSame(
              ips.map(ip => ip.interface),
              [inside, inside],
              mode,
            )
          }
        },
      },
      {
        title: '0.1.0 and 0.2.0 have neither interfaces nor an index',
        versions: allVersions.filter(isByFamily),
        wiresPods: true,
        run: async (t, rig, version) => {
          for (const { mode, result } of await wiredPods(t, rig, version)) {
            t.match(result, { ip4: { ip: String }, ip6: { ip: String } }, mode)
            t.notMatch(JSON.stringify(result), 'interface', mode)
          }
        },
      },
    ],
    see: ['E1'],
  },
  {
    id: 'E5',
    title: 'containerd looks for addresses of eth0, or without interface',
    elsewhere: ['test/privileged/containerd-story.test.ts'],
  },
  {
    id: 'E6',
    title: 'podman wants a MAC for every interface with a sandbox',
    cases: [
      {
        title: 'main role: each interface has one, and it is that of the link',
        versions: versionsWithInterfaces,
        wiresPods: true,
        run: async (t, rig, version) => {
          for (const { mode, result, namespace } of await wiredPods(t, rig, version)) {
            t.not(result.interfaces.length, 0, mode)
            for (const { name, mac, sandbox } of result.interfaces) {
              const shown =
                sandbox === undefined
                  ? (JSON.parse(
                      await hostOf(rig).must('ip', ['-json', 'link', 'show', 'dev', name]),
                    ) as unknown)
                  : await namespace.ip('link', 'show', 'dev', name)
              t.match(mac, /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/, `${mode}: ${name}`)
              t.match(shown, [{ ifname: name, address: mac }], `${mode}: ${name}`)
            }
          }
        },
      },
    ],
  },
  {
    id: 'E7',
    title: "the container's interface bears CNI_IFNAME and CNI_NETNS",
    cases: [
      {
        title: 'main role: both as they were given, also a path that could be written shorter',
        versions: versionsWithInterfaces,
        wiresPods: true,
        run: async (t, rig, version) => {
          const detour = (path: string): string => path.replace('/run/netns/', '/run/./netns/../netns/')
          for (const { mode, result, netns, namespace } of await wiredPods(
            t,
            rig,
            version,
            'net-1.x',
            detour,
          )) {
            const inside = result.interfaces.filter(({ sandbox }) => sandbox !== undefined)
            t.match(inside, [{ name: 'net-1.x', sandbox: netns }], mode)
            t.equal(inside.length, 1, mode)
            t.strictSame(
              await namespace.addresses('net-1.x'),
              result.ips.map(({ address }) => address),
              `${mode}: it has the addresses`,
            )
          }
        },
      },
    ],
  },
  {
    id: 'E8',
    title: 'an interface of that name exists already',
    cases: [
      {
        title: 'main role: an error, no lease, and the interface is as it was',
        versions: allVersions,
        wiresPods: true,
        differs: 'the code is 142 of ours, where the reference has its catch-all 999',
        run: async (t, rig, version) => {
          const namespace = await makeNetworkNamespace(hostOf(rig))
          const inPod = ['-n', namespace.name]
          await hostOf(rig).must('ip', [...inPod, 'link', 'add', 'eth0', 'type', 'bridge'])
          const before = await namespace.ip('-details', 'link')
          for (const mode of ['bridge', 'ptp']) {
            const answer = await rig.run({
              config: mainNetwork(version, { mode }),
              env: { CNI_NETNS: namespace.path },
            })
            assertRefused(t, answer, { code: 142, msg: 'the pod already has an interface eth0' }, mode)
            t.same(await namespace.ip('-details', 'link'), before, mode)
            t.strictSame(await rig.bound(), [], mode)
          }
        },
      },
    ],
  },
  {
    id: 'E9',
    title: 'a second ADD of the same attachment without DEL is an error',
    cases: [
      {
        title: 'the first one keeps its addresses, and another container gets the next ones',
        versions: allVersions,
        differs: 'the reference gives a second address when the repeated ADD asks for one by name',
        run: async (t, rig, version) => {
          t.strictSame(await added(t, rig, version), firstAddresses)
          const again = await rig.run({ config: network(version) })
          const told =
            'failed to allocate for range 0: 10.22.0.2 has been allocated to c1, duplicate allocation is not allowed'
          t.match(again, { exit: 1, document: { code: 110, msg: told } })
          const asking = await rig.run({ config: network(version), env: { CNI_ARGS: 'IP=10.22.0.9' } })
          t.match(asking, { exit: 1, document: { code: 110, msg: told } }, 'with a request, too')
          const other = await added(t, rig, version, { env: container('c2') })
          t.strictSame(other, ['10.22.0.3/24', 'fd00:22::3/64'])
          await silent(t, rig, { verb: 'DEL', config: network(version) }, 'DEL')
          await added(t, rig, version, {}, 'after a DEL')
        },
      },
    ],
  },
  {
    id: 'E10',
    title: 'from 0.3.0 to 0.4.0 each address says its family',
    see: ['E1'],
  },
]
