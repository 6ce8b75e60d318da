/** ipkeeperctl bundle in this process, without a daemon: what is in it, and that no secret is. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import type { Manifest } from '../../../../ipkeeper-server/cli/bundle/manifest.ts'
import { runTool } from '../../../rigs/run-tool.ts'
import { serveLeases } from '../../../rigs/served-leases.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'
import { TestService } from '../../leases/test-service.ts'

/** Each is a word of its own, so that whatever is left of one is found. */
const secrets = Array.from({ length: 14 }, (_, index) => `hush${index}z`)
const [password, etcdKey, webhookKey, kubeToken, inPlace, unknown, comment, url, wrong, ...ofConflists] =
  secrets
const [calico, nested, auth, late, manifest] = ofConflists

const pem = (secret: string): string => `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----\n`

t.test('no secret of a full configuration is in a bundle', async t => {
  const folder = tempFolder(t)
  const write = (name: string, text: string): string => {
    writeFileSync(folder.file(name), text)
    return folder.file(name)
  }
  const [nets, state] = [folder.file('nets'), folder.file('state')]
  mkdirSync(nets)
  mkdirSync(state)
  const kubeconfig = `apiVersion: v1\nusers: [{ name: a, user: { token: ${kubeToken} } }]\n`
  const config = write(
    'c.yaml',
    `# the password is ${comment}
node: n1
pools: [{ name: prod, subnet: 10.22.0.0/24, password: ${inPlace} }]
kubernetes: { kubeconfig: ${write('kubeconfig', kubeconfig)} }
store:
  etcd:
    user: ipkeeper
    passwordFile: ${write('password', `${password}\n`)}
    certFile: ${write('etcd.crt', 'certificate')}
    keyFile: ${write('etcd.key', pem(etcdKey!))}
    caFile: ${wrong}
webhook: { listen: "0.0.0.0:9443", certFile: /none, keyFile: ${write('hook.key', pem(webhookKey!))} }
conflist: { directory: ${nets} }
token: { any: [${unknown}] }
proxy: https://me:${url}@proxy.example/
`,
  )
  write(
    'nets/10-a.conflist',
    JSON.stringify({
      ...{ cniVersion: '1.0.0', name: 'fixed', etcd_password: calico },
      plugins: [{ type: 'calico', policy: { k8s_auth_token: nested }, credentials: { user: auth } }],
    }),
  )
  write('nets/20-b.conflist', `{ "name": "b" "secret: "${late}", 'plugins': [ ] `)
  write('nets/30-c.yaml', `cniVersion: 1.0.0\nstringData:\n  password: |\n    ${manifest}\n  a: b\n`)
  const file = folder.file('b.tar.gz')
  const { exit, out, err } = await runTool([
    ...['bundle', file, '--socket', folder.file('none')],
    ...['--config', config, '--state-dir', state, '--conf-dir', nets],
  ])
  t.equal(exit, 0, err)
  t.match(
    out,
    /b\.tar\.gz: \d+ files, \d+ KiB; missing: last-good-config \(.*\); status, pools, nodes, metrics, audit \(cannot reach the daemon at .*none: there is no such socket \[IPK_DAEMON_UNREACHABLE\]\)/,
  )
  t.equal(out.split('\n').length, 2, 'one line')
  t.match(err, /^versions +1 file, 1 KiB$/m)
  t.match(err, /^audit +missing: cannot reach the daemon/m)
  t.equal(statSync(file).mode & 0o777, 0o600)
  const unpacked = gunzipSync(readFileSync(file)).toString()
  for (const secret of secrets) t.notMatch(unpacked, secret)
  t.notMatch(`${out}${err}`, /hush/)

  execFileSync('tar', ['-xzf', file, '-C', folder.path])
  const read = (name: string): string => readFileSync(folder.file('b', name), 'utf8')
  const { parts } = JSON.parse(read('MANIFEST.json')) as Manifest
  const named = parts.flatMap(part => (part.file === null ? [] : [part.file]))
  const there = [...readdirSync(folder.file('b'), { recursive: true, encoding: 'utf8' })]
  t.strictSame(
    there.filter(name => !name.startsWith('MANIFEST') && name !== 'conflists').sort(),
    [...named].sort(),
    'the list names all files',
  )
  for (const { file: name, bytes } of parts)
    if (name !== null) t.equal(Buffer.byteLength(read(name)), bytes, name)
  for (const name of there.filter(name => name.endsWith('.json'))) t.ok(JSON.parse(read(name)), name)
  t.match(read('config.yaml'), /^ {2}- name: prod\n {4}subnet: 10\.22\.0\.0\/24\n/m)
  t.match(read('config.yaml'), `passwordFile: ${folder.file('password')}`, 'where it is may be known')
  t.match(read('check-config.txt'), /"\(removed\)" is not an absolute path/)
  t.match(read('conflists/10-a.conflist'), /"etcd_password":"\(removed\)"/)
  t.match(read('doctor.txt'), /^\d+ checks: /m)
  t.match(JSON.parse(read('versions.json')), { node: process.version, daemon: null })
  t.match(read('MANIFEST.txt'), /^lint\.txt +\d+ +errors in network configurations +ipkeeperctl lint$/m)
})

t.test('calls that write nothing', async t => {
  const folder = tempFolder(t)
  writeFileSync(folder.file('old'), 'old')
  t.match(await runTool(['bundle', folder.file('old')]), {
    exit: 1,
    err: /old exists already \[IPK_REQUEST_INVALID\]\nhint: name another file/,
  })
  t.match(await runTool(['bundle', folder.file('none', 'b')]), { exit: 1, err: /there is no folder/ })
  t.match(await runTool(['bundle', '']), { exit: 2, err: /FILE is empty/ })
  t.match(await runTool(['bundle', '--config', '']), { exit: 2, err: /config is empty/ })
  t.match(await runTool(['sosreport']), { exit: 2, err: /did you mean bundle\?/ })
  const interruption = AbortSignal.abort()
  t.match(
    await runTool(['bundle', folder.file('b'), '--socket', folder.file('s')], {
      interruption: () => interruption,
    }),
    { exit: 1, out: '', err: /interrupted: no bundle was written/ },
  )
  t.strictSame(readdirSync(folder.path), ['old'])
  t.equal(readFileSync(folder.file('old'), 'utf8'), 'old')
})

t.test('what a daemon says is taken from there, under the name of its node', async t => {
  const folder = tempFolder(t)
  const story = await TestService.open()
  story.now = Date.now()
  const { socket } = await serveLeases(t, { story })
  await story.add({ pod: 'web-0', container: 'c1' })
  const [nets, state] = [folder.file('nets'), folder.file('state')]
  mkdirSync(join(state, 'flights'), { recursive: true })
  mkdirSync(nets)
  writeFileSync(join(state, 'flights', '000001.jsonl'), 'torn\n')
  const before = process.cwd()
  t.teardown(() => {
    process.chdir(before)
  })
  process.chdir(folder.path)
  const { exit, out, err } = await runTool(['bundle', '--conf-dir', nets, '--bin-dir', nets, '-o', 'json'], {
    env: { IPKEEPER_SOCKET: socket, IPKEEPER_STATE_DIR: state },
    progress: () => undefined,
  })
  t.equal(exit, 0, err)
  const { file, node, parts } = JSON.parse(out) as Manifest & { readonly file: string }
  t.match(file, /^ipkeeper-bundle-n1-\d{8}T\d{6}Z\.tar\.gz$/)
  t.equal(node, 'n1')
  execFileSync('tar', ['-xzf', file])
  const read = (name: string): string => readFileSync(folder.file(file.slice(0, -7), name), 'utf8')
  t.match(JSON.parse(read('status.json')), { node: 'n1', store: { leases: 1 } })
  t.match(JSON.parse(read('pools.json')), { pools: [{ name: 'net' }] })
  t.match(JSON.parse(read('versions.json')), { daemon: { version: /./ } })
  t.match(
    parts.find(({ part }) => part === 'flights'),
    { notes: ['note: 1 line could not be read'] },
  )
  t.match(
    parts.find(({ part }) => part === 'conflists'),
    { missing: `${nets} has no network configuration` },
  )
  t.match(read('MANIFEST.txt'), /^flights +note: 1 line could not be read$/m)
})
