import t from 'tap'
import type { MainConfig } from '../../../../ipkeeper-server/ipam/request/main-config.ts'
import { readMainConfig } from '../../../../ipkeeper-server/network/plan/read-main-config.ts'
import { wiringModes, type WiringMode } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { parseCniArgs, soundArgs } from '../../../../shared/cni/cni-args.ts'
import type { JsonObject } from '../../../../shared/json/fold.ts'
import { Problem } from '../../../../shared/problem/problem.ts'

/** Reads as the daemon does, CNI_ARGS first. */
const read = (config: JsonObject, args = ''): MainConfig =>
  readMainConfig(config, soundArgs(parseCniArgs(args)))

const ipam = { type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/16' }]] }
const net = (rest: object = {}) => ({ cniVersion: '1.0.0', name: 'net', type: 'ipkeeper', ipam, ...rest })
const underlay = (rest: object = {}) => net({ mode: 'underlay', uplink: 'eth1', ...rest })
const macvlan = (rest: object = {}) => net({ mode: 'macvlan', ...rest })
const ptp = (rest: object = {}) => net({ mode: 'ptp', ...rest })
const inMode = (mode: WiringMode, rest: object = {}) =>
  mode === 'underlay' ? underlay(rest) : net({ mode, ...rest })

function problemOf(run: () => unknown): Problem {
  try {
    run()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

const bridgeDefaults: MainConfig = {
  mode: 'bridge',
  bridge: 'ipk0',
  uplink: undefined,
  isGateway: true,
  defaultRoute: false,
  masquerade: 'none',
  hairpin: true,
  vlan: undefined,
  mtu: undefined,
  mac: undefined,
  sysctls: [],
  dns: {},
  serviceCidrs: [],
  duplicateProbe: 'among-others',
  moveHostAddresses: false,
  macvlanMode: 'bridge',
}

/** What each mode has when nothing is said. */
const defaults: Readonly<Record<WiringMode, MainConfig>> = {
  bridge: bridgeDefaults,
  ptp: { ...bridgeDefaults, mode: 'ptp', isGateway: false, hairpin: false, duplicateProbe: false },
  macvlan: { ...bridgeDefaults, mode: 'macvlan', isGateway: false, hairpin: false, duplicateProbe: true },
  underlay: {
    ...bridgeDefaults,
    mode: 'underlay',
    bridge: 'ipkul0',
    uplink: 'eth1',
    isGateway: false,
    duplicateProbe: true,
  },
}

t.test('defaults of each mode', t => {
  for (const mode of wiringModes) t.strictSame(read(inMode(mode)), defaults[mode], mode)
  t.strictSame(read(net()), defaults.bridge, 'bridge is the mode of nobody')
  t.end()
})

/** A value of a key, and what it changes of the defaults. */
const accepted: readonly (readonly [config: object, changed: Partial<MainConfig>, args?: string])[] = [
  [net({ mode: 'bridge' }), {}],
  [net({ mode: '' }), {}],
  [net({ mode: null, bridge: null, mtu: null, vlan: null, ipMasq: null, sysctl: null, dns: null }), {}],
  [
    net({ BRIDGE: 'br-a.1', ISGATEWAY: false, IpMasq: true }),
    { bridge: 'br-a.1', isGateway: false, masquerade: 'all' },
  ],
  [net({ bridge: 'a23456789012345' }), { bridge: 'a23456789012345' }],
  [net({ bridge: '' }), {}],
  [net({ isGateway: true }), {}],
  [net({ isGateway: false }), { isGateway: false }],
  [net({ isDefaultGateway: true }), { defaultRoute: true }],
  [net({ isDefaultGateway: true, isGateway: false }), { defaultRoute: true }],
  [net({ isDefaultGateway: false }), {}],
  [net({ isDefaultGateway: true, defaultRoute: true }), { defaultRoute: true }],
  [net({ isDefaultGateway: false, defaultRoute: true }), { defaultRoute: true }],
  [net({ defaultRoute: true }), { defaultRoute: true }],
  [net({ defaultRoute: false }), {}],
  [net({ ipMasq: false }), {}],
  [net({ ipMasq: 'unnamed' }), { masquerade: 'unnamed' }],
  [net({ hairpinMode: false }), { hairpin: false }],
  [net({ mtu: 0 }), {}],
  [net({ mtu: 68 }), { mtu: 68 }],
  [net({ mtu: 65_535 }), { mtu: 65_535 }],
  [net({ vlan: 0 }), {}],
  [net({ vlan: 1 }), { vlan: 1 }],
  [net({ vlan: 4094 }), { vlan: 4094 }],
  [net({ vlan: 5, preserveDefaultVlan: false }), { vlan: 5 }],
  [net({ preserveDefaultVlan: true }), {}],
  [net({ duplicateProbe: true }), { duplicateProbe: true }],
  [net({ duplicateProbe: false }), { duplicateProbe: false }],
  [net({ serviceCidrs: [] }), {}],
  [
    net({ serviceCidrs: ['10.96.0.0/12', 'FD00:10::/108', '10.96.0.0/12'] }),
    { serviceCidrs: ['10.96.0.0/12', 'fd00:10::/108'] },
  ],
  // What the reference plugins' users write where nothing is meant.
  [
    net({
      ...{
        promiscMode: false,
        forceAddress: false,
        macspoofchk: false,
        portIsolation: false,
        enabledad: false,
      },
      ...{ disableContainerInterface: false, linkInContainer: false, vlanTrunk: [], bcqueuelen: 0 },
      ...{
        ipMasqBackend: 'nftables',
        mac: '',
        uplink: '',
        master: '',
        macvlanMode: '',
        moveHostAddresses: false,
      },
    }),
    {},
  ],
  [net({ ipMasqBackend: '' }), {}],
  // Foreign keys, and those of CNI itself.
  [
    net({
      ...{
        capabilities: { mac: true },
        prevResult: {},
        disableCheck: true,
        socket: '/run/s',
        stateDir: '/var/s',
      },
      ...{
        timeout: 5,
        'cni.dev/attachments': [],
        somebodyElses: true,
        args: 'none of ours',
        runtimeConfig: {},
      },
    }),
    {},
  ],
  [underlay({ bridge: 'br1', isGateway: true }), { bridge: 'br1', isGateway: true }],
  [underlay({ isDefaultGateway: true }), { isGateway: true, defaultRoute: true }],
  [underlay({ uplink: undefined, master: 'eth2.5' }), { uplink: 'eth2.5' }],
  [underlay({ uplink: 'eth1', master: 'eth1' }), {}],
  [underlay({ moveHostAddresses: true }), { moveHostAddresses: true }],
  [underlay({ duplicateProbe: false }), { duplicateProbe: false }],
  [underlay({ serviceCidrs: ['10.96.0.0/12'] }), { serviceCidrs: ['10.96.0.0/12'] }],
  [underlay({ vlan: 7, hairpinMode: false, ipMasq: true }), { vlan: 7, hairpin: false, masquerade: 'all' }],
  [macvlan({ master: 'eth1' }), { uplink: 'eth1' }],
  [macvlan({ uplink: 'eth1' }), { uplink: 'eth1' }],
  [macvlan({ macvlanMode: 'private' }), { macvlanMode: 'private' }],
  [macvlan({ macvlanMode: 'vepa' }), { macvlanMode: 'vepa' }],
  [macvlan({ macvlanMode: 'passthru' }), { macvlanMode: 'passthru' }],
  [macvlan({ isGateway: true, ipMasq: false, vlan: 0, hairpinMode: false, serviceCidrs: [] }), {}],
  [macvlan({ isDefaultGateway: true }), { defaultRoute: true }],
  [macvlan({ duplicateProbe: false }), { duplicateProbe: false }],
  [ptp({ ipMasq: true, mtu: 1400 }), { masquerade: 'all', mtu: 1400 }],
  [ptp({ uplink: 'eth0' }), { uplink: 'eth0' }],
  [ptp({ isGateway: true, bridge: '', duplicateProbe: false }), {}],
  [ptp({ serviceCidrs: ['10.96.0.0/12'] }), { serviceCidrs: ['10.96.0.0/12'] }],
  // MAC: the channels, highest first.
  [
    net({ runtimeConfig: { mac: '02:AA:00:00:00:01' } }),
    { mac: { mac: '02:aa:00:00:00:01', source: 'runtimeConfig.mac' } },
  ],
  [
    net({ args: { cni: { mac: '02-aa-00-00-00-02' } } }),
    { mac: { mac: '02:aa:00:00:00:02', source: 'args.cni.mac' } },
  ],
  [net(), { mac: { mac: '02:aa:00:00:00:03', source: 'CNI_ARGS MAC' } }, 'MAC=02:aa:00:00:00:03'],
  [
    net({ runtimeConfig: { mac: '02:aa:00:00:00:01' }, args: { cni: { mac: '02:aa:00:00:00:02' } } }),
    { mac: { mac: '02:aa:00:00:00:01', source: 'runtimeConfig.mac' } },
    'MAC=02:aa:00:00:00:03',
  ],
  [
    net({ runtimeConfig: { mac: '' }, args: { cni: { mac: '02:aa:00:00:00:02' } } }),
    { mac: { mac: '02:aa:00:00:00:02', source: 'args.cni.mac' } },
    'MAC=02:aa:00:00:00:03',
  ],
  [net({ runtimeConfig: { mac: '' }, args: { cni: { mac: '' } } }), {}, 'MAC='],
  [net({ args: { cni: 5 } }), {}],
  [
    net({
      dns: {
        nameservers: ['10.96.0.10', 'fd00::a'],
        domain: 'a.test',
        search: ['b.test'],
        options: ['ndots:5'],
      },
    }),
    {
      dns: {
        nameservers: ['10.96.0.10', 'fd00::a'],
        domain: 'a.test',
        search: ['b.test'],
        options: ['ndots:5'],
      },
    },
  ],
  [net({ dns: { nameservers: [], domain: '', search: [], options: [] } }), {}],
  [net({ DNS: { NameServers: ['10.96.0.10'] } }), { dns: { nameservers: ['10.96.0.10'] } }],
  [
    net({ sysctl: { 'net.core.somaxconn': 1024 } }),
    { sysctls: [{ key: 'net/core/somaxconn', value: '1024' }] },
  ],
]

t.test('what is accepted, and what it means', t => {
  for (const [config, changed, args = ''] of accepted) {
    const { mode } = read({ ...config }, args)
    t.strictSame(
      read({ ...config }, args),
      { ...defaults[mode], ...changed },
      `${JSON.stringify(config)} ${args}`,
    )
  }
  t.end()
})

const wrongTypes: readonly (readonly [key: string, value: unknown, wanted: string])[] = [
  ['mode', 5, 'a string, not a number'],
  ['bridge', 5, 'a string, not a number'],
  ['isGateway', 'yes', 'true or false, not a string'],
  ['isDefaultGateway', 1, 'true or false, not a number'],
  ['defaultRoute', 'x', 'true or false, not a string'],
  ['hairpinMode', 1, 'true or false, not a number'],
  ['promiscMode', 'x', 'true or false, not a string'],
  ['forceAddress', 'x', 'true or false, not a string'],
  ['macspoofchk', 'x', 'true or false, not a string'],
  ['disableContainerInterface', 'x', 'true or false, not a string'],
  ['portIsolation', 'x', 'true or false, not a string'],
  ['preserveDefaultVlan', 'x', 'true or false, not a string'],
  ['enabledad', 'x', 'true or false, not a string'],
  ['linkInContainer', 'x', 'true or false, not a string'],
  ['vlanTrunk', {}, 'an array, not an object'],
  ['ipMasqBackend', true, 'a string, not a boolean'],
  ['bcqueuelen', '1', 'a number, not a string'],
  ['mac', 5, 'a string, not a number'],
  ['mtu', '1500', 'a number, not a string'],
  ['mtu', 1500.5, 'an integer, not 1500.5'],
  ['vlan', '7', 'a number, not a string'],
  ['vlan', 1.5, 'an integer, not 1.5'],
  ['serviceCidrs', '10.96.0.0/12', 'an array, not a string'],
  ['duplicateProbe', 1, 'true or false, not a number'],
  ['sysctl', [], 'an object, not an array'],
  ['dns', [], 'an object, not an array'],
  ['ipam', [], 'an object, not an array'],
  ['runtimeConfig', 'x', 'an object, not a string'],
]

t.test('values of a wrong type', t => {
  for (const [key, value, wanted] of wrongTypes) {
    const problem = problemOf(() => read(net({ [key]: value })))
    t.strictSame(
      [problem.code, problem.message],
      ['IPK_CONFIG_INVALID', `"${key}" must be ${wanted}`],
      `${key} ${JSON.stringify(value)}`,
    )
  }
  t.end()
})

const spoilt: readonly (readonly [config: object, message: string, hint?: RegExp])[] = [
  // Modes.
  [
    net({ mode: 'brige' }),
    '"mode": unknown mode "brige"; did you mean "bridge"?',
    /"bridge", "ptp", "macvlan", "underlay"/,
  ],
  [net({ mode: 'Bridge' }), '"mode": unknown mode "Bridge"; did you mean "bridge"?'],
  [net({ mode: 'overlay' }), '"mode": unknown mode "overlay"; did you mean "underlay"?'],
  [
    net({ mode: 'xyzzy-xyzzy' }),
    '"mode": unknown mode "xyzzy-xyzzy"',
    /"bridge", "ptp", "macvlan", "underlay"/,
  ],
  [
    net({ mode: 'vepa' }),
    '"mode": "vepa" is a mode of macvlan\'s own',
    /"mode": "macvlan", "macvlanMode": "vepa"/,
  ],
  [
    macvlan({ macvlanMode: 'privat' }),
    '"macvlanMode": unknown mode of macvlan "privat"; did you mean "private"?',
    /"passthru"/,
  ],
  [macvlan({ macvlanMode: 5 }), '"macvlanMode" must be a string, not a number'],
  // Misspelt keys.
  [net({ isGatway: true }), 'unknown key "isGatway"; did you mean "isGateway"?'],
  [net({ hairpinmod: true }), 'unknown key "hairpinmod"; did you mean "hairpinMode"?'],
  [net({ serviceCIDR: [] }), 'unknown key "serviceCIDR"; did you mean "serviceCidrs"?'],
  [net({ dns: { nameserver: [] } }), 'dns: unknown key "nameserver"; did you mean "nameservers"?'],
  // Names of links.
  [
    net({ bridge: 'a234567890123456' }),
    '"bridge": interface name too long: "a234567890123456" has 16 bytes, 15 is the most',
  ],
  [
    net({ bridge: '\u00e9'.repeat(8) }),
    `"bridge": interface name too long: "${'\u00e9'.repeat(8)}" has 16 bytes, 15 is the most`,
  ],
  [net({ bridge: 'br 0' }), '"bridge": "br 0" is no name of an interface', /1 to 15 letters/],
  [net({ bridge: '-br0' }), '"bridge": "-br0" is no name of an interface'],
  [net({ bridge: '..' }), '"bridge": ".." is no name of an interface'],
  [net({ bridge: 'a/b' }), '"bridge": "a/b" is no name of an interface'],
  [net({ bridge: 'br0\n' }), '"bridge": "br0\\n" is no name of an interface'],
  [net({ bridge: 'all' }), '"bridge": "all" is no name of an interface'],
  [underlay({ uplink: 'eth 1' }), '"uplink": "eth 1" is no name of an interface'],
  [macvlan({ master: 'eth0:1' }), '"master": "eth0:1" is no name of an interface'],
  [macvlan({ uplink: 5 }), '"uplink" must be a string, not a number'],
  [macvlan({ master: 5 }), '"master" must be a string, not a number'],
  // Uplinks.
  [net({ mode: 'underlay' }), '"uplink" is missing, which mode underlay needs', /"uplink": "eth1"/],
  [underlay({ uplink: '' }), '"uplink" is missing, which mode underlay needs'],
  [underlay({ bridge: 'eth1' }), '"bridge" and "uplink" are both "eth1"', /name two links/],
  [underlay({ master: 'eth2' }), '"uplink" is "eth1" and "master" is "eth2"', /one of them/],
  [underlay({ moveHostAddresses: 'x' }), '"moveHostAddresses" must be true or false, not a string'],
  // The rest.
  [
    net({ isDefaultGateway: true, defaultRoute: false }),
    '"isDefaultGateway" is true and "defaultRoute" is false',
    /"isGateway": true/,
  ],
  [
    net({ ipMasq: 'unamed' }),
    '"ipMasq" must be true, false or "unnamed", not "unamed"; did you mean "unnamed"?',
  ],
  [net({ ipMasq: 'true' }), '"ipMasq" must be true, false or "unnamed", not "true"; did you mean true?'],
  [net({ ipMasq: '' }), '"ipMasq" must be true, false or "unnamed", not ""'],
  [net({ ipMasq: 1 }), '"ipMasq" must be true, false or "unnamed", not 1'],
  [net({ mtu: 67 }), '"mtu": 67 is out of range', /from 68 \(1280 with IPv6\) to 65535/],
  [net({ mtu: 65_536 }), '"mtu": 65536 is out of range'],
  [net({ mtu: -1 }), '"mtu": -1 is out of range'],
  [net({ vlan: -1 }), '"vlan": -1 is no VLAN', /1 to 4094/],
  [net({ vlan: 4095 }), '"vlan": 4095 is no VLAN'],
  [
    net({ serviceCidrs: ['10.96.0.0/12', '10.96.0.1'] }),
    '"serviceCidrs[1]": invalid CIDR address: "10.96.0.1"',
  ],
  [
    net({ serviceCidrs: ['10.97.0.0/12'] }),
    '"serviceCidrs[0]": 10.97.0.0/12 has host bits; did you mean "10.96.0.0/12"?',
  ],
  [
    net({ serviceCidrs: ['0.0.0.0/0'] }),
    '"serviceCidrs[0]": 0.0.0.0/0 is everything',
    /"defaultRoute": true/,
  ],
  [net({ serviceCidrs: [5] }), '"serviceCidrs[0]" must be a string, not a number'],
  [
    net({ dns: { nameservers: ['10.96.0.10', 'ns.test'] } }),
    '"dns.nameservers[1]": "ns.test" is no IP address',
  ],
  [net({ dns: { nameservers: [5] } }), '"dns.nameservers[0]" must be a string, not a number'],
  [net({ dns: { domain: 5 } }), '"dns.domain" must be a string, not a number'],
  [net({ dns: { domain: 'a b' } }), '"dns.domain": "a b" is no word of a resolv.conf'],
  [
    net({ dns: { search: ['a', 'b\nnameserver 6.6.6.6'] } }),
    '"dns.search[1]": "b\\nnameserver 6.6.6.6" is no word of a resolv.conf',
  ],
  [net({ dns: { options: [''] } }), '"dns.options[0]": "" is no word of a resolv.conf'],
  [net({ sysctl: { 'kernel.msgmax': 1 } }), '"sysctl.kernel.msgmax": only settings below net can be set'],
  // ipam.
  [
    net({ ipam: { type: 'host-local' } }),
    '"ipam.type" "host-local" cannot serve "type": "ipkeeper"',
    /"type": "ipkeeper"/,
  ],
  [net({ ipam: {} }), '"ipam.type" is missing', /"type": "ipkeeper"/],
  [net({ ipam: { type: 5 } }), '"ipam.type" must be a string, not a number'],
  // MAC.
  [
    net({ runtimeConfig: { mac: '02:aa' } }),
    'runtimeConfig.mac: "02:aa" is no unicast MAC address',
    /02:42:ac:11:00:02/,
  ],
  [net({ runtimeConfig: { mac: 5 } }), '"runtimeConfig.mac" must be a string, not a number'],
  [
    net({ args: { cni: { mac: '01:00:00:00:00:01' } } }),
    'args.cni.mac: "01:00:00:00:00:01" is no unicast MAC address',
  ],
  [
    net({ runtimeConfig: { mac: '02:aa:00:00:00:01' }, args: { cni: { mac: 'x' } } }),
    'args.cni.mac: "x" is no unicast MAC address',
  ],
]

t.test('what is refused, with the path of the key', t => {
  for (const [config, message, hint] of spoilt) {
    const problem = problemOf(() => read({ ...config }))
    t.strictSame([problem.code, problem.message], ['IPK_CONFIG_INVALID', message], JSON.stringify(config))
    if (hint) t.match(problem.hint, hint, `hint of ${message}`)
  }
  t.end()
})

t.test('a MAC of CNI_ARGS that is none', t => {
  const problem = problemOf(() => read(net(), 'MAC=ff:ff:ff:ff:ff:ff'))
  t.equal(problem.message, 'CNI_ARGS MAC: "ff:ff:ff:ff:ff:ff" is no unicast MAC address')
  t.equal(problemOf(() => read(net(), 'FOO=bar')).code, 'IPK_ARGS_INVALID')
  t.end()
})

t.test('keys of another mode', t => {
  const keys: readonly (readonly [key: string, value: unknown, modes: readonly WiringMode[]])[] = [
    ['bridge', 'br0', ['bridge', 'underlay']],
    ['hairpinMode', true, ['bridge', 'underlay']],
    ['vlan', 5, ['bridge', 'underlay']],
    ['uplink', 'eth1', ['ptp', 'macvlan', 'underlay']],
    ['master', 'eth1', ['ptp', 'macvlan', 'underlay']],
    ['macvlanMode', 'bridge', ['macvlan']],
    ['moveHostAddresses', true, ['underlay']],
    ['ipMasq', true, ['bridge', 'ptp', 'underlay']],
    ['ipMasq', 'unnamed', ['bridge', 'ptp', 'underlay']],
    ['serviceCidrs', ['10.96.0.0/12'], ['bridge', 'ptp', 'underlay']],
    ['duplicateProbe', true, ['bridge', 'macvlan', 'underlay']],
  ]
  for (const [key, value, modes] of keys) {
    for (const mode of wiringModes) {
      const config = inMode(mode, { [key]: value })
      if (modes.includes(mode)) {
        t.doesNotThrow(() => read(config), `${key} in ${mode}`)
        continue
      }
      const { code, message } = problemOf(() => read(config))
      t.strictSame([code, message], ['IPK_CONFIG_INVALID', `"${key}" has no meaning in mode ${mode}`])
    }
  }
  for (const [mode, key] of [
    ['ptp', 'forceAddress'],
    ['ptp', 'promiscMode'],
    ['macvlan', 'forceAddress'],
    ['macvlan', 'promiscMode'],
  ] as const) {
    t.equal(
      problemOf(() => read(inMode(mode, { [key]: true }))).message,
      `"${key}" has no meaning in mode ${mode}`,
    )
  }
  t.match(problemOf(() => read(net({ master: 'eth1' }))).hint, /"mode": "underlay".*"macvlan"/)
  t.match(problemOf(() => read(macvlan({ serviceCidrs: ['10.96.0.0/12'] }))).hint, /own node/)
  t.end()
})

t.test('what the reference plugins can and we cannot', t => {
  const rows: readonly (readonly [config: object, key: string, value: string, hint: RegExp])[] = [
    [net({ promiscMode: true }), 'promiscMode', 'true', /"hairpinMode"/],
    [net({ forceAddress: true }), 'forceAddress', 'true', /ip address del ADDRESS dev ipk0$/],
    [net({ forceAddress: true, bridge: 'br7' }), 'forceAddress', 'true', /ip address del ADDRESS dev br7$/],
    [underlay({ forceAddress: true }), 'forceAddress', 'true', /ip address del ADDRESS dev ipkul0$/],
    [net({ macspoofchk: true }), 'macspoofchk', 'true', /"bridge" plugin/],
    [net({ disableContainerInterface: true }), 'disableContainerInterface', 'true', /take it out/],
    [net({ portIsolation: true }), 'portIsolation', 'true', /"mode": "ptp"/],
    [net({ vlanTrunk: [{ id: 5 }] }), 'vlanTrunk', 'an array', /"vlan"/],
    [net({ vlan: 5, preserveDefaultVlan: true }), 'preserveDefaultVlan', 'true', /that VLAN alone/],
    [net({ enabledad: true }), 'enabledad', 'true', /"duplicateProbe": true/],
    [net({ ipMasqBackend: 'iptables' }), 'ipMasqBackend', '"iptables"', /nftables/],
    [macvlan({ linkInContainer: true }), 'linkInContainer', 'true', /uplink of the host/],
    [macvlan({ bcqueuelen: 5 }), 'bcqueuelen', '5', /take it out/],
    [macvlan({ mac: '02:aa:00:00:00:01' }), 'mac', '"02:aa:00:00:00:01"', /ipkeeper\.io\/mac/],
  ]
  for (const [config, key, value, hint] of rows) {
    const problem = problemOf(() => read({ ...config }))
    t.strictSame(
      [problem.code, problem.message],
      ['IPK_UNSUPPORTED', `"${key}": ${value} is not supported by this version of ipkeeper`],
    )
    t.match(problem.hint, hint)
  }
  t.end()
})

t.test('a fallback is for the IPAM role only', t => {
  const fallback = { type: 'host-local' }
  const problem = problemOf(() => read(net({ ipam: { ...ipam, fallback } })))
  t.equal(problem.code, 'IPK_UNSUPPORTED')
  t.match(
    problem.message,
    /^"ipam\.fallback" is not supported with "type": "ipkeeper": the daemon wires only/,
  )
  t.match(problem.hint, /"type": "bridge"/)
  t.doesNotThrow(() => read(net({ ipam: { ...ipam, fallback: null } })))
  t.end()
})

t.test('without "ipam" it is readIpamConfig that complains', t => {
  t.strictSame(read(net({ ipam: undefined })), defaults.bridge)
  t.end()
})

t.test('conflists of the reference plugins need a change of "type" alone', t => {
  const bridge = {
    bridge: 'cni0',
    isGateway: true,
    isDefaultGateway: true,
    forceAddress: false,
    ipMasq: true,
  }
  t.strictSame(read(net({ ...bridge, hairpinMode: true, mtu: 1450, promiscMode: false })), {
    ...defaults.bridge,
    bridge: 'cni0',
    defaultRoute: true,
    masquerade: 'all',
    mtu: 1450,
  })
  t.strictSame(read(ptp({ ipMasq: true, mtu: 512, dns: {} })), {
    ...defaults.ptp,
    masquerade: 'all',
    mtu: 512,
  })
  t.end()
})
