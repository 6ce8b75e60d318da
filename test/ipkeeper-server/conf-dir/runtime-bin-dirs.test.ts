import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import t from 'tap'
import {
  runtimeBinDirs,
  toldBinDirs,
  toldConfDirs,
} from '../../../ipkeeper-server/conf-dir/runtime-bin-dirs.ts'
import { missing } from '../../rigs/requirements.ts'
import { mustRun } from '../../rigs/run-program.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'

const main = 'etc/containerd/config.toml'
const one = (folder: string): string =>
  `version = 2\n[plugins."io.containerd.grpc.v1.cri".cni]\nbin_dir = "${folder}"\n`
const imports = 'imports = ["@/etc/containerd/conf.d/*.toml"]\n'

type Row = readonly [name: string, files: Readonly<Record<string, string>>, expected: readonly string[]]

/** What real containerd 1 dumps; those of version 3 and of CRI-O have no program here that could say. */
const containerd1: readonly Row[] = [
  ['a file that says nothing of it', { [main]: 'version = 2\n' }, ['/opt/cni/bin']],
  ['as Debian has it', { [main]: one('/usr/lib/cni') }, ['/usr/lib/cni']],
  [
    'an import says another',
    { [main]: imports + one('/a'), 'etc/containerd/conf.d/b.toml': one('/b') },
    ['/b'],
  ],
  [
    'an import that has the section replaces it as a whole',
    {
      [main]: imports + one('/a'),
      'etc/containerd/conf.d/b.toml':
        'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "x"\n',
    },
    ['/opt/cni/bin'],
  ],
  [
    'the last import counts',
    { [main]: imports, 'etc/containerd/conf.d/a.toml': one('/a'), 'etc/containerd/conf.d/b.toml': one('/b') },
    ['/b'],
  ],
]

const others: readonly Row[] = [
  ['nothing there at all', {}, ['/opt/cni/bin']],
  ['the usual folders that exist', { 'usr/lib/cni/bridge': '' }, ['/usr/lib/cni']],
  [
    'containerd 2',
    {
      [main]: `version = 3\n[plugins.'io.containerd.cri.v1.runtime'.cni]\nbin_dirs = ['/opt/cni/bin', '/usr/lib/cni']\n`,
    },
    ['/opt/cni/bin', '/usr/lib/cni'],
  ],
  [
    'k3s',
    { 'var/lib/rancher/k3s/agent/etc/containerd/config.toml': one('/var/lib/rancher/k3s/data/cni') },
    ['/var/lib/rancher/k3s/data/cni'],
  ],
  ['CRI-O without a word', { 'etc/crio/crio.conf': '[crio.network]\n' }, ['/opt/cni/bin']],
  [
    'CRI-O, told later',
    {
      'etc/crio/crio.conf': '[crio.network]\nplugin_dirs = ["/a"]\n',
      'etc/crio/crio.conf.d/10-x.conf': '[crio.network]\nplugin_dirs = ["/b", "/c"]\n',
    },
    ['/b', '/c'],
  ],
  ['no TOML', { [main]: 'bin_dir = = x' }, ['/opt/cni/bin']],
  ['imports that go round', { [main]: `imports = ["config.toml"]\n${one('/a')}` }, ['/a']],
]

for (const [rows, real] of [
  [containerd1, true],
  [others, false],
] as const)
  for (const [name, files, expected] of rows)
    t.test(name, async t => {
      const folder = tempFolder(t)
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(folder.file(path)), { recursive: true })
        writeFileSync(folder.file(path), text.replace('@', folder.path))
      }
      t.strictSame(runtimeBinDirs(folder.path), expected)
      if (!real || missing('containerd') !== false) return
      const dump = await mustRun('containerd', ['-c', folder.file(main), 'config', 'dump'])
      t.match(dump, `bin_dir = "${expected[0]}"`, 'as containerd itself has it')
    })

t.test('where runtimes look for network configurations', t => {
  const rows: readonly Row[] = [
    ['nothing there at all', {}, []],
    ['a file that says nothing of it', { [main]: 'version = 2\n' }, ['/etc/cni/net.d']],
    [
      'k3s',
      {
        'var/lib/rancher/k3s/agent/etc/containerd/config.toml': one('/a').concat(
          'conf_dir = "/var/lib/rancher/k3s/agent/etc/cni/net.d"\n',
        ),
      },
      ['/var/lib/rancher/k3s/agent/etc/cni/net.d'],
    ],
    ['CRI-O', { 'etc/crio/crio.conf': '[crio.network]\nnetwork_dir = "/a"\n' }, ['/a']],
  ]
  for (const [name, files, expected] of rows) {
    const folder = tempFolder(t)
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(folder.file(path)), { recursive: true })
      writeFileSync(folder.file(path), text)
    }
    t.strictSame(toldConfDirs(folder.path), expected, name)
  }
  t.strictSame(toldBinDirs(tempFolder(t).path), [], 'no folder is said to be told that is only usual')
  t.end()
})
