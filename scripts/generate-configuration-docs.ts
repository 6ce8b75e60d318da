/**
 * Writes docs/reference/configuration.generated.md from the schema of the daemon's configuration file.
 *
 *   node scripts/generate-configuration-docs.ts
 */
import { DaemonConfigFile } from '../ipkeeper-server/config/daemon-config.schema.ts'
import { type SchemaNode } from '../ipkeeper-server/config/schema-words.ts'
import { code, table } from './markdown-table.ts'
import { writeGenerated, type GeneratedFile } from './write-generated.ts'

const introduction = `<!-- Made by scripts/generate-configuration-docs.ts from ipkeeper-server/config/daemon-config.schema.ts; change that, then: make generate -->

# Configuration of the daemon

The file is \`/etc/ipkeeper/config.yaml\`, or what \`ipkeeper-server serve --config FILE\` names. It is YAML 1.2 in UTF-8, hence
JSON as well, and at most 1 MiB. Every key may be left away; without the file, which is no error unless it was named, defaults
apply throughout. Unknown keys, keys that come twice, and values that make no sense are errors, and all of them are told
with file, line and column:

\`\`\`
$ ipkeeper-server check-config /etc/ipkeeper/config.yaml
/etc/ipkeeper/config.yaml:5:21: pools[0].ranges[0][0].subnet: "10.22.0.0/33" is not a network, such as 10.22.0.0/16 (pool "prod")
/etc/ipkeeper/config.yaml:6:5: pools[0]: unknown key "namespace"; did you mean "namespaces"? (pool "prod")
\`\`\`

\`check-config\` needs no daemon, and exits with 1 when it finds something.

## An example

\`\`\`yaml
node: worker-1
retention: release
cooldown: 60s
pools:
  - name: prod
    ranges:
      - - { subnet: 10.22.0.0/16, rangeStart: 10.22.0.10, gateway: 10.22.0.1, exclude: [10.22.0.100-10.22.0.120] }
      - - { subnet: "fd00:22::/64" }
    routes: [{ dst: 0.0.0.0/0 }, { dst: "::/0" }]
    dns: { nameservers: [10.22.0.2], search: [example.com] }
    mtu: 1450
    namespaces: [shop, "team-*"]
    quotaPerNamespace: 50
    retention: 30m
  - name: lab
    segment: lab
    subnet: 10.22.0.0/16
    nodeSelector: { matchLabels: { rack: r7 } }
    strategy: least-recently-used
\`\`\`

## When the file changes

It is read again when it changes, also when it is replaced by a rename or is part of a ConfigMap, and when the daemon gets
SIGHUP. A file is put in force whole or not at all. The last good one stays in force, and log and status say why, when the
file

- has a fault, is gone, or is empty (write \`{}\` for defaults: a file that is written anew is empty for a moment);
- changes \`node\`, \`kubernetes\`, \`store\`, \`runtime\`, \`resultCache\`, \`conflist\` or \`metrics\`: restart the daemon, which then takes all of the file, or take that change back;
- would leave addresses in use outside of their pool, because the pool goes, is renamed, moves to another segment or
  shrinks (\`IPK_POOLS_ORPHAN\`), or overlaps ranges of a conflist that are in use (\`IPK_POOL_OVERLAP\`). When these addresses
  are free, send SIGHUP to try again (\`systemctl reload-or-restart ipkeeper\`).

So it is at a start as well: the daemon keeps a copy of what is in force, \`last-good-config.json\` in its state folder, and begins with
that where the file is refused. Only the keys that need a restart are those of the file then, where it can be read at all. A
daemon without such a copy, as after the first installation, does not start with a file that has a fault. Rules of a pool
(\`namespaces\`, \`namespaceSelector\`, \`nodes\`, \`nodeSelector\`, \`quotaPerNamespace\`, \`allowMac\`) of a refused file apply besides those
in force, if the file can be read at all: they shut out, and let nobody in.

A folder that cannot be watched, such as one that does not exist yet, is looked at every 5 s.
`

/** Defaults that are words of the file are code, others are prose. */
function standard(text: string | undefined): string {
  if (text === undefined) return ''
  return /^[a-z0-9-]+$/.test(text) && !['none', 'required', 'all'].includes(text) ? code(text) : text
}

function typeName(node: SchemaNode): string {
  if (node.doc?.type !== undefined) return node.doc.type
  if (node.enum) return 'word'
  if (node.type === 'array') return `list of ${plural(typeName(node.items ?? {}))}`
  return (
    { object: 'mapping', string: 'text', integer: 'integer', boolean: 'true or false' }[node.type ?? ''] ?? ''
  )
}

/** "lists of texts", "addresses, ranges or CIDRs". */
function plural(type: string): string {
  return type.startsWith('list')
    ? type.replace('list', 'lists')
    : type.replaceAll(/\w+(?=, | or |$)/g, word => (word.endsWith('s') ? `${word}es` : `${word}s`))
}

/** What a key holds in the end: the elements of a list, and of a list of lists. */
function elements(path: string, node: SchemaNode): [path: string, node: SchemaNode] {
  return node.items ? elements(`${path}[]`, node.items) : [path, node]
}

function keyTable({ properties = {} }: SchemaNode): string {
  const rows = Object.entries(properties).map(([key, node]) => {
    const { doc } = node
    const words = node.enum ? ` One of ${node.enum.map(code).join(', ')}.` : ''
    const meaning = `${node.description ?? ''}${words}`
    return [code(key), typeName(node), doc?.unit ?? '', standard(doc?.default), meaning, code(doc?.example)]
  })
  return table(['key', 'type', 'unit', 'default', 'meaning', 'example'], rows)
}

/** Every mapping of the file, outermost first. */
function* mappings(path: string, node: SchemaNode): Iterable<readonly [path: string, keys: string]> {
  yield [path, keyTable(node)]
  for (const [key, property] of Object.entries(node.properties ?? {})) {
    const [below, element] = elements(path === '' ? key : `${path}.${key}`, property)
    if (element.properties) yield* mappings(below, element)
  }
}

function generate(): string {
  // Mappings with the same keys, such as selectors, are described once.
  const places = new Map<string, string[]>()
  for (const [path, keys] of mappings('', DaemonConfigFile)) {
    places.set(keys, [...(places.get(keys) ?? []), path])
  }
  const sections = [...places].map(([keys, paths]) => {
    const title = paths.map(path => (path === '' ? 'Keys' : code(path))).join(', ')
    return `## ${title}\n\n${keys}\n`
  })
  return [introduction, ...sections].join('\n')
}

export const configurationReference: GeneratedFile = {
  path: 'docs/reference/configuration.generated.md',
  generate,
}

if (import.meta.main) await writeGenerated(configurationReference)
