/** `ipkeeperctl install --check`: what it says of nodes of all kinds, and that it changes none of them. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { version } from '../../../shared/build-info.ts'
import { install } from '../../../ipkeeper-server/install/install.ts'
import { missing } from '../../rigs/requirements.ts'
import { runProgram } from '../../rigs/run-program.ts'
import { runTool } from '../../rigs/run-tool.ts'
import { tempFolder, type TempFolder } from '../../rigs/temp-folder.ts'

const name = '10-ipkeeper.conflist'
const root = join(import.meta.dirname, '..', '..', '..')
const example = join(root, 'deploy', 'cni', name)
const plugin = (its: string): string => `#!/bin/sh\necho 'CNI ipkeeper plugin v${its}' >&2\n`
const conflist = (network: string, type: string): string =>
  JSON.stringify({ cniVersion: '1.0.0', name: network, plugins: [{ type }] })

interface CheckedNode {
  readonly folder: TempFolder
  readonly options: readonly string[]
}

/** A node whose runtime looks in "bin" and "net.d", with what the example names besides ipkeeper. */
function makeNode(t: Test, files: Readonly<Record<string, string>> = {}): CheckedNode {
  const folder = tempFolder(t)
  for (const path of ['bin', 'net.d', 'host/usr', 'host/etc/containerd'])
    mkdirSync(folder.file(path), { recursive: true })
  const [bin, nets] = [folder.file('bin'), folder.file('net.d')]
  const all = {
    'bin/portmap': `#!/bin/sh\necho '{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}'\n`,
    plugin: plugin(version),
    'host/etc/containerd/config.toml': `version = 2\n[plugins."io.containerd.grpc.v1.cri".cni]\nbin_dir = "${bin}"\nconf_dir = "${nets}"\n`,
    ...files,
  }
  for (const [path, text] of Object.entries(all)) writeFileSync(folder.file(path), text, { mode: 0o755 })
  return {
    folder,
    options: [
      ...['--bin-dir', bin, '--conf-dir', nets, '--plugin', folder.file('plugin')],
      ...['--host-root', folder.file('host'), '--socket', folder.file('none')],
    ],
  }
}

/** Everything of a folder by which a change would show. */
function stateOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map(path => {
      const { ino, mode, mtimeMs, ctimeMs, size } = lstatSync(join(folder, path))
      return [path, ino, mode, mtimeMs, ctimeMs, size].join(' ')
    })
}

const check = ['install', '--check'] as const
const withNetwork = ['--conflist', example] as const

interface Row {
  readonly files?: Readonly<Record<string, string>>
  readonly words?: readonly string[]
  readonly exit: 0 | 1
  readonly says: readonly RegExp[]
}

const rows: Readonly<Record<string, Row>> = {
  'a node that is ready': {
    exit: 0,
    says: [
      /^new {7}\S+\/bin\/ipkeeper {2}\(the plugin\)$/m,
      /^new {7}\S+\/net.d\/10-ipkeeper.conflist {2}\(the network\)$/m,
      /^pods get now: nothing$/m,
      /^pods would get: \S+\/10-ipkeeper.conflist \(network fixed: ipkeeper, portmap\)$/m,
      /^ok {4}runtime-folders {2}plugins in \S+\/bin, networks in \S+\/net.d$/m,
      /^ok {4}present-plugin {3}no \S+\/bin\/ipkeeper yet$/m,
      /^warn {2}service .*no daemon answers on \S+\/none/m,
      /^nothing was changed; to install: ipkeeper-server install --bin-dir \S+\/bin .*--conflist \S+ /m,
    ],
  },
  'a node that has it': {
    files: { 'bin/ipkeeper': plugin(version), [`net.d/${name}`]: readFileSync(example, 'utf8') },
    exit: 0,
    says: [
      /^same {6}\S+\/bin\/ipkeeper /m,
      /^same {6}\S+\/net.d\/10/m,
      /folders .*nothing has to be written/,
    ],
  },
  'an older plugin': {
    files: { 'bin/ipkeeper': plugin('0.0.0-a') },
    exit: 0,
    says: [/^replaced {2}\S+\/bin\/ipkeeper/m, new RegExp(`is 0\\.0\\.0-a, and ${version} takes its place`)],
  },
  'a newer plugin': {
    files: { 'bin/ipkeeper': plugin('99.0.0') },
    exit: 0,
    says: [
      /^warn {2}present-plugin .* is 99\.0\.0, newer than .*; see "Going back" in docs\/operations\/upgrade.md$/m,
    ],
  },
  'another program of that name': {
    files: { 'bin/ipkeeper': '#!/bin/sh\n' },
    exit: 0,
    says: [/^warn {2}present-plugin .* is no ipkeeper plugin of any version, and would be replaced$/m],
  },
  'no plugin to install': {
    words: ['--plugin', '/no/such/plugin'],
    exit: 1,
    says: [/^FAIL {2}present-plugin .*there is no plugin to install at \/no\/such\/plugin$/m],
  },
  'another CNI whose file comes first': {
    files: { 'net.d/05-cilium.conflist': conflist('cilium', 'cilium-cni') },
    exit: 1,
    says: [
      /^pods would get: \S+\/05-cilium.conflist \(network cilium: cilium-cni\)$/m,
      /^FAIL {2}first-network .*05-cilium.conflist comes before \S+\/10-ipkeeper.conflist: pods would go on getting it/m,
      /^ +fix {5}mv (\S+\/05-cilium.conflist) \1\.off$/m,
    ],
  },
  'another CNI that has the node now': {
    files: { 'net.d/20-flannel.conflist': conflist('cbr0', 'flannel') },
    exit: 0,
    says: [
      /^pods get now: \S+\/20-flannel.conflist \(network cbr0: flannel\)$/m,
      /^warn {2}first-network .*20-flannel.conflist has the node now .*docs\/guides\/moving-in.md$/m,
    ],
  },
  'a file that the runtime cannot load, and takes first': {
    files: { 'net.d/01-broken.conflist': '{' },
    exit: 1,
    says: [
      /^FAIL {2}first-network .*01-broken.conflist:1:1: containerd takes this file first and cannot load it/m,
    ],
  },
  'plugins elsewhere': {
    files: {
      'host/etc/containerd/config.toml':
        'version = 2\n[plugins."io.containerd.grpc.v1.cri".cni]\nbin_dir = "/usr/lib/cni"\n',
    },
    exit: 1,
    says: [
      /^FAIL {2}runtime-folders .*the runtime looks for plugins in \/usr\/lib\/cni, and not in \S+\/bin$/m,
      /^ +fix {5}ipkeeperctl install .*--check --bin-dir \/usr\/lib\/cni$/m,
    ],
  },
  'a conflist with a plugin that is not there': {
    files: { 'own.conflist': readFileSync(example, 'utf8').replace('portmap', 'bandwidth') },
    words: ['--conflist', '@/own.conflist'],
    exit: 1,
    says: [
      /^FAIL {2}conflist .*there is no program "bandwidth" in \S+\/bin$/m,
      /^ +fix {5}ipkeeperctl lint /m,
    ],
  },
  'a conflist that no runtime reads': {
    files: { 'own.conflist.txt': '{}' },
    words: ['--conflist', '@/own.conflist.txt'],
    exit: 1,
    says: [
      /^FAIL {2}conflist .*no runtime reads a file called own.conflist.txt; it has to end in .conflist$/m,
    ],
  },
}

t.test('what it says', async t => {
  for (const [title, { files = {}, words = [], exit, says }] of Object.entries(rows)) {
    const { folder, options } = makeNode(t, files)
    const before = stateOf(folder.path)
    const own = words.map(word => word.replace('@', folder.path))
    const given = own.includes('--conflist') ? own : [...withNetwork, ...own]
    const mine = own.includes('--plugin') ? options.filter((_, at) => ![4, 5].includes(at)) : options
    const run = await runTool([...check, ...mine, ...given])
    t.equal(run.exit, exit, title, run)
    for (const said of says) t.match(run.out, said, title)
    t.strictSame(stateOf(folder.path), before, `${title}: nothing was changed`)
  }
})

t.test('as a document, and without a network', async t => {
  const { options } = makeNode(t)
  const { exit, out } = await runTool([...check, ...options, '-o', 'json'])
  const report = JSON.parse(out) as Record<'files' | 'checks', readonly Record<string, unknown>[]>
  t.match({ exit, report }, { exit: 0, report: { network: { before: null, after: null } } })
  t.strictSame(
    report.files.map(({ change, what }) => [change, what]),
    [['new', 'the plugin']],
  )
  t.match(
    report.checks.filter(({ id }) => ['conflist', 'first-network'].includes(id as string)),
    [{ state: 'skip' }, { state: 'skip' }],
  )
})

t.test('without the word it says what installs', async t => {
  const { exit, err } = await runTool(['install', '--bin-dir', '/a b'])
  t.equal(exit, 2)
  t.match(err, /hint: to install: ipkeeper-server install --bin-dir '\/a b'; to see what would be done: /)
})

t.test('file systems that take nothing', { skip: missing('namespaces') }, async t => {
  const mounts: readonly (readonly [name: string, mount: string, said: RegExp])[] = [
    [
      'read-only',
      'mount -t tmpfs -o ro none "$1"',
      /^FAIL {2}folders .*bin is on a file system that is mounted read-only: name a folder/m,
    ],
    [
      'full',
      'mount -t tmpfs -o size=64k none "$1"',
      /^FAIL {2}room .*bin has 1 MiB free, and the plugin has 2 MiB$/m,
    ],
  ]
  for (const [title, mount, said] of mounts) {
    const { folder, options } = makeNode(t, { plugin: plugin(version).padEnd(2 * 1024 * 1024, '#') })
    const script = `${mount}; shift; exec "$@"`
    const tool = [process.execPath, join(root, 'ipkeeper-server', 'main.ts'), 'ctl', ...check, ...options]
    const { exit, stdout } = await runProgram('unshare', [
      '--mount',
      'sh',
      '-euc',
      script,
      'sh',
      folder.file('bin'),
      ...tool,
    ])
    t.equal(exit, 1, title, { stdout })
    t.match(stdout, said, title)
  }
})

t.test('a kernel without a feature of the chosen mode', { skip: missing('namespaces') }, async t => {
  const macvlan = {
    cniVersion: '1.0.0',
    name: 'lan',
    plugins: [
      {
        ...{ type: 'ipkeeper', mode: 'macvlan', master: 'eth0' },
        ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/24' }]] },
      },
    ],
  }
  const { folder, options } = makeNode(t, { 'lan.conflist': JSON.stringify(macvlan) })
  // What a kernel has is read from here.
  const withoutMacvlan = `mkdir -p "$1/kernel"
mount -t tmpfs none "$1/kernel"
mkdir "$1/kernel/upper" "$1/kernel/work"
mount -t overlay -o "lowerdir=/usr/lib,upperdir=$1/kernel/upper,workdir=$1/kernel/work" none /usr/lib
mkdir -p "/lib/modules/$(uname -r)"
echo 'kernel/drivers/net/veth.ko:' >"/lib/modules/$(uname -r)/modules.dep"
mount -t tmpfs none /sys/module`
  const inKernel = (...words: readonly string[]) =>
    runProgram('unshare', [
      ...['--mount', 'sh', '-euc', `${withoutMacvlan}\nshift; exec "$@"`, 'sh', folder.path],
      ...[process.execPath, join(root, 'ipkeeper-server', 'main.ts'), ...words],
    ])
  const wanted = [...options, '--conflist', folder.file('lan.conflist')]
  const checked = await inKernel('ctl', ...check, ...wanted)
  t.equal(checked.exit, 1, 'it is said before', checked)
  t.match(checked.stdout, /^FAIL {2}kernel-features .*lacks macvlan$/m)
  t.match(checked.stdout, /^ +fix {5}modprobe -a macvlan$/m)

  const installed = await inKernel(
    'install',
    ...options.slice(0, -2),
    '--conflist',
    folder.file('lan.conflist'),
  )
  t.equal(installed.exit, 1, 'and refused', installed)
  t.match(
    installed.stderr,
    /lan.conflist was not installed: this kernel \(.*\) lacks macvlan, which its pods need/,
  )
  t.match(installed.stderr, /hint: modprobe -a macvlan; or another mode: /)
  t.strictSame(readdirSync(folder.file('net.d')), [], 'no network names what does not work')
})

t.test('who installs all the same is told that another file comes first', async t => {
  const { folder } = makeNode(t, { 'net.d/05-cilium.conflist': conflist('cilium', 'cilium-cni') })
  const said = await install({
    plugin: folder.file('plugin'),
    binDir: folder.file('bin'),
    confDir: folder.file('net.d'),
    conflist: example,
  })
  t.match(
    said,
    /note: pods go on getting (\S+\/05-cilium.conflist) \(network cilium: cilium-cni\), which comes first by name; to have them get this one: mv \1 \1\.off\n$/,
  )
})
