/** Remedies are written once, and said as they work in the place where they are read. */
import t from 'tap'
import { commandHere, remedyHere, type Place } from '../../../shared/remedy/place.ts'
import { readStartedAs } from '../../../shared/remedy/service-lines.ts'
import { asking, toolPlaces } from '../../../shared/remedy/tool-lines.ts'
import { catalogue } from '../../../shared/problem/catalogue.ts'
import { commands } from '../../../ipkeeper-server/cli/ipkeeperctl.ts'

const started = { service: 'pod', namespace: 'ipkeeper-system', node: 'n1' } as const
const pod = { startedAs: { ...started, pod: 'ipkeeper-x7k2p' } }
/** Its name is not known. */
const nameless = { startedAs: started }
const container = { startedAs: { service: 'container' } } as const
const byNode = '-l app.kubernetes.io/name=ipkeeper --field-selector spec.nodeName=n1'
const ofPod = 'kubectl -n ipkeeper-system delete pod ipkeeper-x7k2p'
const inPod = 'kubectl -n ipkeeper-system exec ipkeeper-x7k2p -- '
const inNextPod = `kubectl -n ipkeeper-system exec $(kubectl -n ipkeeper-system get pod ${byNode} -o name) -- `

const offlinePod = 'ipkeeper-offline-n1'
const makesOffline = `kubectl -n ipkeeper-system debug ipkeeper-x7k2p --copy-to=${offlinePod} --same-node -c ipkeeper -- sleep infinity && kubectl -n ipkeeper-system wait --for=condition=Ready pod/${offlinePod} --timeout=60s && `
const inOffline = `kubectl -n ipkeeper-system exec ${offlinePod} -- `
/** Read in the copy of the pod. */
const offline = { startedAs: { ...started, pod: offlinePod } }

const rows: readonly (readonly [kind: string, place: Place, written: string, said: string])[] = [
  ['by systemd', {}, 'systemctl restart ipkeeper', 'systemctl restart ipkeeper'],
  [
    'a DaemonSet',
    pod,
    'systemctl restart ipkeeper, then see: ipkeeperctl status',
    `${ofPod}, then see: ${inNextPod}ipkeeperctl status`,
  ],
  [
    'a DaemonSet',
    pod,
    'see: ipkeeperctl leases, then: systemctl reload-or-restart ipkeeper',
    `see: ${inPod}ipkeeperctl leases, then: ${ofPod}`,
  ],
  [
    'a DaemonSet that tells no pod its name',
    nameless,
    'see: ipkeeperctl status; systemctl start ipkeeper; systemctl status ipkeeper; journalctl -u ipkeeper',
    `see: ${inNextPod}ipkeeperctl status; kubectl -n ipkeeper-system delete pod ${byNode}; kubectl -n ipkeeper-system get pod ${byNode}; kubectl -n ipkeeper-system logs -l app.kubernetes.io/name=ipkeeper --prefix --tail 100`,
  ],
  [
    'a DaemonSet on another socket',
    { ...pod, socket: '/s' },
    'see: ipkeeperctl leases; ipkeeperctl restore FILE',
    `see: ${inPod}ipkeeperctl leases --socket /s; ${makesOffline}${inOffline}ipkeeperctl restore /var/lib/ipkeeper/FILE`,
  ],
  [
    'a DaemonSet, and words for it that a shell would take apart',
    { startedAs: { service: 'pod', namespace: 'a b', node: 'n;1', pod: 'p$x' } },
    'see: ipkeeperctl status; systemctl restart ipkeeper, then see: ipkeeperctl audit',
    `see: kubectl -n 'a b' exec 'p$x' -- ipkeeperctl status; kubectl -n 'a b' delete pod 'p$x', then see: kubectl -n 'a b' exec $(kubectl -n 'a b' get pod -l app.kubernetes.io/name=ipkeeper --field-selector 'spec.nodeName=n;1' -o name) -- ipkeeperctl audit`,
  ],
  [
    'a pod of the longest name',
    { startedAs: { ...started, pod: 'p'.repeat(253) } },
    'journalctl -u ipkeeper',
    `kubectl -n ipkeeper-system logs ${'p'.repeat(253)} --tail 100`,
  ],
  [
    'a DaemonSet, and what asks',
    pod,
    'ipkeeperctl release --force fd00::5; ipkeeperctl release 10.0.0.1 --yes; ipkeeperctl release-notes',
    `${inPod.replace('exec', 'exec -it')}ipkeeperctl release --force fd00::5; ${inPod}ipkeeperctl release 10.0.0.1 --yes; ipkeeperctl release-notes`,
  ],
  [
    'a DaemonSet, and files',
    pod,
    'ipkeeperctl explain --manifest FILE; ipkeeperctl backup FILE; ipkeeperctl lint /etc/cni/net.d',
    `${inPod.replace('exec', 'exec -i')}ipkeeperctl explain --manifest - < FILE; ${inPod}ipkeeperctl backup /var/lib/ipkeeper/FILE; ${inPod}ipkeeperctl lint /etc/cni/net.d`,
  ],
  [
    'a DaemonSet on another state folder',
    { ...pod, stateDir: '/d/a b' },
    'a copy is written by: ipkeeperctl backup FILE',
    `a copy is written by: ${inPod}ipkeeperctl backup '/d/a b/FILE'`,
  ],
  [
    'a DaemonSet, and what support needs',
    pod,
    'name another file: ipkeeperctl bundle FILE',
    `name another file: ${inPod}ipkeeperctl bundle /var/lib/ipkeeper/FILE`,
  ],
  [
    'a DaemonSet whose pod does not run, as it cannot read its ledger',
    pod,
    'ipkeeperctl rescue --store sqlite:/d/leases.db; or: ipkeeperctl restore FILE; ipkeeperctl rescue',
    `${makesOffline}${inOffline}ipkeeperctl rescue --store sqlite:/d/leases.db; or: ${inOffline}ipkeeperctl restore /var/lib/ipkeeper/FILE; ${inPod}ipkeeperctl rescue`,
  ],
  [
    'a DaemonSet that tells no pod its name, and what needs it stopped',
    nameless,
    'ipkeeperctl migrate A B',
    `${makesOffline.replace('ipkeeper-x7k2p', `$(kubectl -n ipkeeper-system get pod ${byNode} -o name)`)}${inOffline}ipkeeperctl migrate A B`,
  ],
  [
    'the copy of its pod',
    offline,
    'next: ipkeeperctl backup FILE --store sqlite:/d; start the daemon: systemctl start ipkeeper, then: ipkeeperctl audit',
    `next: ${inOffline}ipkeeperctl backup /var/lib/ipkeeper/FILE --store sqlite:/d; start the daemon: kubectl label node n1 ipkeeper.io/daemon-, then: ${inNextPod}ipkeeperctl audit`,
  ],
  ['the copy of its pod', offline, 'see: ipkeeperctl status', `see: ${inNextPod}ipkeeperctl status`],
  [
    'ipkeeperctl beside a DaemonSet',
    { ...pod, toolIsHere: true },
    'systemctl start ipkeeper; ipkeeperctl status',
    `${ofPod}; ipkeeperctl status`,
  ],
  ['a DaemonSet that asks no API', { ...pod, clustered: false }, 'systemctl start ipkeeper', ofPod],
  ['a DaemonSet', pod, 'so: systemctl reload-or-restart ipkeeper', `so: ${ofPod}`],
  ['a DaemonSet', pod, 'systemctl start ipkeeper', ofPod],
  [
    'a DaemonSet',
    pod,
    'stop it: systemctl stop ipkeeper (but',
    'stop it: kubectl label node n1 ipkeeper.io/daemon=off (but',
  ],
  ['a DaemonSet', pod, 'systemctl disable --now ipkeeper', 'kubectl label node NODE ipkeeper.io/daemon=off'],
  ['a DaemonSet', pod, 'systemctl cat ipkeeper', 'kubectl -n ipkeeper-system get daemonset ipkeeper -o yaml'],
  [
    'a DaemonSet',
    pod,
    'journalctl -u ipkeeper -n 100',
    'kubectl -n ipkeeper-system logs ipkeeper-x7k2p --tail 100',
  ],
  [
    'services of the node',
    pod,
    'systemctl restart containerd; systemctl status ipkeeper2',
    'systemctl restart containerd; systemctl status ipkeeper2',
  ],
  ['a container', container, 'systemctl restart ipkeeper', 'restart the container of ipkeeper-server'],
  ['a container', container, 'systemctl stop ipkeeper', 'stop the container of ipkeeper-server'],
  ['a container', container, 'journalctl -u ipkeeper', 'look at the log of the container of ipkeeper-server'],
  [
    'no cluster',
    { clustered: false },
    'recreate the pod: kubectl delete pod -n shop web-0 (or: crictl stopp 3f2a)',
    'recreate the pod: crictl stopp 3f2a',
  ],
  [
    'no cluster',
    { clustered: false },
    'or end it: kubectl delete pod -n shop web.0',
    "or end it: crictl stopp $(crictl pods -q --namespace shop --name '^web\\.0$')",
  ],
  [
    'no cluster',
    { clustered: false },
    'kubectl --namespace shop delete pod web-0',
    "crictl stopp $(crictl pods -q --namespace shop --name '^web-0$')",
  ],
  [
    'no cluster',
    { clustered: false },
    'see: kubectl describe pod -n shop web-0, or the log',
    "see: crictl inspectp $(crictl pods -q --namespace shop --name '^web-0$'), or the log",
  ],
  [
    'no cluster, and no namespace',
    { clustered: false },
    'kubectl delete pod web-0',
    "crictl stopp $(crictl pods -q --namespace default --name '^web-0$')",
  ],
  ['no cluster', { clustered: false }, 'see: kubectl get pods --all-namespaces; a', 'see: crictl pods; a'],
  ['a cluster', { clustered: true }, 'kubectl delete pod -n shop web-0', 'kubectl delete pod -n shop web-0'],
  ['not known', {}, 'kubectl delete pod -n shop web-0', 'kubectl delete pod -n shop web-0'],
  [
    'another socket',
    { socket: '/s/a b' },
    'see: ipkeeperctl pools, ipkeeperctl leases --pool x; or not',
    "see: ipkeeperctl pools --socket '/s/a b', ipkeeperctl leases --socket '/s/a b' --pool x; or not",
  ],
  [
    'another socket',
    { socket: '/s' },
    'ipkeeperctl release --pool POOL and ipkeeperctl cache repair',
    'ipkeeperctl release --socket /s --pool POOL and ipkeeperctl cache repair --socket /s',
  ],
  [
    'another socket',
    { socket: '/s' },
    'see: ipkeeperctl status --socket /s; ipkeeperctl import host-local --apply',
    'see: ipkeeperctl status --socket /s; ipkeeperctl import host-local --socket /s --apply',
  ],
  [
    'no command',
    { socket: '/s' },
    'plugin, ipkeeperctl and operators; see: ipkeeperctl --help; ipkeeperctl lint FILE',
    'plugin, ipkeeperctl and operators; see: ipkeeperctl --help; ipkeeperctl lint FILE',
  ],
  [
    'a request by hand',
    { socket: '/s' },
    'curl --unix-socket /run/ipkeeper/ipkeeper.sock http://ipkeeper/metrics; ipkeeperctl who ADDRESS',
    'curl --unix-socket /s http://ipkeeper/metrics; ipkeeperctl who --socket /s ADDRESS',
  ],
  [
    'another socket, and a next line',
    { socket: '/s' },
    'see: ipkeeperctl status\nthen: ipkeeperctl leases --socket /s',
    'see: ipkeeperctl status --socket /s\nthen: ipkeeperctl leases --socket /s',
  ],
  ['a word that begins so', { socket: '/s' }, 'ipkeeperctl who-knows', 'ipkeeperctl who-knows'],
  [
    'the usual paths, where the environment names others',
    { socket: '/run/ipkeeper/ipkeeper.sock', stateDir: '/var/lib/ipkeeper' },
    'ipkeeperctl cache scan',
    'ipkeeperctl cache scan --socket /run/ipkeeper/ipkeeper.sock --state-dir /var/lib/ipkeeper',
  ],
  [
    'another socket, which is named behind a word in quotes',
    { socket: '/s' },
    "ipkeeperctl check-config '/etc/it'\\''s a; (b), c.yaml' --socket /s",
    "ipkeeperctl check-config '/etc/it'\\''s a; (b), c.yaml' --socket /s",
  ],
  [
    'another state folder',
    { stateDir: '/d' },
    'ipkeeperctl flights --failed; ipkeeperctl restore FILE; ipkeeperctl status',
    'ipkeeperctl flights --state-dir /d --failed; ipkeeperctl restore --state-dir /d FILE; ipkeeperctl status',
  ],
  [
    'both',
    { socket: '/s', stateDir: '/d' },
    'ipkeeperctl cache scan --dir DIR',
    'ipkeeperctl cache scan --socket /s --state-dir /d --dir DIR',
  ],
  [
    'installed pages',
    { documents: '/usr/local/share/doc/ipkeeper' },
    'see docs/operations/rescue.md; docs/guides/webhook.md#a',
    'see /usr/local/share/doc/ipkeeper/docs/operations/rescue.md; /usr/local/share/doc/ipkeeper/docs/guides/webhook.md#a',
  ],
  ['no pages', {}, 'see docs/operations/rescue.md', 'see docs/operations/rescue.md'],
]

t.test('what is said where', t => {
  for (const [kind, place, written, said] of rows) {
    t.equal(remedyHere(written, place), said, `${kind}: ${written}`)
    t.equal(remedyHere(said, place), said, `${kind}: said twice`)
  }
  t.end()
})

t.test('no hint of the catalogue speaks of systemd in a pod, of kubectl without a cluster', t => {
  for (const [code, { hint }] of Object.entries(catalogue)) {
    t.notMatch(remedyHere(hint, pod), /systemctl [a-z- ]+ ipkeeper\b/, code)
    t.notMatch(remedyHere(hint, { clustered: false }), /kubectl/, code)
  }
  t.end()
})

t.test('every command of ipkeeperctl is known, with the options that it takes, and whether it asks', t => {
  const named = commands.filter(({ name }) => !name.startsWith('import '))
  t.strictSame(Object.keys(toolPlaces).toSorted(), named.map(({ name }) => name).toSorted())
  for (const { name, options } of named)
    if (toolPlaces[name] === 'state' || toolPlaces[name] === 'both') t.ok('state-dir' in options, name)
  t.strictSame(
    asking.toSorted(),
    named.flatMap(({ name, options }) => ('yes' in options ? [name] : [])).toSorted(),
  )
  t.end()
})

t.test('a command as an argument vector', t => {
  for (const [argv, line, place, there] of [
    [['ipkeeperctl', 'pools'], 'ipkeeperctl pools', {}, { argv: ['ipkeeperctl', 'pools'] }],
    [
      ['ipkeeperctl', 'pools'],
      'ipkeeperctl pools',
      { socket: '/s' },
      { argv: ['ipkeeperctl', 'pools', '--socket', '/s'] },
    ],
    [
      ['x'],
      'systemctl restart ipkeeper',
      container,
      { argv: [], words: 'restart the container of ipkeeper-server' },
    ],
    [['x'], 'systemctl restart ipkeeper', pod, { argv: ofPod.split(' ') }],
    [
      ['x'],
      'ipkeeperctl restore /b',
      pod,
      { argv: ['sh', '-c', `${makesOffline}${inOffline}ipkeeperctl restore /b`] },
    ],
    [
      ['x'],
      "ipkeeperctl leases --pool 'a b'",
      { socket: '/s' },
      { argv: ['sh', '-c', "ipkeeperctl leases --socket /s --pool 'a b'"] },
    ],
    [
      ['x'],
      'kubectl delete pod -n a b',
      { clustered: false },
      { argv: ['sh', '-c', "crictl stopp $(crictl pods -q --namespace a --name '^b$')"] },
    ],
  ] as const)
    t.strictSame(commandHere(argv, line, place), there, line)
  t.end()
})

t.test('what a daemon notes of itself', t => {
  for (const [text, noted] of [
    ['{"service":"container"}', { service: 'container' }],
    [
      '{"service":"pod","namespace":"a","node":"n1.example"}',
      { service: 'pod', namespace: 'a', node: 'n1.example' },
    ],
    ['{"service":"pod","namespace":"a; rm -rf /","node":"n1"}', undefined],
    ['{"service":"pod","namespace":"a"}', undefined],
    ['{"service":"unit"}', undefined],
    ['[]', undefined],
    ['null', undefined],
    ['', undefined],
  ] as const)
    t.strictSame(readStartedAs(text), noted, text)
  t.end()
})
