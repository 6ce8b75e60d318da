/** What the reference says of a key: it is there, and the example is one. */
import t from 'tap'
import { DaemonConfigFile } from '../../../ipkeeper-server/config/daemon-config.schema.ts'
import { type SchemaNode } from '../../../ipkeeper-server/config/schema-words.ts'
import { findingKindNames } from '../../../shared/findings.ts'
import { parseConfig } from '../../../ipkeeper-server/config/load-config.ts'

/** Where the keys of each mapping stand in a file; "KEY" is where they go. What else has to be there is there. */
const places: Readonly<Record<string, string>> = {
  '': 'KEY',
  'pools[]': 'pools: [{ name: p, subnet: 10.22.0.0/16, KEY }]',
  'pools[].ranges[][]': 'pools: [{ name: p, ranges: [[{ subnet: 10.22.0.0/16, KEY }]] }]',
  'pools[].routes[]': 'pools: [{ name: p, subnet: 10.22.0.0/16, routes: [{ dst: 0.0.0.0/0, KEY }] }]',
  'pools[].dns': 'pools: [{ name: p, subnet: 10.22.0.0/16, dns: { KEY } }]',
  'pools[].namespaceSelector': 'pools: [{ name: p, subnet: 10.22.0.0/16, namespaceSelector: { KEY } }]',
  'pools[].namespaceSelector.matchExpressions[]':
    'pools: [{ name: p, subnet: 10.22.0.0/16, namespaceSelector: { matchExpressions: [{ key: a, operator: In, values: [b], KEY }] } }]',
  'pools[].nodeSelector': 'pools: [{ name: p, subnet: 10.22.0.0/16, nodeSelector: { KEY } }]',
  'pools[].nodeSelector.matchExpressions[]':
    'pools: [{ name: p, subnet: 10.22.0.0/16, nodeSelector: { matchExpressions: [{ key: a, operator: In, values: [b], KEY }] } }]',
  kubernetes: 'kubernetes: { kubeconfig: /k, KEY }',
  store: 'store: { KEY }',
  'store.etcd': 'store: { etcd: { certFile: /c, keyFile: /k, user: u, passwordFile: /p, KEY } }',
  history: 'history: { KEY }',
  'history.export': 'history: { export: { syslog: tls://a:1, certFile: /c, keyFile: /k, KEY } }',
  runtime: 'runtime: { KEY }',
  takeover: 'takeover: { KEY }',
  reconcile: 'reconcile: { KEY }',
  'reconcile.kinds': 'reconcile: { kinds: { KEY } }',
  ...Object.fromEntries(
    findingKindNames.map(kind => [`reconcile.kinds.${kind}`, `reconcile: { kinds: { ${kind}: { KEY } } }`]),
  ),
  resultCache: 'resultCache: { KEY }',
  'resultCache.folders': 'resultCache: { folders: { KEY } }',
  conflist: 'conflist: { KEY }',
  metrics: 'metrics: { listen: 127.0.0.1:9478, KEY }',
  page: 'page: { KEY }',
  webhook: 'webhook: { listen: "0.0.0.0:9443", certFile: /c, keyFile: /k, KEY }',
  election: 'election: { KEY }',
}

/** The file with an example in its place, which takes the place of that key where it is there. */
function fileWith(place: string, key: string, example: string): string {
  const file = place.replace('KEY', example)
  const [name] = example.split(':')
  if (name !== key) throw new Error(`the example of ${key} is one of ${String(name)}`)
  const again = new RegExp(`(?<=[{ ])${key}: [^,{}\\[\\]]*(?:\\[[^\\]]*\\])?, (?=.*${key}: )`)
  return place === 'KEY' ? file : file.replace(again, '')
}

const seen = new Set<string>()
function visit(path: string, { properties = {} }: SchemaNode): void {
  seen.add(path)
  const place = places[path]
  for (const [key, node] of Object.entries(properties)) {
    const full = path === '' ? key : `${path}.${key}`
    t.test(full, t => {
      t.match(node.description, /^\S.*\.$/, 'a description of whole sentences')
      t.ok(node.doc?.expected, 'what is expected')
      t.ok(node.doc?.default, 'a default')
      const text = fileWith(place ?? 'KEY', key, node.doc?.example ?? '')
      // Beside the example of these two, what makes room for the others has no place.
      const file =
        { mode: text.replace('kubeconfig: /k, ', ''), ranges: text.replace('subnet: 10.22.0.0/16, ', '') }[
          key
        ] ?? text
      t.doesNotThrow(() => parseConfig(file, 'c.yaml'), file)
      t.end()
    })
    let element = node
    let below = full
    while (element.items) {
      element = element.items
      below += '[]'
    }
    if (element.properties) visit(below, element)
  }
}
visit('', DaemonConfigFile)

t.strictSame([...seen].sort(), Object.keys(places).sort(), 'every mapping has its place')
