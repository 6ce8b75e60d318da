import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, statSync } from 'node:fs'
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
    [
      'in a pod that knows its name',
      { env: { ...env, IPKEEPER_POD: 'ipkeeper-x7k2p' }, read: () => 'net\n' },
      { service: 'pod', namespace: 'net', node: 'n1', pod: 'ipkeeper-x7k2p' },
    ],
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
  const socket = folder.file('run/s')
  const path = `${socket}.started-as.json`
  const pod = { service: 'pod', namespace: 'net', node: 'n1' } as const
  t.equal(notedStartedAs(socket), undefined)
  for (const [startedAs, noted] of [
    [{ service: 'container' }, { service: 'container' }],
    [undefined, undefined],
    [{ ...pod, pod: 'ipkeeper-x7k2p' }, pod],
  ] as const) {
    noteStartedAs(socket, startedAs)
    t.strictSame(notedStartedAs(socket), noted)
    t.equal(existsSync(path), noted !== undefined)
  }
  t.equal(statSync(path).mode & 0o777, 0o600)
  rmSync(path)
  execFileSync('mkfifo', [path])
  t.equal(notedStartedAs(socket), undefined, 'nothing is waited for')
  t.doesNotThrow(() => {
    noteStartedAs('/proc/nowhere/s', { service: 'container' })
  })
  t.end()
})

t.test('the pages of an installation', t => {
  const there = (path: string): boolean => path === '/usr/local/share/doc/ipkeeper/docs/README.md'
  t.equal(findDocuments('/usr/local/bin/ipkeeper-server', there), '/usr/local/share/doc/ipkeeper')
  t.equal(findDocuments('/opt/bin/ipkeeper-server', there), undefined)
  t.end()
})
