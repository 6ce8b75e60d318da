import { existsSync, readFileSync, statSync } from 'node:fs'
import t from 'tap'
import {
  findDocuments,
  findStartedAs,
  notedStartedAs,
  noteStartedAs,
} from '../../../ipkeeper-server/host/started-as.ts'
import { makeTempFolder } from '../../rigs/temp-folder.ts'

const absent = (): string => {
  throw new Error('ENOENT')
}

t.test('how a daemon was started', t => {
  const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', IPKEEPER_NODE: 'n1' }
  for (const [what, surroundings, found] of [
    ['on a machine', { env: {}, exists: () => false }, undefined],
    ['in a pod', { env, read: () => 'net\n' }, { service: 'pod', namespace: 'net', node: 'n1' }],
    ['without a token', { env, read: absent }, { service: 'pod', namespace: 'ipkeeper-system', node: 'n1' }],
    [
      'first of a container',
      { env: {}, pids: [1, 0], exists: (path: string) => path === '/.dockerenv' },
      { service: 'container' },
    ],
    ['by hand in a container', { env: {}, pids: [7, 6], exists: () => true }, undefined],
    ['by systemd in a container', { env: {}, pids: [7, 1], exists: () => true }, undefined],
  ] as const)
    t.strictSame(findStartedAs(surroundings), found, what)
  t.end()
})

t.test('a note for those who find no daemon', t => {
  const folder = makeTempFolder()
  t.teardown(() => {
    folder.remove()
  })
  const path = folder.file('started-as.json')
  t.equal(notedStartedAs(folder.path), undefined)
  const socket = '/run/ipkeeper/ipkeeper.sock'
  noteStartedAs(folder.path, { service: 'container' }, socket)
  t.strictSame(notedStartedAs(folder.path), { service: 'container' })
  t.strictSame(JSON.parse(readFileSync(path, 'utf8')), {
    service: 'container',
    says: { 'systemctl restart ipkeeper': 'restart the container of ipkeeper-server' },
  })
  t.equal(statSync(path).mode & 0o777, 0o600)
  noteStartedAs(folder.path, undefined, socket)
  t.notOk(existsSync(path))
  noteStartedAs(folder.path, undefined, '/s')
  t.equal(notedStartedAs(folder.path), undefined)
  t.strictSame(JSON.parse(readFileSync(path, 'utf8')), {
    says: { 'ipkeeperctl status': 'ipkeeperctl status --socket /s' },
  })
  t.doesNotThrow(() => {
    noteStartedAs('/proc/nowhere', { service: 'container' }, socket)
  })
  t.end()
})

t.test('the pages of an installation', t => {
  const there = (path: string): boolean => path === '/usr/local/share/doc/ipkeeper/docs/README.md'
  t.equal(findDocuments('/usr/local/bin/ipkeeper-server', there), '/usr/local/share/doc/ipkeeper')
  t.equal(findDocuments('/opt/bin/ipkeeper-server', there), undefined)
  t.end()
})
