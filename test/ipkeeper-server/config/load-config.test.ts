import { symlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { ConfigProblem, loadConfig, parseConfig } from '../../../ipkeeper-server/config/load-config.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

const defaults = {
  node: hostname(),
  pools: [],
  retention: 'release',
  cooldown: 60_000,
  preferFor: 600_000,
  annotations: [],
  namespaceDefaults: false,
  requireAnnotations: undefined,
  kubernetes: { mode: 'auto' },
  store: { singleNode: false, etcd: { prefix: '/ipkeeper/v1/' } },
  history: { maxAge: 90 * 86_400_000, maxEntries: 250_000, sharedEntries: 10_000 },
  nodeRoutes: 'auto',
  takeover: { byTime: undefined, offlineGrace: 300_000 },
  runtime: { sockets: undefined },
  reconcile: {
    mode: 'repair',
    interval: 15_000,
    minAge: 45_000,
    minAgeUnproved: 300_000,
    passes: 2,
    links: [],
    kinds: {},
  },
  resultCache: {
    mode: 'repair',
    others: 'report',
    interval: 60_000,
    folders: {
      results: ['/var/lib/cni/results', '/var/lib/cni/cache/results', '/var/lib/cni/multus/results'],
      flannel: ['/var/lib/cni/flannel'],
      multus: ['/var/lib/cni/multus'],
      hostLocal: ['/var/lib/cni/networks'],
    },
  },
  conflist: { directory: '/etc/cni/net.d', binDirs: undefined },
  metrics: { listen: undefined, tokenFile: undefined },
  page: { listen: undefined },
  webhook: undefined,
  election: { namespace: 'kube-system' },
  nodeLabels: {},
  logLevel: 'info',
}

const accepted: readonly (readonly [name: string, text: string, differs: object])[] = [
  ['nothing', '', {}],
  ['comments alone', '# node: worker-1\n', {}],
  ['an empty mapping', '{}', {}],
  ['null', 'null', {}],
  ['node', 'node: worker-1.example.com\n', { node: 'worker-1.example.com' }],
  ['a node of digits, as text', 'node: "007"\n', { node: '007' }],
  ['retention by word', 'retention: while-owner-exists', { retention: 'while-owner-exists' }],
  ['retention for ever', 'retention: forever', { retention: 'forever' }],
  ['retention by duration', 'retention: 30m', { retention: { milliseconds: 1_800_000 } }],
  ['cool-down', 'cooldown: 90s', { cooldown: 90_000 }],
  ['preferFor', 'preferFor: 2h', { preferFor: 7_200_000 }],
  ['sockets of runtimes', 'runtime: { sockets: [/a.sock] }', { runtime: { sockets: ['/a.sock'] } }],
  ['no runtime', 'runtime: { sockets: [] }', { runtime: { sockets: [] } }],
  [
    'reconcile, and a kind of its own',
    'reconcile: { mode: report, minAge: 1m, passes: 3, links: ["cali*"], kinds: { dead-boot: { mode: off, minAge: 2m } } }',
    {
      reconcile: {
        ...defaults.reconcile,
        mode: 'report',
        minAge: 60_000,
        passes: 3,
        links: ['cali*'],
        kinds: { 'dead-boot': { mode: 'off', minAge: 120_000 } },
      },
    },
  ],
  [
    'a folder of the result cache, the others as they are',
    'resultCache: { others: quarantine, interval: 2m, folders: { results: [/r] } }',
    {
      resultCache: {
        mode: 'repair',
        others: 'quarantine',
        interval: 120_000,
        folders: { ...defaults.resultCache.folders, results: ['/r'] },
      },
    },
  ],
  [
    'network configurations',
    'conflist: { directory: /c, binDirs: [/a, /b] }',
    { conflist: { directory: '/c', binDirs: ['/a', '/b'] } },
  ],
  [
    'metrics on loopback',
    'metrics: { listen: "127.0.0.1:9478" }',
    { metrics: { listen: { host: '127.0.0.1', port: 9478 }, tokenFile: undefined } },
  ],
  ['a page on loopback', 'page: { listen: "[::1]:7480" }', { page: { listen: { host: '::1', port: 7480 } } }],
  [
    'a webhook',
    'webhook: { listen: "0.0.0.0:9443", certFile: /c, keyFile: /k }',
    {
      webhook: {
        listen: { host: '0.0.0.0', port: 9443 },
        certFile: '/c',
        keyFile: '/k',
        issueFor: undefined,
      },
    },
  ],
  [
    'a webhook, IPv6',
    'webhook: { listen: "[::]:9443", certFile: /c, keyFile: /k, issueFor: a.b.svc }',
    { webhook: { listen: { host: '::', port: 9443 }, certFile: '/c', keyFile: '/k', issueFor: 'a.b.svc' } },
  ],
  ['an election elsewhere', 'election: { namespace: ipkeeper }', { election: { namespace: 'ipkeeper' } }],
  [
    'metrics for who shows a token',
    'metrics: { listen: "0.0.0.0:9478", tokenFile: /t }',
    { metrics: { listen: { host: '0.0.0.0', port: 9478 }, tokenFile: '/t' } },
  ],
  [
    'metrics on loopback, IPv6',
    'metrics: { listen: "[::1]:9478" }',
    { metrics: { listen: { host: '::1', port: 9478 }, tokenFile: undefined } },
  ],
  ['no routes between nodes', 'nodeRoutes: off', { nodeRoutes: 'off' }],
  ['takeover by time', 'takeover: { byTime: 10m }', { takeover: { byTime: 600_000, offlineGrace: 300_000 } }],
  [
    'takeover by time, sooner',
    'takeover: { byTime: 2m, offlineGrace: 1m }',
    { takeover: { byTime: 120_000, offlineGrace: 60_000 } },
  ],
  [
    'a grace that nothing comes of',
    'takeover: { byTime: off, offlineGrace: 1h }',
    { takeover: { byTime: undefined, offlineGrace: 3_600_000 } },
  ],
  ['log level', 'logLevel: debug', { logLevel: 'debug' }],
  ['dialects', 'annotations: [antrea, calico]', { annotations: ['antrea', 'calico'] }],
  ['no dialect', 'annotations: []', {}],
  ['namespace defaults', 'namespaceDefaults: true', { namespaceDefaults: true }],
  ['annotations required', 'requireAnnotations: true', { requireAnnotations: true }],
  ['annotations not required', 'requireAnnotations: false', { requireAnnotations: false }],
  [
    'Kubernetes by file',
    'kubernetes: { kubeconfig: /etc/k, context: prod }',
    { kubernetes: { mode: 'auto', kubeconfig: '/etc/k', context: 'prod' } },
  ],
  [
    'Kubernetes switched off for a while',
    'kubernetes:\n  mode: off\n  kubeconfig: /etc/k\n',
    { kubernetes: { mode: 'off', kubeconfig: '/etc/k' } },
  ],
  ['an empty section', 'kubernetes: {}\nstore: {}\nhistory: {}\nnodeLabels: {}\npools: []', {}],
  [
    'a store of one node',
    'store: { singleNode: true }',
    { store: { singleNode: true, etcd: { prefix: '/ipkeeper/v1/' } } },
  ],
  [
    'etcd',
    'store: { etcd: { prefix: /a/b/, caFile: /c, certFile: /d, keyFile: /e, user: u, passwordFile: /p } }',
    {
      store: {
        singleNode: false,
        etcd: {
          prefix: '/a/b/',
          caFile: '/c',
          certFile: '/d',
          keyFile: '/e',
          user: 'u',
          passwordFile: '/p',
        },
      },
    },
  ],
  [
    'history',
    'history: { maxAge: 7d, maxEntries: 5, sharedEntries: 0 }',
    { history: { maxAge: 604_800_000, maxEntries: 5, sharedEntries: 0 } },
  ],
  [
    'a receiver of the history',
    'history: { export: { syslog: "tls://logs.example.org:6514", caFile: /a, certFile: /b, keyFile: /c } }',
    {
      history: {
        maxAge: 90 * 86_400_000,
        maxEntries: 250_000,
        sharedEntries: 10_000,
        export: {
          receiver: { protocol: 'tls', host: 'logs.example.org', port: 6514 },
          ...{ caFile: '/a', certFile: '/b', keyFile: '/c' },
        },
      },
    },
  ],
  [
    'labels of the node',
    'nodeLabels: { rack: r7, example.com/zone: "" }',
    { nodeLabels: { rack: 'r7', 'example.com/zone': '' } },
  ],
  [
    'several, as JSON',
    '{ "node": "n1", "cooldown": "1d", "logLevel": "warn" }',
    { node: 'n1', cooldown: 86_400_000, logLevel: 'warn' },
  ],
  [
    'an anchor and its alias',
    'cooldown: &long 12h\npreferFor: *long',
    { cooldown: 43_200_000, preferFor: 43_200_000 },
  ],
  ['a byte order mark and CRLF', '\ufeffnode: n1\r\ncooldown: 5s\r\n', { node: 'n1', cooldown: 5000 }],
]
for (const [name, text, differs] of accepted) {
  t.test(`accepted: ${name}`, t => {
    t.strictSame(parseConfig(text, 'c.yaml'), { ...defaults, ...differs })
    t.end()
  })
}

const duration = 'is not a duration of at least 1s, such as 90s, 30m, 12h or 7d'
const refused: readonly (readonly [name: string, text: string, message: string | RegExp])[] = [
  ['cut off', 'node: "n1', /^c\.yaml:1:10: Missing closing "quote$/],
  ['a tab', 'node: n1\n\tcooldown: 5s\n', 'c.yaml:2:1: a tab; YAML is indented with spaces'],
  ['cut JSON', '{ "node": "n1",', /^c\.yaml:1:16: /],
  [
    'the same key twice',
    'node: a\ncooldown: 5s\nnode: b\n',
    'c.yaml:3:1: the key "node" is there already, in line 1',
  ],
  [
    'two documents',
    'node: a\n---\nnode: b\n',
    'c.yaml:2:1: a second document begins here; the file holds one',
  ],
  ['a list', '- node: a\n', 'c.yaml:1:1: a list is not a mapping of keys to values'],
  ['a text', '# x\nworker-1\n', 'c.yaml:2:1: "worker-1" is not a mapping of keys to values'],
  ['a number', '7', 'c.yaml:1:1: 7 is not a mapping of keys to values'],
  [
    'a misspelt key',
    'node: a\ncooldwon: 5s\n',
    'c.yaml:2:1: unknown key "cooldwon"; did you mean "cooldown"?',
  ],
  ['a key of another case', 'loglevel: info', 'c.yaml:1:1: unknown key "loglevel"; did you mean "logLevel"?'],
  ['a key like no other', '# hello\n\n  frobnicate:\n    - 1\n', 'c.yaml:3:3: unknown key "frobnicate"'],
  ['a key that is a number', '1: x', 'c.yaml:1:1: unknown key "1"'],
  [
    'a webhook without a certificate',
    'webhook: { listen: "0.0.0.0:9443" }',
    'c.yaml:1:10: webhook: lacks "certFile", "keyFile": a webhook has listen, certFile and keyFile',
  ],
  [
    'a webhook nowhere',
    'webhook: { listen: ":9443", certFile: /c, keyFile: /k }',
    'c.yaml:1:20: webhook.listen: ":9443" is not an address and a port, such as 0.0.0.0:9443 or [::]:9443',
  ],
  [
    'metrics for everybody',
    'metrics: { listen: "0.0.0.0:9478" }',
    'c.yaml:1:20: metrics.listen: "0.0.0.0:9478" is not a loopback address and a port, such as 127.0.0.1:9478 or [::1]:9478, or with tokenFile any address',
  ],
  [
    'a token for nobody',
    'metrics: { tokenFile: /t }',
    'c.yaml:1:10: metrics: lacks "listen": a token is shown to those who listen there',
  ],
  [
    'a page for everybody',
    'page: { listen: "10.0.0.1:7480" }',
    'c.yaml:1:17: page.listen: "10.0.0.1:7480" is not a loopback address and a port, such as 127.0.0.1:7480 or [::1]:7480',
  ],
  [
    'a kind that there is not',
    'reconcile: { kinds: { dead-bot: { mode: off } } }',
    'c.yaml:1:23: reconcile.kinds: unknown key "dead-bot"; did you mean "dead-boot"?',
  ],
  [
    'takeover before the other node has stopped',
    'takeover: { byTime: 9m }',
    'c.yaml:1:21: takeover.byTime: "9m" is less than twice "offlineGrace" (5m): a node that is cut off has to have stopped by then',
  ],
  [
    'a switch that is no time',
    'takeover: { byTime: "on" }',
    'c.yaml:1:21: takeover.byTime: "on" is not off, or a duration of at least 1s, such as 90s, 30m, 12h or 7d',
  ],
  [
    'an age of a kind',
    'reconcile: { kinds: { dead-boot: { minAge: soon } } }',
    'c.yaml:1:44: reconcile.kinds.dead-boot.minAge: "soon" is not a duration of at least 1s, such as 90s, 30m, 12h or 7d',
  ],
  [
    'a relative folder',
    'resultCache: { folders: { results: [var] } }',
    'c.yaml:1:37: resultCache.folders.results[0]: "var" is not an absolute path',
  ],
  ['a misspelt key in JSON', '{ "nod": "a" }', 'c.yaml:1:3: unknown key "nod"; did you mean "node"?'],
  ['an empty node', 'node: ""', 'c.yaml:1:7: node: "" is not a name of letters, digits, "_", "." and "-"'],
  [
    'a node with a slash',
    'node: a/b',
    'c.yaml:1:7: node: "a/b" is not a name of letters, digits, "_", "." and "-"',
  ],
  ['a node of digits', 'node: 7', 'c.yaml:1:7: node: 7 is not a name of letters, digits, "_", "." and "-"'],
  ['no value', 'cooldown: 5s\nnode:\n', /^c\.yaml:2:\d: node: null is not a name/],
  [
    'retention',
    'node: a\nretention: keep\n',
    'c.yaml:2:12: retention: "keep" is not release, while-owner-exists, forever, or a duration of at least 1s, such as 90s, 30m, 12h or 7d',
  ],
  ['a number for a duration', 'cooldown: 60', `c.yaml:1:11: cooldown: 60 ${duration}`],
  ['no unit', 'cooldown: "60"', `c.yaml:1:11: cooldown: "60" ${duration}`],
  ['an unknown unit', 'preferFor: 5w', `c.yaml:1:12: preferFor: "5w" ${duration}`],
  ['nothing', 'preferFor: 0s', `c.yaml:1:12: preferFor: "0s" ${duration}`],
  ['longer than a life', 'cooldown: 99999999d', `c.yaml:1:11: cooldown: "99999999d" ${duration}`],
  ['a list for a value', 'cooldown: [5s]', `c.yaml:1:11: cooldown: a list ${duration}`],
  ['a mapping for a value', 'cooldown:\n  s: 5\n', `c.yaml:2:3: cooldown: a mapping ${duration}`],
  [
    'log level',
    'node: a\nlogLevel: loud',
    'c.yaml:2:11: logLevel: "loud" is not one of trace, debug, info, warn, error, fatal',
  ],
  [
    'an unknown dialect',
    'annotations:\n  - calico\n  - cilium\n',
    'c.yaml:3:5: annotations[1]: "cilium" is not one of crd-ipkeeper, calico, kube-ovn, hybridnet, antrea',
  ],
  [
    'a dialect twice',
    'annotations: [calico, antrea, calico]',
    'c.yaml:1:31: annotations[2]: "calico" is there already, as [0]',
  ],
  [
    'a word for a boolean',
    'namespaceDefaults: yes',
    'c.yaml:1:20: namespaceDefaults: "yes" is not true or false',
  ],
  [
    'null for a section',
    'node: a\nkubernetes:\n',
    'c.yaml:2:1: kubernetes: null is not a mapping with mode, kubeconfig or context',
  ],
  [
    'an unknown key of a section',
    'kubernetes: { mod: off }',
    'c.yaml:1:15: kubernetes: unknown key "mod"; did you mean "mode"?',
  ],
  [
    'an unknown mode',
    'kubernetes: { mode: on }',
    'c.yaml:1:21: kubernetes.mode: "on" is not one of auto, in-cluster, kubeconfig, off',
  ],
  [
    'a prefix of etcd that ends within a name',
    'store: { etcd: { prefix: /a } }',
    'c.yaml:1:26: store.etcd.prefix: "/a" is not a text such as /ipkeeper/v1/, with "/" at both ends',
  ],
  [
    'a certificate without a key',
    'store: { etcd: { certFile: /c } }',
    'c.yaml:1:18: store.etcd: "certFile" needs "keyFile", which is not given',
  ],
  [
    'a password for nobody',
    'store: { etcd: { passwordFile: /p } }',
    'c.yaml:1:18: store.etcd: "passwordFile" needs "user", which is not given',
  ],
  [
    'mode kubeconfig without one',
    'kubernetes: { mode: kubeconfig }',
    'c.yaml:1:21: kubernetes.mode: mode kubeconfig needs "kubeconfig", the path of that file',
  ],
  [
    'a relative kubeconfig',
    'kubernetes: { kubeconfig: admin.conf }',
    'c.yaml:1:27: kubernetes.kubeconfig: "admin.conf" is not an absolute path',
  ],
  [
    'a kubeconfig that is not used',
    'kubernetes: { mode: in-cluster, kubeconfig: /k }',
    'c.yaml:1:33: kubernetes: "kubeconfig" has no use with mode in-cluster',
  ],
  [
    'a context of nothing',
    'kubernetes: { context: prod }',
    'c.yaml:1:15: kubernetes: "context" is one of "kubeconfig", which is not given',
  ],
  [
    'too old a history',
    'history: { maxAge: 99999999d }',
    `c.yaml:1:20: history.maxAge: "99999999d" ${duration}`,
  ],
  [
    'no history',
    'history: { maxEntries: 0 }',
    'c.yaml:1:24: history.maxEntries: 0 is not an integer from 1 to 1000000000',
  ],
  [
    'an export to nowhere',
    'history: { export: {} }',
    'c.yaml:1:20: history.export: lacks "syslog", the receiver, such as tcp://192.0.2.10:514',
  ],
  [
    'a receiver without a port',
    'history: { export: { syslog: "tcp://192.0.2.10" } }',
    'c.yaml:1:30: history.export.syslog: "tcp://192.0.2.10" has no port at its end; usual are tcp://HOST:514, udp://HOST:514 and tls://HOST:6514',
  ],
  [
    'a receiver with a password',
    'history: { export: { syslog: "tls://user:secret@192.0.2.10:6514" } }',
    'c.yaml:1:30: history.export.syslog: has a user or a password, of which syslog knows nothing; write tls://HOST:PORT, and a client certificate in "certFile" and "keyFile"',
  ],
  [
    'an authority without TLS',
    'history: { export: { syslog: "tcp://192.0.2.10:514", caFile: /a } }',
    'c.yaml:1:54: history.export: "caFile" has no use with tcp, only with tls',
  ],
  [
    'a certificate of this node without its key',
    'history: { export: { syslog: "tls://192.0.2.10:6514", certFile: /a } }',
    'c.yaml:1:55: history.export: "certFile" needs "keyFile", which is not given',
  ],
  [
    'a label that is a number',
    'nodeLabels:\n  rack: 7\n',
    'c.yaml:2:9: nodeLabels.rack: 7 is not a label value: up to 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends',
  ],
  [
    'a label key with a space',
    'nodeLabels: { "my rack": r7 }',
    'c.yaml:1:15: nodeLabels: "my rack" is not a label key, such as team or example.com/team',
  ],
]
for (const [name, text, message] of refused) {
  t.test(`refused: ${name}`, async t => {
    const problem = await thrownProblem(() => parseConfig(text, 'c.yaml'))
    t.equal(problem.code, 'IPK_DAEMON_CONFIG')
    if (typeof message === 'string') t.equal(problem.message, message)
    else t.match(problem.message, message)
    t.notMatch(problem.message, '\n')
  })
}

t.test('every fault is told, in the order of the file', async t => {
  const text =
    'cooldwon: 5s\nretention: keep\npools:\n  - name: A\n  - { name: b, subnet: 10.0.0.0/33 }\nnode: ""\n'
  const problem = await thrownProblem(() => parseConfig(text, 'c.yaml'))
  const places = [problem.message, ...problem.details.split('\n')].map(line => line.split(': ')[0])
  t.strictSame(places, [
    'c.yaml:1:1',
    'c.yaml:2:12',
    'c.yaml:4:5',
    'c.yaml:4:11',
    'c.yaml:5:24',
    'c.yaml:6:7',
  ])
})

t.test('of very many, twenty more are told in the details', async t => {
  const text = Array.from({ length: 50 }, (_, index) => `key${index}: 1\n`).join('')
  const problem = await thrownProblem(() => parseConfig(text, 'c.yaml'))
  t.equal(problem.message, 'c.yaml:1:1: unknown key "key0"')
  const lines = problem.details.split('\n')
  t.equal(lines.length, 21)
  t.match(lines[19], 'c.yaml:21:1: ')
  t.equal(lines[20], 'and 29 more')
  if (!(problem instanceof ConfigProblem)) throw problem
  t.equal(problem.faults.length, 50, 'all are at hand')
})

t.test('the name of the node is that of the caller where the file does not say it', t => {
  t.equal(parseConfig('', 'c.yaml', 'n9').node, 'n9')
  t.equal(parseConfig('node: n1', 'c.yaml', 'n9').node, 'n1')
  t.end()
})

/** Every key of the file, each with a value that is accepted. */
const whole = {
  node: 'n1',
  pools: [
    {
      name: 'a',
      segment: 'lab',
      subnet: '10.1.0.0/16',
      rangeStart: '10.1.0.9',
      rangeEnd: '10.1.9.9',
      gateway: '10.1.0.1',
      exclude: ['10.1.0.20', '10.1.0.30-10.1.0.40', '10.1.1.0/24'],
      ranges: [[{ subnet: 'fd00::/64' }, { subnet: 'fd01::/64', exclude: [] }]],
      routes: [{ dst: '0.0.0.0/0', gw: '10.1.0.2', mtu: 1400, advmss: 1, priority: 2, table: 3, scope: 0 }],
      dns: { nameservers: ['10.1.0.2'], domain: 'x.org', search: ['x.org', '.'], options: ['ndots:2'] },
      mtu: 1400,
      namespaces: ['shop', 'team-*'],
      namespaceSelector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'Exists' }] },
      nodes: ['n1'],
      nodeSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
      quotaPerNamespace: 3,
      retention: '30m',
      cooldown: '5s',
      preferFor: '1h',
      strategy: 'least-recently-used',
    },
    { name: 'b', subnet: '10.1.0.0/16' },
  ],
  retention: 'forever',
  cooldown: '1s',
  preferFor: '1s',
  annotations: ['calico'],
  namespaceDefaults: true,
  requireAnnotations: false,
  kubernetes: { mode: 'kubeconfig', kubeconfig: '/k', context: 'c' },
  store: {
    singleNode: true,
    etcd: { prefix: '/a/', caFile: '/c', certFile: '/d', keyFile: '/e', user: 'u', passwordFile: '/p' },
  },
  history: { maxAge: '1d', maxEntries: 1, sharedEntries: 1 },
  nodeLabels: { a: 'b' },
  logLevel: 'warn',
}

t.test('wherever a value is broken, only a problem with places is thrown', t => {
  t.doesNotThrow(() => parseConfig(JSON.stringify(whole), 'c.json'))
  const odd = fc.constantFrom<unknown>(
    ...[null, true, -1, 1e400, '', 'a', '10.1.0.0/16', 'fd00::1', '5s', 'In', '\u2028', [], {}],
    ...[[null], [[null]], [[{}]], { a: null }, { ['__proto__']: 1 }, { constructor: [] }, { name: 'b' }],
  )
  /** The same with something odd at a place that a number chooses. */
  const spoil = (value: unknown, choice: number, put: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return put
    const keys = Object.keys(value)
    const turn = choice % (keys.length + 1)
    if (turn === keys.length) return put
    const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>
    const key = keys[turn]!
    copy[key] = spoil(copy[key], Math.floor(choice / (keys.length + 1)), put)
    return copy
  }
  let refusals = 0
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(), odd), { minLength: 1, maxLength: 3 }), changes => {
      const value = changes.reduce<unknown>((file, [choice, put]) => spoil(file, choice, put), whole)
      try {
        parseConfig(JSON.stringify(value), 'c.json')
      } catch (error) {
        if (!(error instanceof ConfigProblem)) throw error
        refusals++
        for (const fault of error.faults) if (!/^c\.json:1:\d+: [^\n]+$/.test(fault)) throw new Error(fault)
      }
    }),
    { numRuns: 3000, seed: 1 },
  )
  t.ok(refusals > 1500 && refusals < 3000, `${refusals} of 3000 were refused`)
  t.end()
})

t.test('files', async t => {
  const folder = t.testdir({ 'good.yaml': 'node: n1\n', 'bad.yaml': 'node: n1\ncolldown: 5s\n', folder: {} })
  writeFileSync(join(folder, 'utf16.yaml'), Buffer.from('\ufeffnode: n1\n', 'utf16le'))
  writeFileSync(join(folder, 'large.yaml'), `node: n1\n${'#'.repeat(1024 * 1024)}`)
  symlinkSync('/dev/zero', join(folder, 'device'))
  t.equal(loadConfig(join(folder, 'good.yaml'), true).node, 'n1')
  t.strictSame(loadConfig(join(folder, 'none.yaml'), false), defaults, 'absent: defaults')
  for (const [name, mustExist, message] of [
    ['bad.yaml', true, 'bad.yaml:2:1: unknown key "colldown"; did you mean "cooldown"?'],
    ['none.yaml', true, 'none.yaml: cannot be read (ENOENT)'],
    ['folder', false, 'folder: cannot be read (EISDIR)'],
    ['good.yaml/x', false, 'good.yaml/x: cannot be read (ENOTDIR)'],
    ['large.yaml', true, 'large.yaml: cannot be read (larger than 1048576 bytes)'],
    ['utf16.yaml', true, 'utf16.yaml: cannot be read (not UTF-8)'],
    ['device', true, 'device: cannot be read (a device, no regular file)'],
  ] as const) {
    const problem = await thrownProblem(() => loadConfig(join(folder, name), mustExist))
    const hint = name === 'none.yaml' ? /^with --config the file has to exist/ : /^correct the file/
    t.match(problem, { code: 'IPK_DAEMON_CONFIG', message: join(folder, message), hint })
  }
})
