/**
 * Writes docs/reference/netconf.generated.md from the schema of the network configuration.
 *
 *   node scripts/generate-netconf-docs.ts
 */
import {
  DnsSchema,
  IpamSchema,
  NetconfSchema,
  RangeSchema,
  RouteSchema,
  type NetconfKeyDoc,
} from '../shared/cni/netconf.schema.ts'
import { code, table } from './markdown-table.ts'
import { writeGenerated, type GeneratedFile } from './write-generated.ts'

interface KeySchema {
  readonly type?: string
  readonly items?: KeySchema
  readonly description?: string
  readonly doc?: NetconfKeyDoc
}

interface Section {
  readonly properties: Readonly<Record<string, object>>
}

function typeName({ type = '', items }: KeySchema): string {
  if (type === 'array') return items?.type === 'array' ? 'list of lists' : 'list'
  return (
    { object: 'object', string: 'text', integer: 'integer', number: 'number', boolean: 'true or false' }[
      type
    ] ?? ''
  )
}

const keysOf = (
  { properties }: Section,
  isIn: (doc: NetconfKeyDoc) => boolean,
): [string, KeySchema, NetconfKeyDoc][] =>
  Object.entries(properties as Readonly<Record<string, KeySchema>>).flatMap(
    ([key, schema]): [string, KeySchema, NetconfKeyDoc][] =>
      schema.doc && isIn(schema.doc) ? [[key, schema, schema.doc]] : [],
  )

const isRefused = ({ refused }: NetconfKeyDoc): boolean => refused !== undefined

function keyTable(section: Section, withModes = false): string {
  const rows = keysOf(section, doc => !isRefused(doc)).map(([key, schema, doc]) => [
    ...[code(key), typeName(schema), doc.unit ?? '', doc.default ?? ''],
    ...(withModes ? [doc.modes?.join(', ') ?? 'all'] : []),
    schema.description ?? '',
  ])
  return table(['key', 'type', 'unit', 'default', ...(withModes ? ['modes'] : []), 'meaning'], rows)
}

const withoutRange = Object.fromEntries(
  Object.entries(IpamSchema.properties).filter(([key]) => !Object.hasOwn(RangeSchema.properties, key)),
)

const refusals = table(
  ['key', 'why, and what to do'],
  keysOf(NetconfSchema, isRefused).map(([key, , { refused = '' }]) => [code(key), refused]),
)

const generate =
  (): string => `<!-- Made by scripts/generate-netconf-docs.ts from shared/cni/netconf.schema.ts; change that, then: make generate -->

# Keys of the network configuration

Keys are read without regard to case, as the reference plugins do. \`null\` is as good as nothing. An unknown key is ignored, as
\`host-local\` does, but one that is nearly one of ours (\`exclud\`, \`isGatway\`) is refused with "did you mean", since it would be
missed in silence.

## Under \`ipam\`

With \`"type": "ipkeeper"\`, whoever wires the pod. Where there is only one range, its [keys](#a-range) may stand in \`ipam\` itself.

${keyTable({ properties: withoutRange })}

### A range

${keyTable(RangeSchema)}

### A route

One of \`routes\`.

${keyTable(RouteSchema)}

## Beside \`type\`

Where the \`type\` of the network is \`ipkeeper\` itself ([main plugin](../guides/main-plugin.md)), beside \`type\`, \`ipam\`, \`capabilities\` and
CNI's other keys. Of \`socket\`, \`stateDir\` and \`timeout\`, what \`ipam\` says goes before.

${keyTable(NetconfSchema, true)}

A key that has no meaning in a mode is refused with the names of both, unless its value asks for nothing (\`false\`, 0, an empty
text or list): then it can stay.

### DNS

${keyTable(DnsSchema)}

## What is refused

The reference plugins have keys for things that ipkeeper does not do. Their neutral values are welcome; a value that asks for
something gets \`IPK_UNSUPPORTED\` before anything is touched, since a pod that is wired otherwise than asked is worse than
an error.

${refusals}

What is refused as a wrong configuration (\`IPK_CONFIG_INVALID\`) is in the [guide](../guides/main-plugin.md#what-is-refused).
`

export const netconfReference: GeneratedFile = { path: 'docs/reference/netconf.generated.md', generate }

if (import.meta.main) await writeGenerated(netconfReference)
