import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findNetconf, type NetconfWanted } from '../../../../ipkeeper-server/cli/manifests/find-netconf.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

const ipam = { type: 'ipkeeper' }
const list = (name: string, ...plugins: readonly object[]): string =>
  JSON.stringify({ cniVersion: '1.0.0', name, plugins })
const fixed = list('fixed', { type: 'bridge', bridge: 'cni0', ipam }, { type: 'portmap' })
const other = list('other', { type: 'bridge', ipam: { type: 'host-local' } })

type Files = Readonly<Record<string, string>>

/** What is found in a folder of these files, with what was passed over; the folder is written as "DIR". */
async function find(t: Test, files: Files, wanted: Partial<NetconfWanted> = {}) {
  const folder = t.testdir({ 'net.d': { ...files }, 'outside.conflist': fixed })
  const passedOver: string[] = []
  const short = (text: string): string =>
    text.replaceAll(join(folder, 'net.d'), 'DIR').replaceAll(folder, 'UP')
  const place = { conflist: undefined, network: undefined, folder: join(folder, 'net.d'), ...wanted }
  const run = () => findNetconf(place, why => passedOver.push(short(why)))
  try {
    const { file, config } = run()
    return { file: short(file), config, passedOver }
  } catch {
    const { code, message, hint } = await thrownProblem(run)
    return { code, message: short(message), hint }
  }
}

const found: readonly (readonly [
  name: string,
  files: Files,
  wanted: Partial<NetconfWanted>,
  file: string,
  config: object,
])[] = [
  [
    'the plugin of a list, with the name and version of the list',
    { '10-fixed.conflist': fixed },
    {},
    'DIR/10-fixed.conflist',
    { cniVersion: '1.0.0', name: 'fixed', type: 'bridge', bridge: 'cni0', ipam },
  ],
  [
    'a single plugin',
    { '10-fixed.conf': JSON.stringify({ cniVersion: '0.4.0', name: 'single', type: 'macvlan', ipam }) },
    {},
    'DIR/10-fixed.conf',
    { cniVersion: '0.4.0', name: 'single', type: 'macvlan', ipam },
  ],
  [
    'the first by name whose addresses are ours; other endings are not read',
    {
      '05-a.conflist': other,
      '06-b.conflist.bak': fixed,
      '20-c.json': fixed,
      '10-d.conflist': list('d', { ipam }),
    },
    {},
    'DIR/10-d.conflist',
    { name: 'd' },
  ],
  [
    'by the name of the network',
    { '10-d.conflist': list('d', { ipam }), '20-c.json': fixed },
    { network: 'fixed' },
    'DIR/20-c.json',
    { name: 'fixed' },
  ],
  [
    'the main role',
    { '10-main.conflist': list('main', { type: 'ipkeeper' }) },
    {},
    'DIR/10-main.conflist',
    { type: 'ipkeeper', name: 'main' },
  ],
  [
    'keys match without regard to case, as libcni reads them',
    { '10-x.conflist': '{"Name": "x", "Plugins": [{"IPAM": {"Type": "ipkeeper"}}]}' },
    {},
    'DIR/10-x.conflist',
    { name: 'x' },
  ],
]

for (const [name, files, wanted, file, config] of found) {
  t.test(name, async t => {
    t.match(await find(t, files, wanted), { file, config, passedOver: [] })
  })
}

const hint = 'name the file with --conflist FILE, or the folder with --net-dir DIR'
const lacking: readonly (readonly [
  name: string,
  files: Files,
  wanted: Partial<NetconfWanted>,
  message: string,
  hint: string,
])[] = [
  ['an empty folder', {}, {}, 'no file in DIR has a plugin with "ipam": { "type": "ipkeeper" }', hint],
  [
    'only others',
    { 'a.conflist': other },
    {},
    'no file in DIR has a plugin with "ipam": { "type": "ipkeeper" }',
    hint,
  ],
  ['no folder', {}, { folder: '/nowhere/net.d' }, '/nowhere/net.d cannot be read (ENOENT)', hint],
  [
    'another network',
    { 'a.conflist': fixed, 'b.conflist': other },
    { network: 'other' },
    'no file in DIR is of network "other" and has a plugin with "ipam": { "type": "ipkeeper" }',
    'networks that use ipkeeper: fixed',
  ],
]

for (const [name, files, wanted, message, hint] of lacking) {
  t.test(name, async t => {
    t.strictSame(await find(t, files, wanted), { code: 'IPK_REQUEST_INVALID', message, hint })
  })
}

t.test('broken files are passed over, and told of', async t => {
  const files = {
    '01.conflist': '{"name": "x",}',
    '02.conflist': '',
    '03.conflist': '[]',
    '04.conflist': '{"plugins": {}}',
    '05.conflist': `"${'x'.repeat(1024 * 1024)}"`,
    '10.conflist': fixed,
  }
  const { file, passedOver } = await find(t, files)
  t.equal(file, 'DIR/10.conflist')
  t.strictSame(passedOver, [
    'DIR/01.conflist:1:13: trailing comma before "}"',
    'DIR/02.conflist:1:1: unexpected end of JSON input',
    'DIR/03.conflist is no JSON object',
    'DIR/04.conflist: "plugins" is no array',
    'DIR/05.conflist is larger than 1 MiB',
  ])
})

t.test('nothing outside of the folder is read', t => {
  const folder = t.testdir({
    'outside.conflist': fixed,
    'net.d': { '..data': { 'in.conflist': fixed }, 'sub.conflist': {} },
  })
  const net = join(folder, 'net.d')
  symlinkSync('../outside.conflist', join(net, '01-out.conflist'))
  symlinkSync('nothing', join(net, '02-broken.conflist'))
  // As Kubernetes mounts a ConfigMap.
  symlinkSync('..data/in.conflist', join(net, '03-in.conflist'))
  const passedOver: string[] = []
  const wanted = { conflist: undefined, network: undefined, folder: net }
  t.equal(findNetconf(wanted, why => passedOver.push(why)).file, join(net, '03-in.conflist'))
  t.strictSame(passedOver, [
    `${net}/01-out.conflist leads out of the folder`,
    `${net}/02-broken.conflist leads nowhere`,
  ])
  t.end()
})

t.test('a file that was named', async t => {
  const unexpected = (why: string): void => {
    t.fail(why)
  }
  const folder = t.testdir({ 'a.txt': fixed, 'b.conflist': other, 'c.conflist': '{\n  "name" "x"\n}' })
  const of = (name: string, network?: string) =>
    thrownProblem(() =>
      findNetconf({ conflist: join(folder, name), folder: '/nowhere', network }, unexpected),
    )
  const wanted = { conflist: join(folder, 'a.txt'), folder: '/nowhere', network: undefined }
  t.match(findNetconf(wanted, unexpected), { config: { name: 'fixed' } })
  t.match(await of('a.txt', 'other'), { message: /a\.txt is not of network "other"$/ })
  t.match(await of('b.conflist'), { message: /b\.conflist has not a plugin with/, hint: /--conflist/ })
  t.match(await of('c.conflist'), { message: /c\.conflist:2:10: / })
  t.match(await of('none'), { message: /none cannot be read \(ENOENT\)$/ })
  t.match(await of('.'), { message: / is not a regular file$/ })
  writeFileSync(join(folder, 'd.conflist'), Buffer.from([0x22, 0xff, 0x22]))
  t.match(await of('d.conflist'), { message: /d\.conflist is not UTF-8 text$/ })
})
