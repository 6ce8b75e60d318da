/** Each rule: what it finds, at which place, and what it leaves alone. */
import t from 'tap'
import { rules } from '../../../../ipkeeper-server/diagnose/lint/rules.ts'
import { syntaxRules } from '../../../../ipkeeper-server/diagnose/lint/rules/syntax.ts'
import type { LintInput, PluginSeen } from '../../../../ipkeeper-server/diagnose/lint/site.ts'
import { attachmentRows } from './attachment-rows.ts'
import { lintFiles, lintOne, listOf, placesOf, type Files } from './lint-text.ts'

interface Row {
  readonly what: string
  /** Of a file x.conflist, where only a text is given. */
  readonly files: string | Files
  readonly more?: Omit<LintInput, 'files'>
  /** Findings of the rule: file, severity, and the text that each points to; none where it has nothing to say. */
  readonly finds?: readonly string[]
  /** What the messages and remedies have in them. */
  readonly says?: RegExp
}

const folder = (maxConfNum = 1): Omit<LintInput, 'files'> => ({ directory: { path: '/net.d', maxConfNum } })
const good = listOf('{ "type": "bridge" }')
const seen = (plugin: PluginSeen): Omit<LintInput, 'files'> => ({
  plugins: { binDirs: ['/opt/cni/bin'], seen: new Map([['bridge', plugin]]) },
})
const found = (more: Partial<PluginSeen & { kind: 'executable' }> = {}): Omit<LintInput, 'files'> =>
  seen({
    ...{ kind: 'executable', path: '/opt/cni/bin/bridge', versions: ['0.4.0', '1.0.0'] },
    ...{ silence: '', unsafe: undefined, ...more },
  })
/** One plugin with an IPAM section. */
const ipam = (section: string): string => listOf(`{ "type": "bridge", "ipam": ${section} }`)
const hostLocal = (keys: string): string => ipam(`{ "type": "host-local", ${keys} }`)
const keeper = (keys: string): string => ipam(`{ "type": "ipkeeper", ${keys} }`)
const configMap = (text: string): string => `kind: ConfigMap\ndata:\n  x.conflist: |\n    ${text}\n`

const table: Readonly<Record<string, readonly Row[]>> = {
  'broken-file-first': [
    {
      what: 'a broken file before a good one',
      files: { '05-bad.conf': '{', '10-good.conflist': good },
      more: folder(),
      finds: ['05-bad.conf error'],
      says: /10-good\.conflist after it is good/,
    },
    {
      what: 'an empty file',
      files: { '00.conflist': '' },
      more: folder(),
      finds: ['00.conflist error'],
    },
    { what: 'a list in a .conf', files: { 'a.conf': good }, more: folder(), finds: ['a.conf error'] },
    { what: 'behind the good one', files: { '10-good.conflist': good, '20-bad.conf': '{' }, more: folder() },
    {
      what: 'behind it, where the runtime takes two',
      files: { '10-good.conflist': good, '20-bad.conf': '{' },
      more: folder(2),
      finds: ['20-bad.conf error'],
    },
    {
      what: 'behind it, where the runtime takes all',
      files: { '10-good.conflist': good, '20-bad.conf': '{' },
      more: folder(0),
      finds: ['20-bad.conf error'],
    },
    {
      what: 'under a name that no runtime reads',
      files: { '00.conflist.tmp': '{', '10.conflist': good },
      more: folder(),
    },
    { what: 'of no folder', files: { '05-bad.conf': '{' } },
  ],
  'shadowed-file': [
    {
      what: 'the second by name',
      files: { '10-a.conflist': good, '9-b.conflist': listOf('{ "type": "ptp" }', 'b') },
      more: folder(),
      finds: ['9-b.conflist note'],
      says: /10-a\.conflist comes first/,
    },
    {
      what: 'ours, by one of somebody else',
      files: { '10-a.conflist': good, '20-b.conflist': listOf('{ "type": "ipkeeper" }', 'b') },
      more: folder(),
      finds: ['20-b.conflist warning'],
    },
    { what: 'both taken', files: { 'a.conflist': good, 'b.conf': '{ "type": "x" }' }, more: folder(2) },
    { what: 'one', files: { 'a.conflist': good }, more: folder() },
  ],
  'hidden-file': [
    {
      what: 'a dotfile',
      files: { '.05-x.conflist': good },
      more: folder(),
      finds: ['.05-x.conflist warning'],
    },
    { what: 'one of another ending', files: { '.x.swp': '', 'a.conflist': good }, more: folder() },
  ],
  'ignored-file': [
    {
      what: 'put aside',
      files: { 'a.conflist~': '', 'a.conflist.bak': '', 'b.conf.orig-1': '', 'a.conflist': good },
      more: folder(),
      finds: ['a.conflist.bak note', 'a.conflist~ note', 'b.conf.orig-1 note'],
    },
    { what: 'a file that is read', files: { 'a.conflist': good }, more: folder() },
  ],
  'duplicate-network-name': [
    {
      what: 'two files',
      files: { 'a.conflist': good, 'b.conflist': good },
      more: folder(),
      finds: ['b.conflist warning "net"'],
      says: /that of a\.conflist/,
    },
    {
      what: 'two names',
      files: { 'a.conflist': good, 'b.conflist': listOf('{ "type": "x" }', 'b') },
      more: folder(),
    },
  ],
  'list-in-conf': [
    {
      what: '.conf',
      files: { 'a.conf': good },
      finds: ['a.conf error "plugins"'],
      says: /mv \/net\.d\/a\.conf \/net\.d\/a\.conflist/,
    },
    { what: '.json', files: { 'a.json': good }, finds: ['a.json error "plugins"'] },
    { what: '.conflist', files: good },
    { what: 'one plugin', files: { 'a.conf': '{ "name": "a", "type": "x" }' } },
  ],
  'single-in-conflist': [
    { what: 'one plugin', files: '{ "name": "a", "type": "x" }', finds: ['x.conflist error "type"'] },
    { what: 'a list', files: good },
  ],
  'conflist-as-yaml': [
    { what: 'in a runtime file', files: 'cniVersion: 1.0.0\nname: a\n', finds: ['x.conflist error'] },
    {
      what: 'in a ConfigMap',
      files: { 'x.yaml': 'kind: ConfigMap\ndata:\n  x.conflist:\n    cniVersion: 1.0.0\n    plugins: []\n' },
      finds: ['x.yaml:4 error c'],
    },
    { what: 'as a text', files: { 'x.yaml': configMap(good) } },
    { what: 'JSON with a comment before it', files: '# x\n{}' },
  ],
  'yaml-syntax': [
    { what: 'a tab', files: { 'x.yaml': 'a:\n\tb: cniVersion\n' }, finds: ['x.yaml:2 error'] },
    { what: 'sound', files: { 'x.yaml': configMap(good) } },
    { what: 'too deep', files: { 'x.yaml': `a: ${'['.repeat(100)}` }, finds: ['x.yaml error ['] },
  ],
  'broken-encoding': [
    { what: 'a replacement character', files: `{ "name": "\ufffd" }`, finds: ['x.conflist warning \ufffd'] },
    { what: 'UTF-8', files: '{ "name": "\u00e9" }' },
  ],
  'template-marker': [
    {
      what: 'within texts',
      files: listOf('{ "type": "x", "a": "{{ .V }}", "b": "${V}", "c": "__V__", "d": "<name>" }'),
      finds: [
        'x.conflist error "{{ .V }}"',
        'x.conflist error "${V}"',
        'x.conflist error "__V__"',
        'x.conflist error "<name>"',
      ],
    },
    {
      what: 'in the place of a value',
      files: '{ "mtu": __CNI_MTU__ }',
      finds: ['x.conflist error __CNI_MTU__'],
    },
    {
      what: 'in a manifest, whose installer may fill it in',
      files: { 'x.yaml': configMap('{ "cniVersion": "1.0.0", "mtu": __CNI_MTU__, "a": "${B}" }') },
      finds: ['x.yaml:4 note __CNI_MTU__', 'x.yaml:4 note "${B}"'],
    },
    { what: 'plain texts', files: listOf('{ "type": "x", "a": "a < b > c", "b": "$HOME", "c": "__init" }') },
  ],
  placeholder: [
    {
      what: 'of another plugin',
      files: hostLocal('"subnet": "usePodCidr"'),
      finds: ['x.conflist error "usePodCidr"'],
    },
    {
      what: 'of calico',
      files: listOf('{ "type": "calico", "ipam": { "type": "host-local", "subnet": "usePodCidr" } }'),
    },
  ],
  'not-an-object': [
    { what: 'a list', files: '[{}]', finds: ['x.conflist error ['] },
    { what: 'a text', files: '"x"', finds: ['x.conflist error "'] },
    { what: 'an object', files: '{}' },
  ],
  'duplicate-key': [
    {
      what: 'twice, and in another case',
      files: '{\n"a": 1,\n"b": { "c": 1, "C": 2 },\n"a": 2 }',
      finds: ['x.conflist:3 warning "C"', 'x.conflist:4 warning "a"'],
      says: /line 2/,
    },
    { what: 'in different objects', files: '{ "a": { "a": 1 } }' },
  ],
  'missing-key': [
    {
      what: 'name and version',
      files: '{ "plugins": [ { "type": "x" } ] }',
      finds: ['x.conflist error {', 'x.conflist warning {'],
      says: /"name" is missing/,
    },
    { what: 'type', files: listOf('{ "a": 1 }'), finds: ['x.conflist error {'] },
    { what: 'plugins', files: '{ "cniVersion": "1.0.0", "name": "a" }', finds: ['x.conflist error {'] },
    { what: 'no plugins', files: listOf(''), finds: ['x.conflist error ['] },
    {
      what: 'type of one',
      files: { 'a.conf': '{ "cniVersion": "1.0.0", "name": "a" }' },
      finds: ['a.conf error {'],
    },
    { what: 'of a text that was cut off nobody knows what is missing', files: '{ "plugins": [' },
    { what: 'nothing', files: good },
    {
      what: 'the name, which multus gives',
      files: { 'x.yaml': configMap('{ "cniVersion": "1.0.0", "type": "x" }') },
    },
  ],
  'network-name': [
    { what: 'a blank', files: listOf('{ "type": "x" }', 'a b'), finds: ['x.conflist error "a b"'] },
    { what: 'plain', files: good },
  ],
  'unknown-key': [
    {
      what: 'of a reference plugin',
      files: listOf('{ "type": "bridge", "brige": "x", "foobarbaz": 1 }'),
      finds: ['x.conflist warning "brige"', 'x.conflist warning "foobarbaz"'],
      says: /did you mean "bridge"/,
    },
    {
      what: 'a slip that ipkeeper refuses',
      files: keeper('"subnet": "10.0.0.0/8", "gatway": "10.0.0.1"'),
      finds: ['x.conflist error "gatway"'],
    },
    {
      what: 'of ranges and routes',
      files: hostLocal(
        '"ranges": [[{ "subnet": "10.0.0.0/8", "rangestrt": "10.0.0.9" }]], "routes": [{ "dest": "0.0.0.0/0" }]',
      ),
      finds: ['x.conflist warning "rangestrt"', 'x.conflist warning "dest"'],
    },
    {
      what: 'of the list',
      files: '{ "cniVersion": "1.0.0", "name": "a", "plugin": [] , "plugins": [{ "type": "x" }] }',
      finds: ['x.conflist warning "plugin"'],
    },
    {
      what: 'a capability',
      files: listOf('{ "type": "x", "capabilities": { "portMapings": true } }'),
      finds: ['x.conflist warning "portMapings"'],
    },
    {
      what: 'of a plugin of somebody else',
      files: listOf('{ "type": "x", "brige": 1, "capabilities": { "own": true } }'),
    },
    {
      what: 'known ones',
      files: listOf(
        '{ "type": "ipkeeper", "mode": "ptp", "mtu": 1450, "ipam": { "type": "ipkeeper", "ranges": [[{ "subnet": "10.0.0.0/8", "exclude": [] }]], "dataDir": "/x" } }, { "type": "tuning", "sysctl": {} }',
      ),
    },
  ],
  'key-case': [
    {
      what: 'of a plugin',
      files: listOf('{ "type": "bridge", "ismaster": 1, "isgateway": true }'),
      finds: ['x.conflist warning "isgateway"'],
    },
    {
      what: 'of the list',
      files: '{ "CNIVersion": "1.0.0", "name": "a", "plugins": [{ "type": "x" }] }',
      finds: ['x.conflist error "CNIVersion"'],
    },
    { what: 'right', files: listOf('{ "type": "bridge", "isGateway": true }') },
  ],
  'wrong-type': [
    {
      what: 'texts for numbers and truths',
      files: listOf('{ "type": "bridge", "mtu": "1450", "isGateway": "true", "vlan": 1.5 }'),
      finds: ['x.conflist error "1450"', 'x.conflist error "true"', 'x.conflist error 1.5'],
      says: /write 1450, without quotes/,
    },
    {
      what: 'range sets',
      files: hostLocal('"ranges": [{ "subnet": "10.0.0.0/8" }]'),
      finds: ['x.conflist error {'],
    },
    { what: 'plugins', files: listOf('"bridge"'), finds: ['x.conflist error "bridge"'] },
    {
      what: 'name',
      files: '{ "name": 1, "cniVersion": 1.0, "plugins": [{ "type": 2 }] }',
      finds: ['x.conflist error 1', 'x.conflist error 1.0', 'x.conflist error 2'],
    },
    {
      what: 'a capability',
      files: listOf('{ "type": "x", "capabilities": { "own": "yes" } }'),
      finds: ['x.conflist error "yes"'],
    },
    { what: 'null is nothing', files: listOf('{ "type": "bridge", "mtu": null }') },
    { what: 'what was complained of', files: listOf('{ "type": "bridge", "mtu": None }') },
  ],
  'cni-version-unknown': [
    {
      what: 'short',
      files: listOf('{ "type": "x" }', 'a', '1.0'),
      finds: ['x.conflist error "1.0"'],
      says: /did you mean "1\.0\.0"/,
    },
    { what: 'known', files: good },
  ],
  'cni-version-unsupported': [
    {
      what: 'by the plugin',
      files: listOf('{ "type": "bridge" }', 'a', '1.1.0'),
      more: found(),
      finds: ['x.conflist error "1.1.0"'],
    },
    { what: 'supported', files: good, more: found() },
    {
      what: 'not asked',
      files: listOf('{ "type": "bridge" }', 'a', '1.1.0'),
      more: found({ versions: undefined }),
    },
  ],
  'cni-version-old': [
    {
      what: '0.3.1',
      files: listOf('{ "type": "x" }', 'a', '0.3.1'),
      finds: ['x.conflist note "0.3.1"'],
      says: /result cache/,
    },
    { what: '0.4.0', files: listOf('{ "type": "x" }', 'a', '0.4.0') },
  ],
  'plugin-name': [
    {
      what: 'a path',
      files: listOf('{ "type": "../../bin/sh" }'),
      finds: ['x.conflist error "../../bin/sh"'],
    },
    { what: 'a name', files: good },
  ],
  'bin-dir-missing': [
    {
      what: 'no folder',
      files: good,
      more: { plugins: { binDirs: ['/opt/cni/bin'], seen: undefined } },
      finds: ['x.conflist warning'],
    },
    { what: 'a folder', files: good, more: found() },
    { what: 'nobody looked', files: good },
  ],
  'plugin-missing': [
    {
      what: 'main',
      files: good,
      more: seen({ kind: 'missing' }),
      finds: ['x.conflist error "bridge"'],
      says: /in \/opt\/cni\/bin/,
    },
    {
      what: 'delegate',
      files: listOf('{ "type": "x", "ipam": { "type": "bridge" } }'),
      more: seen({ kind: 'missing' }),
      finds: ['x.conflist error "bridge"'],
    },
    { what: 'there', files: good, more: found() },
  ],
  'plugin-not-executable': [
    {
      what: 'no x',
      files: good,
      more: seen({ kind: 'unusable', path: '/b/bridge', why: 'it is not executable' }),
      finds: ['x.conflist error "bridge"'],
      says: /chmod 755 \/b\/bridge/,
    },
    { what: 'there', files: good, more: found() },
  ],
  'plugin-unsafe': [
    {
      what: 'of a user',
      files: good,
      more: found({ unsafe: 'belongs to user 1000', versions: undefined }),
      finds: ['x.conflist warning "bridge"'],
    },
    { what: 'of root', files: good, more: found() },
  ],
  'plugin-silent': [
    {
      what: 'late',
      files: good,
      more: found({ versions: undefined, silence: 'it did not answer within 2 s' }),
      finds: ['x.conflist warning "bridge"'],
    },
    { what: 'not asked', files: good, more: found({ versions: undefined }) },
  ],
  'chained-first': [
    {
      what: 'portmap',
      files: listOf('{ "type": "portmap" }, { "type": "bridge" }'),
      finds: ['x.conflist error "portmap"'],
    },
    {
      what: 'alone',
      files: { 'a.conf': '{ "name": "a", "type": "tuning" }' },
      finds: ['a.conf error "tuning"'],
    },
    {
      what: 'IPAM in the place of a main plugin',
      files: listOf('{ "type": "host-local" }'),
      finds: ['x.conflist error "host-local"'],
    },
    { what: 'second', files: listOf('{ "type": "bridge" }, { "type": "portmap" }') },
  ],
  'ipam-in-chained': [
    {
      what: 'portmap',
      files: listOf('{ "type": "bridge" }, { "type": "portmap", "ipam": { "type": "x" } }'),
      finds: ['x.conflist warning "ipam"'],
    },
    { what: 'bridge', files: keeper('"subnet": "10.0.0.0/8"') },
  ],
  'missing-capability': [
    {
      what: 'none',
      files: keeper('"subnet": "10.0.0.0/8"'),
      finds: ['x.conflist warning "type"', 'x.conflist note "type"'],
    },
    {
      what: 'off',
      files: listOf(
        '{ "type": "ipkeeper", "capabilities": { "ips": true, "mac": true, "io.kubernetes.cri.pod-annotations": false } }',
      ),
      finds: ['x.conflist warning "io.kubernetes.cri.pod-annotations"'],
    },
    {
      what: 'all',
      files: listOf(
        '{ "type": "ipkeeper", "capabilities": { "ips": true, "mac": true, "io.kubernetes.cri.pod-annotations": true } }',
      ),
    },
    { what: 'without ipkeeper', files: good },
  ],
  'invalid-address': [
    {
      what: 'no prefix',
      files: hostLocal('"subnet": "10.0.0.0"'),
      finds: ['x.conflist error "10.0.0.0"'],
      says: /10\.0\.0\.0\/24/,
    },
    {
      what: 'a prefix',
      files: hostLocal('"subnet": "10.0.0.0/8", "gateway": "10.0.0.1/8"'),
      finds: ['x.conflist error "10.0.0.1/8"'],
    },
    {
      what: 'leading zero',
      files: hostLocal('"subnet": "10.0.0.00/8"'),
      finds: ['x.conflist error "10.0.0.00/8"'],
    },
    {
      what: 'static',
      files: ipam('{ "type": "static", "addresses": [{ "address": "10.0.0.1" }] }'),
      finds: ['x.conflist error "10.0.0.1"'],
    },
    {
      what: 'a route',
      files: hostLocal('"subnet": "10.0.0.0/8", "routes": [{ "dst": "0.0.0.0" }]'),
      finds: ['x.conflist error "0.0.0.0"'],
    },
    {
      what: 'good',
      files: hostLocal(
        '"subnet": "10.0.0.0/8", "gateway": "10.0.0.1", "routes": [{ "dst": "0.0.0.0/0", "gw": "10.0.0.2" }]',
      ),
    },
  ],
  'host-bits': [
    {
      what: 'subnet',
      files: hostLocal('"subnet": "10.22.0.5/16"'),
      finds: ['x.conflist error "10.22.0.5/16"'],
      says: /"10\.22\.0\.0\/16"/,
    },
    {
      what: 'IPv6',
      files: keeper('"ranges": [[{ "subnet": "fd00::1/64" }]]'),
      finds: ['x.conflist error "fd00::1/64"'],
    },
    {
      what: 'destination',
      files: hostLocal('"subnet": "10.0.0.0/8", "routes": [{ "dst": "10.1.1.1/24" }]'),
      finds: ['x.conflist warning "10.1.1.1/24"'],
    },
    { what: 'none', files: hostLocal('"subnet": "10.22.0.0/16"') },
  ],
  'gateway-outside': [
    {
      what: 'outside',
      files: hostLocal('"subnet": "10.0.0.0/16", "gateway": "10.1.0.1"'),
      finds: ['x.conflist warning "10.1.0.1"'],
    },
    {
      what: 'broadcast',
      files: hostLocal('"subnet": "10.0.0.0/16", "gateway": "10.0.255.255"'),
      finds: ['x.conflist warning "10.0.255.255"'],
    },
    {
      what: 'the other family',
      files: hostLocal('"subnet": "10.0.0.0/16", "gateway": "fd00::1"'),
      finds: ['x.conflist error "fd00::1"'],
    },
    { what: 'inside', files: hostLocal('"subnet": "10.0.0.0/16", "gateway": "10.0.9.1"') },
  ],
  'range-bounds': [
    {
      what: 'outside',
      files: hostLocal('"subnet": "10.0.0.0/16", "rangeStart": "10.1.0.1", "rangeEnd": "10.2.0.1"'),
      finds: ['x.conflist error "10.1.0.1"', 'x.conflist error "10.2.0.1"'],
    },
    {
      what: 'reversed',
      files: keeper('"subnet": "10.0.0.0/16", "rangeStart": "10.0.0.9", "rangeEnd": "10.0.0.8"'),
      finds: ['x.conflist error "10.0.0.9"'],
    },
    {
      what: 'one address',
      files: hostLocal('"subnet": "10.0.0.0/16", "rangeStart": "10.0.0.9", "rangeEnd": "10.0.0.9"'),
    },
  ],
  'small-pool': [
    { what: '/32', files: hostLocal('"subnet": "10.0.0.1/32"'), finds: ['x.conflist error "10.0.0.1/32"'] },
    { what: '/31', files: keeper('"subnet": "10.0.0.0/31"'), finds: ['x.conflist error "10.0.0.0/31"'] },
    {
      what: '/30',
      files: hostLocal('"subnet": "10.0.0.0/30"'),
      finds: ['x.conflist warning "10.0.0.0/30"'],
      says: /only 1 address /,
    },
    {
      what: 'nothing left',
      files: hostLocal('"subnet": "10.0.0.0/24", "rangeStart": "10.0.0.1", "rangeEnd": "10.0.0.1"'),
      finds: ['x.conflist error "10.0.0.0/24"'],
    },
    {
      what: 'four',
      files: hostLocal('"subnet": "10.0.0.0/24", "rangeStart": "10.0.0.2", "rangeEnd": "10.0.0.5"'),
    },
    {
      what: 'two ranges of one set',
      files: hostLocal('"ranges": [[{ "subnet": "10.0.0.0/30" }, { "subnet": "10.1.0.0/24" }]]'),
    },
  ],
  'overlapping-ranges': [
    {
      what: 'two sets',
      files: keeper('"ranges": [[{ "subnet": "10.0.0.0/16" }], [{ "subnet": "10.0.1.0/24" }]]'),
      finds: ['x.conflist error "10.0.1.0/24"'],
      says: /the one on line 1/,
    },
    {
      what: 'the fallback',
      files: keeper('"subnet": "10.0.0.0/16", "fallback": { "type": "host-local", "subnet": "10.0.0.0/16" }'),
      finds: ['x.conflist error "10.0.0.0/16"'],
    },
    {
      what: 'two files of one segment',
      files: {
        'a.conflist': keeper('"subnet": "10.0.0.0/16"'),
        'b.conflist': keeper('"subnet": "10.0.1.0/24"').replace('"net"', '"b"'),
      },
      more: folder(),
      finds: ['b.conflist error "10.0.1.0/24"'],
      says: /network "net" \(a\.conflist, line 1\)/,
    },
    {
      what: 'two files with host-local',
      files: {
        'a.conflist': hostLocal('"subnet": "10.0.0.0/16"'),
        'b.conflist': hostLocal('"subnet": "10.0.1.0/24"').replace('"net"', '"b"'),
      },
      more: folder(),
      finds: ['b.conflist warning "10.0.1.0/24"'],
    },
    {
      what: 'two segments',
      files: {
        'a.conflist': keeper('"subnet": "10.0.0.0/16"'),
        'b.conflist': keeper('"subnet": "10.0.1.0/24", "segment": "b"').replace('"net"', '"b"'),
      },
      more: folder(),
    },
    {
      what: 'halves of one subnet',
      files: keeper(
        '"subnet": "10.0.0.0/16", "rangeEnd": "10.0.7.255", "fallback": { "type": "host-local", "subnet": "10.0.0.0/16", "rangeStart": "10.0.8.0" }',
      ),
    },
  ],
  'stays-on-node': [
    {
      what: 'routes are off',
      files: listOf('{ "type": "ipkeeper", "mode": "ptp" }, { "type": "ipkeeper", "isGateway": true }'),
      more: { nodeRoutes: 'off' },
      finds: ['x.conflist note "ptp"', 'x.conflist note "ipkeeper"'],
      says: /addresses of mode ptp are not reachable from other nodes: "nodeRoutes" is off/,
    },
    {
      what: 'a bridge that is no gateway',
      files: listOf('{ "type": "ipkeeper", "mode": "bridge" }'),
      more: { nodeRoutes: 'auto' },
      finds: ['x.conflist note "bridge"'],
      says: /the bridge is not a gateway = write "isGateway": true/,
    },
    {
      what: 'with routes',
      files: listOf(
        '{ "type": "ipkeeper", "mode": "ptp" }, { "type": "ipkeeper", "isDefaultGateway": true }',
      ),
      more: { nodeRoutes: 'auto' },
    },
    {
      what: 'on links of other nodes',
      files: listOf('{ "type": "ipkeeper", "mode": "underlay" }, { "type": "ipkeeper", "mode": "macvlan" }'),
      more: { nodeRoutes: 'off' },
    },
    { what: 'wired by another plugin', files: keeper('"subnet": "10.0.0.0/8"'), more: { nodeRoutes: 'off' } },
    { what: 'nobody knows', files: listOf('{ "type": "ipkeeper", "mode": "ptp" }') },
  ],
  'ipkeeper-refuses': [
    {
      what: 'of the IPAM section',
      files: keeper('"subnet": "10.0.0.0/8", "timeout": -1'),
      finds: ['x.conflist error -1'],
      says: /IPK_CONFIG_INVALID/,
    },
    {
      what: 'of the main role',
      files: listOf(
        '{ "type": "ipkeeper", "mode": "brdge", "ipam": { "type": "ipkeeper", "subnet": "10.0.0.0/8" } }',
      ),
      finds: ['x.conflist error "brdge"'],
      says: /did you mean "bridge"/,
    },
    {
      what: 'of the fallback',
      files: keeper('"subnet": "10.0.0.0/8", "fallback": { "type": "ipkeeper" }'),
      finds: ['x.conflist error "ipkeeper"'],
    },
    {
      what: 'an exclusion',
      files: keeper('"ranges": [[{ "subnet": "10.0.0.0/8", "exclude": ["x"] }]]'),
      finds: ['x.conflist error "x"'],
    },
    { what: 'what another rule has told', files: keeper('"subnet": "10.0.0.1/8"') },
    { what: 'good', files: keeper('"subnet": "10.0.0.0/8"') },
    { what: 'without ipkeeper', files: hostLocal('"subnet": "10.0.0.1/8"') },
  ],
}

const ruleIds = new Set([...Object.keys(table), ...Object.keys(attachmentRows)])

for (const rule of ruleIds) {
  const rows: readonly Row[] = [...(table[rule] ?? []), ...(attachmentRows[rule] ?? [])]
  t.test(rule, t => {
    for (const { what, files, more, finds = [], says } of rows) {
      const named: Files = typeof files === 'string' ? { 'x.conflist': files } : files
      const reply = lintFiles(named, more)
      t.strictSame(placesOf(rule, named, reply), finds, what)
      const told = reply.findings.filter(finding => finding.rule === rule)
      if (says) t.match(told.map(({ message, remedy }) => `${message} = ${remedy}`).join('\n'), says, what)
      for (const { message, remedy } of told)
        t.notOk(/[\n\r]|undefined/.test(message + remedy) || remedy === '', message)
    }
    t.ok(
      rows.some(({ finds }) => finds) && rows.some(({ finds }) => !finds),
      'something to find, and something to leave',
    )
    t.end()
  })
}

t.test('unreadable-file', t => {
  const file = { path: '/net.d/a.conflist', name: 'a.conflist', text: undefined }
  for (const severity of ['error', 'warning'] as const) {
    const fault = { why: 'it is a link', severity, stopsRuntime: false }
    const reply = lintOne({ ...file, fault })
    t.strictSame(placesOf('unreadable-file', {}, reply), [`a.conflist ${severity}`])
  }
  t.strictSame(placesOf('unreadable-file', {}, lintFiles({ 'a.conflist': good })), [])
  t.end()
})

t.test('every rule is tried, is named in kebab case, and once', t => {
  const ids = rules.map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length)
  for (const id of ids) t.match(id, /^[a-z]+(-[a-z]+)*$/)
  const elsewhere = [...syntaxRules.map(({ id }) => id), 'unreadable-file']
  t.strictSame(
    ids.filter(id => !ruleIds.has(id) && !elsewhere.includes(id)),
    [],
  )
  t.end()
})
