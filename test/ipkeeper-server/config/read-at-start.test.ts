import t from 'tap'
import { DaemonConfigFile } from '../../../ipkeeper-server/config/daemon-config.schema.ts'
import { parseConfig } from '../../../ipkeeper-server/config/load-config.ts'
import { changedAtStart, sectionsAtStart, sectionsOf } from '../../../ipkeeper-server/config/read-at-start.ts'

const read = (text: string) => parseConfig(`node: n1\n${text}`, '/etc/ipkeeper/config.yaml', 'n1')

const certificate = 'certFile: /etc/w/tls.crt, keyFile: /etc/w/tls.key'

const changes: readonly (readonly [name: string, before: string, next: string, keys: readonly string[]])[] = [
  ['nothing', 'metrics: { listen: 127.0.0.1:9478 }', 'metrics: { listen: 127.0.0.1:9478 }', []],
  ['what is taken at once', 'cooldown: 9s', 'logLevel: debug', []],
  ['a key', '', 'metrics: { listen: 127.0.0.1:9478 }', ['metrics.listen']],
  [
    'a key that goes',
    'kubernetes: { mode: kubeconfig, kubeconfig: /k }',
    'kubernetes: { mode: in-cluster }',
    [...['kubernetes.mode', 'kubernetes.kubeconfig']],
  ],
  ['a section that comes', '', `webhook: { listen: 0.0.0.0:9443, ${certificate} }`, ['webhook']],
  [
    'one of its keys',
    `webhook: { listen: 0.0.0.0:9443, ${certificate} }`,
    `webhook: { listen: 0.0.0.0:9444, ${certificate} }`,
    ['webhook.listen'],
  ],
  ['where the election is', '', 'election: { namespace: addresses }', ['election.namespace']],
  [
    'several',
    '',
    'runtime: { sockets: [/run/x.sock] }\nstore: { singleNode: true }',
    [...['store.singleNode', 'runtime.sockets']],
  ],
]
t.test('which keys have changed', t => {
  for (const [name, before, next, keys] of changes)
    t.strictSame(
      changedAtStart(read(next), read(before)).map(key => key.join('.')),
      keys,
      name,
    )
  t.end()
})

t.test('the sections of a file, and no others', t => {
  const file = read('page: { listen: 127.0.0.1:7480 }\ncooldown: 9s')
  t.strictSame(Object.keys(sectionsOf(file)), [...sectionsAtStart])
  t.strictSame(sectionsOf(file).page, file.page)
  t.end()
})

t.test('the schema says of each of them, and of no other, that it needs a restart', t => {
  const properties = Object.entries<object>(DaemonConfigFile.properties)
  const said = properties.flatMap(([key, schema]) =>
    'description' in schema && /needs a restart/i.test(String(schema.description)) ? [key] : [],
  )
  t.strictSame(said.sort(), [...sectionsAtStart].sort())
  t.end()
})
