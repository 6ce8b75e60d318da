import { execFileSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseResolvConf, readResolvConf } from '../../../ipkeeper-server/network/resolv-conf.ts'
import { leaveStaleSocket } from '../../rigs/scripted-socket.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

const nothing = { nameservers: [], domain: '', search: [], options: [] }

const cases: readonly (readonly [name: string, text: string, differs: object])[] = [
  ['empty', '', {}],
  ['comments alone', '# nameserver 10.0.0.1\n; nameserver 10.0.0.2\n', {}],
  [
    'servers add up, in order',
    'nameserver 10.0.0.2\nnameserver fd00::2\n',
    { nameservers: ['10.0.0.2', 'fd00::2'] },
  ],
  ['one server per line', 'nameserver 10.0.0.2 10.0.0.3', { nameservers: ['10.0.0.2'] }],
  ['a server that is missing', 'nameserver\nnameserver 10.0.0.2', { nameservers: ['10.0.0.2'] }],
  [
    'a server that is no address',
    'nameserver dns.example\nnameserver 10.0.0.2\nnameserver fe80::2%eth0\nnameserver 10.0.0.02',
    { nameservers: ['10.0.0.2', 'fe80::2%eth0'] },
  ],
  ['the later domain wins', 'domain a.example\ndomain b.example', { domain: 'b.example' }],
  ['the later search wins', 'search a b\nsearch c d', { search: ['c', 'd'] }],
  [
    'options add up',
    'options ndots:5 rotate\noptions timeout:1',
    { options: ['ndots:5', 'rotate', 'timeout:1'] },
  ],
  [
    'tabs, indents and what follows a comment',
    '\t nameserver\t10.0.0.2 # the first\n',
    { nameservers: ['10.0.0.2'] },
  ],
  ['unknown words', 'sortlist 10.0.0.0\nNAMESERVER 10.0.0.2\nlookup file bind', {}],
  [
    'CRLF, no last newline',
    'nameserver 10.0.0.2\r\nsearch a b\r\noptions ndots:2',
    { nameservers: ['10.0.0.2'], search: ['a', 'b'], options: ['ndots:2'] },
  ],
]
for (const [name, text, differs] of cases) {
  t.test(name, t => {
    t.strictSame(parseResolvConf(text), { ...nothing, ...differs })
    t.end()
  })
}

t.test('files', async t => {
  const folder = t.testdir({ 'resolv.conf': 'nameserver 10.0.0.2\n', folder: {} })
  t.strictSame(await readResolvConf(join(folder, 'resolv.conf')), { ...nothing, nameservers: ['10.0.0.2'] })
  for (const [path, message] of [
    [join(folder, 'none'), /^ipam\.resolvConf: cannot read .*none \(ENOENT\)$/],
    [join(folder, 'folder'), /cannot read .*folder \(EISDIR\)$/],
    ['etc/resolv.conf', /"etc\/resolv\.conf" is not an absolute path/],
    ['', /"" is not an absolute path/],
  ] as const) {
    const problem = await thrownProblem(() => readResolvConf(path))
    t.equal(problem.code, 'IPK_CONFIG_INVALID')
    t.match(problem.message, message)
  }
  const huge = join(folder, 'huge')
  writeFileSync(huge, `nameserver 10.0.0.2\n${'#'.repeat(1024 * 1024)}\nnameserver 10.0.0.3\n`)
  t.strictSame((await readResolvConf(huge)).nameservers, ['10.0.0.2'], 'of a long one the beginning')
})

t.test('what is no file makes nobody wait', async t => {
  const folder = tempFolder(t)
  const pipe = folder.file('pipe')
  execFileSync('mkfifo', [pipe])
  const socket = folder.file('socket')
  leaveStaleSocket(socket)
  symlinkSync(pipe, folder.file('link'))
  for (const [path, why] of [
    [pipe, 'a pipe, no regular file'],
    [folder.file('link'), 'a pipe, no regular file'],
    [socket, 'ENXIO'],
    ['/dev/zero', 'a device, no regular file'],
    ['/dev/tty', /^(?:a device, no regular file|ENXIO)$/],
  ] as const) {
    const { code, message } = await thrownProblem(() => readResolvConf(path))
    t.equal(code, 'IPK_CONFIG_INVALID', path)
    t.match(/\((.*)\)$/.exec(message)?.[1], why, path)
  }
})
