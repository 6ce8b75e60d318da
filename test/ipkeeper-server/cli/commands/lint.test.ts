import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { LintReply } from '../../../../shared/api/lint.schema.ts'
import { runProgram, type Finished } from '../../../rigs/run-program.ts'
import { startScriptedApi } from '../../../rigs/scripted-api.ts'
import { tempFolder, type TempFolder } from '../../../rigs/temp-folder.ts'

const main = join(import.meta.dirname, '..', '..', '..', '..', 'ipkeeper-server', 'main.ts')
const isRoot = process.getuid?.() === 0

const lint = (words: readonly string[], input?: string): Promise<Finished> =>
  runProgram(process.execPath, [main, 'ctl', 'lint', ...words], input === undefined ? {} : { input })

/** A folder of networks, and one with a plugin called bridge. */
function lintedFolder(
  t: Test,
  files: Readonly<Record<string, string>>,
): { net: string; bin: string; folder: TempFolder } {
  const folder = tempFolder(t)
  const [net, bin] = [folder.file('net.d'), folder.file('bin')]
  for (const path of [net, bin]) mkdirSync(path)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(net, name), text)
  writeFileSync(join(bin, 'bridge'), `#!/bin/sh\necho '{"supportedVersions":["0.4.0","1.0.0"]}'\n`)
  chmodSync(join(bin, 'bridge'), 0o755)
  return { net, bin, folder }
}

const good = '{ "cniVersion": "1.0.0", "name": "a", "plugins": [{ "type": "bridge" }] }\n'
const comma = '{\n\t"cniVersion": "1.0.0",\n\t"name": "a",\n\t"plugins": [{ "type": "bridge" },]\n}\n'

t.test('exit codes and formats', async t => {
  const { net, bin } = lintedFolder(t, { '10-a.conflist': comma })
  const text = await lint([net, '--bin-dir', bin])
  t.equal(text.exit, 1)
  t.match(
    text.stdout,
    `${net}/10-a.conflist:4:34: error: a comma before "]" [trailing-comma]
 4 | \t"plugins": [{ "type": "bridge" },]
   | \t                                ^
 = remove the comma
`,
  )
  t.match(text.stdout, /the runtime has no network/)
  const json = await lint([`${net}/10-a.conflist`, '-o', 'json', '--bin-dir', `/nowhere:${bin}`])
  const reply = JSON.parse(json.stdout) as LintReply
  t.match(reply.findings, [
    {
      ...{ file: `${net}/10-a.conflist`, line: 4, column: 34, endLine: 4, endColumn: 35, severity: 'error' },
      ...{
        rule: 'trailing-comma',
        fix: { edits: [{ line: 4, column: 34, endLine: 4, endColumn: 35, text: '' }] },
      },
    },
  ])
  t.equal(reply.findings.length, 1)
  const github = await lint([net, '-o', 'github', '--bin-dir', bin])
  t.match(github.stdout, /^::error file=.*10-a\.conflist,line=4,col=34,/m)
  writeFileSync(
    join(net, '10-a.conflist'),
    good.replace('1.0.0', '0.4.0').replace('"type"', '"isgateway": true, "type"'),
  )
  const warned = await lint([net, '--bin-dir', '/nowhere', '--bin-dir', bin])
  t.equal(warned.exit, 0)
  t.match(warned.stdout, /warning: .*\[key-case\]/)
  t.match(warned.stdout, new RegExp(`the runtime loads ${net}/10-a.conflist \\(network a\\)`))
})

t.test('standard input, and a ConfigMap', async t => {
  const { bin } = lintedFolder(t, {})
  const piped = await lint(['-', '--bin-dir', bin], comma)
  t.equal(piped.exit, 1)
  t.match(piped.stdout, /^<stdin>:4:34: error/)
  const map = `kind: ConfigMap\ndata:\n  x.conflist: |\n${comma.replaceAll(/^/gm, '    ').replaceAll('\t', '  ')}`
  t.match((await lint(['-', '--bin-dir', bin], map)).stdout, /^<stdin>:7:39: error/)
  t.equal((await lint(['-', '--bin-dir', bin], good)).exit, 0)
})

const lan = (name: string, ipam: string): string =>
  `kind: NetworkAttachmentDefinition\nmetadata: { name: ${name}, namespace: shop }\nspec:\n  config: '{ "cniVersion": "1.0.0", "type": "bridge", "ipam": { "type": "ipkeeper", ${ipam} } }'\n`
const pod = (networks: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: { name: web, namespace: shop, annotations: { k8s.v1.cni.cncf.io/networks: ${networks} } }\n`

t.test('definitions of Multus and pods, in several files', async t => {
  const { net, bin, folder } = lintedFolder(t, {})
  const multus = folder.file('multus.d')
  mkdirSync(multus)
  writeFileSync(join(net, '00-multus.conf'), JSON.stringify({ type: 'multus', confDir: multus }))
  writeFileSync(folder.file('a.yaml'), lan('a', '"subnet": "10.9.0.0/24"'))
  writeFileSync(folder.file('b.yaml'), `${lan('b', '"subnet": "10.9.0.0/16"')}---\n${pod('"a, c"')}`)
  writeFileSync(folder.file('file.yaml'), 'kind: NetworkAttachmentDefinition\nmetadata: { name: dc }\n')
  const files = ['a.yaml', 'b.yaml', 'file.yaml'].map(name => folder.file(name))
  const findings = async (): Promise<string[]> => {
    const { stdout } = await lint([...files, '-o', 'json', '--bin-dir', bin, '--net-dir', net])
    return (JSON.parse(stdout) as LintReply).findings
      .filter(({ rule }) => /^attachment|^overlapping/.test(rule))
      .map(({ file, line, rule }) => `${file.slice(folder.path.length + 1)}:${line} ${rule}`)
  }
  const always = ['b.yaml:4 overlapping-ranges', 'b.yaml:8 attachment-unknown']
  t.strictSame(await findings(), [...always, 'file.yaml:2 attachment-without-config'])
  writeFileSync(join(multus, 'dc.conf'), JSON.stringify({ name: 'dc', type: 'bridge' }))
  t.strictSame(await findings(), always)
})

t.test('definitions of the API', async t => {
  const { folder } = lintedFolder(t, {})
  const config = '{\n  "cniVersion": "1.0.0",\n  "type": "macvlan",\n}'
  const items = [
    { metadata: { name: 'lan', namespace: 'shop' }, spec: { config } },
    { metadata: { name: 'san', namespace: 'shop' }, spec: { config: '{' } },
  ]
  const api = await startScriptedApi(t, ({ path }, reply) => {
    const known = path === '/apis/k8s.cni.cncf.io/v1/network-attachment-definitions'
    reply.writeHead(known ? 200 : 404, { 'content-type': 'application/json' })
    reply.end(JSON.stringify(known ? { metadata: {}, items } : { kind: 'Status' }))
  })
  const kubeconfig = folder.file('kubeconfig')
  const cluster = { name: 'c', cluster: { server: api.url } }
  const context = { name: 'x', context: { cluster: 'c', user: 'u' } }
  const users = [{ name: 'u', user: { token: 'secret' } }]
  writeFileSync(
    kubeconfig,
    JSON.stringify({ 'current-context': 'x', clusters: [cluster], contexts: [context], users }),
  )
  writeFileSync(folder.file('pod.yaml'), `${lan('san', '"subnet": "10.9.0.0/24"')}---\n${pod('lam')}`)
  const asked = ['--api', '--kubeconfig', kubeconfig, folder.file('pod.yaml'), '--net-dir', '/nowhere']
  const { stdout, exit } = await lint(asked)
  t.equal(exit, 1)
  t.match(
    stdout,
    `net-attach-def/shop/lan:9:24: error: a comma before "}" [trailing-comma]
 9 |       "type": "macvlan",
   |                        ^
`,
  )
  t.match(stdout, /pod\.yaml:8:\d+: error: Pod web chooses shop\/lam, [^\n]*\[attachment-unknown\]/)
  t.notMatch(stdout, /net-attach-def\/shop\/san/, 'the file is newer than the API')
  const away = await lint(['--api', '--kubeconfig', folder.file('none')])
  t.match(away.stderr, /\[IPK_KUBERNETES_CONFIG\]/)
  const unnamed = await lint(['--api'])
  t.match(unnamed.stderr, /no way to the Kubernetes API is known .*\nhint: .*kubectl get net-attach-def/)
})

t.test('called wrongly', async t => {
  const { net } = lintedFolder(t, { 'a.conflist': good })
  for (const words of [
    ['--nope'],
    ['-o', 'xml'],
    ['--max-conf-num', 'x'],
    ['--dry-run'],
    ['--fix', '-'],
    [''],
    ['--bin-dir', ':'],
    ['--kubeconfig', '/x'],
    ['--fix', '--api'],
  ]) {
    const { exit, stderr } = await lint([...words, ...(words[0] === '' ? [] : [net])])
    t.equal(exit, 2, words.join(' '))
    t.match(stderr, /^error: .*\[IPK_USAGE\]\nhint: /, words.join(' '))
  }
  const none = await lint(['/nowhere/x'])
  t.equal(none.exit, 1)
  t.match(none.stderr, /there is no \/nowhere\/x/)
})

t.test('--fix keeps mode, owner and the original, and says what is left', async t => {
  const { net, bin } = lintedFolder(t, {
    '10-a.conflist': `// mine\n${comma}`,
    '20-b.conflist': "{'a': 1 'b': 2}",
  })
  const path = join(net, '10-a.conflist')
  chmodSync(path, 0o640)
  if (isRoot) chownSync(path, 12, 34)
  const dry = await lint([net, '--fix', '--dry-run', '--bin-dir', bin])
  t.match(dry.stdout, /10-a\.conflist: would be fixed[^\n]*\n {2}-\/\/ mine\n/)
  t.strictSame(readdirSync(net), ['10-a.conflist', '20-b.conflist'])
  const fixed = await lint([net, '--fix', '--bin-dir', bin])
  t.equal(fixed.exit, 1, 'the other file is still bad')
  t.match(fixed.stdout, /20-b\.conflist: not changed: line 1, column 9 needs to be fixed by hand: no comma/)
  t.strictSame(JSON.parse(readFileSync(path, 'utf8')), JSON.parse(good))
  t.equal(statSync(path).mode & 0o7777, 0o640)
  if (isRoot) t.match(statSync(path), { uid: 12, gid: 34 })
  const [, original = '', ...others] = readdirSync(net)
  t.match(original, /^10-a\.conflist\.orig-\d{8}T\d{6}Z$/)
  t.equal(readFileSync(join(net, original), 'utf8'), `// mine\n${comma}`)
  t.strictSame(others, ['20-b.conflist'])
  const again = await lint([path, '--fix', '--bin-dir', bin])
  t.equal(again.exit, 0)
  t.equal(readdirSync(net).length, 3, 'nothing to mend, nothing written')
})

t.test('--fix leaves alone what is a link or YAML, and says so', async t => {
  const { net, bin, folder } = lintedFolder(t, {})
  writeFileSync(folder.file('real.conflist'), comma)
  symlinkSync(folder.file('real.conflist'), join(net, '10.conflist'))
  writeFileSync(join(net, 'x.yaml'), `data:\n  x.conflist: '{"cniVersion": "1.0.0",}'\n`)
  const { stdout } = await lint([join(net, '10.conflist'), join(net, 'x.yaml'), '--fix', '--bin-dir', bin])
  t.match(stdout, /10\.conflist: not changed: it is a symbolic link/)
  t.match(stdout, /x\.yaml: not changed: it is YAML/)
  t.equal(readFileSync(folder.file('real.conflist'), 'utf8'), comma)
})

t.test('killed at any moment of a --fix, the file is the old one or the new one', async t => {
  const { net, bin } = lintedFolder(t, {})
  const path = join(net, '10.conflist')
  for (let round = 0; round < 12; round++) {
    writeFileSync(path, comma)
    const child = spawn(process.execPath, [main, 'ctl', 'lint', path, '--fix', '--bin-dir', bin], {
      stdio: 'ignore',
    })
    const ended = once(child, 'close')
    const timer = setTimeout(() => child.kill('SIGKILL'), 150 + 40 * round)
    await ended
    clearTimeout(timer)
    const text = readFileSync(path, 'utf8')
    t.ok(text === comma || text === comma.replace('},]', '}]'), `round ${round}`)
  }
  const leftovers = readdirSync(net).filter(name => /\.(conf|conflist|json)$/.test(name))
  t.strictSame(leftovers, ['10.conflist'], 'no runtime reads what is left beside it')
})

t.test('a pipe in the folder makes nobody wait', async t => {
  const { net, bin } = lintedFolder(t, { '10.conflist': good })
  execFileSync('mkfifo', [join(net, '05.conf')])
  const { exit, stdout } = await lint([net, '--bin-dir', bin])
  t.equal(exit, 1)
  t.match(stdout, /05\.conf:1:1: error: the file was not checked: it is a pipe/)
})
