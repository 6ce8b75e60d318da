import { Type, type Static } from 'typebox'
import type { JsonObject } from '../../../shared/json/fold.ts'
import { conditions, generation, text, words, type CelRule } from './object.schema.ts'

/** What ipkeeper keeps in an IPPool that it made itself: ranges of a network, or a pool of the file of a daemon. */
export const PoolRecorded = Type.Object(
  {
    generation,
    origin: words(
      ['network', 'config'],
      'network: the ranges of a conflist. config: a pool of the file of a daemon.',
    ),
    name: text(256, 'The name that it has there.'),
  },
  { description: 'Written by ipkeeper where it only remembers a pool. Objects that people make have none.' },
)

export type PoolRecorded = Static<typeof PoolRecorded>

/** Counts above 2^53 are decimal texts. */
const count = (description: string) =>
  Type.Unsafe<number | string>({ 'x-kubernetes-int-or-string': true, description })

const figures = {
  capacity: Type.Optional(count('Addresses that it can give.')),
  used: Type.Optional(count('Addresses that are in use.')),
  held: Type.Optional(count('Addresses that are kept for their owners.')),
  free: Type.Optional(count('Addresses that can be given.')),
  ratio: Type.Optional(text(64, 'Used of capacity, such as "2/3".')),
}

/** The spec as it was: it may be of another version of the form than this one. */
const inForce = Type.Object(
  {
    generation: Type.Integer({ minimum: 0, description: 'Of the object when it said so.' }),
    spec: Type.Unsafe<JsonObject>({
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      description: 'As `spec` was then.',
    }),
  },
  {
    description:
      'What all daemons go by: the newest spec that the elected one has accepted. Of a pool that ipkeeper made itself there is none.',
  },
)

export const IPPoolStatus = Type.Object({
  inForce: Type.Optional(inForce),
  ranges: Type.Optional(text(512, 'Ranges in force, such as "10.22.0.0/24, fd00:22::/64".')),
  ...figures,
  ipv4: Type.Optional(Type.Object(figures, { description: 'The same of its IPv4 addresses alone.' })),
  ipv6: Type.Optional(Type.Object(figures, { description: 'The same of its IPv6 addresses alone.' })),
  conditions: Type.Optional(conditions),
})

export type IPPoolStatus = Static<typeof IPPoolStatus>

const cidr: CelRule = { rule: 'isCIDR(self)', message: 'must be a network, such as 10.22.0.0/16' }
const network: CelRule = {
  rule: '!isCIDR(self) || cidr(self).masked() == cidr(self)',
  message: 'has host bits set: the network is meant',
}
const address: CelRule = { rule: 'isIP(self)', message: 'must be an IP address' }
const within = (key: string): CelRule => ({
  rule: `!has(self.${key}) || !has(self.subnet) || !isIP(self.${key}) || !isCIDR(self.subnet) || cidr(self.subnet).containsIP(self.${key})`,
  message: `${key} must be in the subnet`,
})
const bounds = ['rangeStart', 'rangeEnd', 'gateway'] as const

const ofRange = (path: readonly string[]) => [
  { path: [...path, 'subnet'], maxLength: 49, rules: [cidr, network] },
  ...bounds.map(key => ({ path: [...path, key], maxLength: 45, rules: [address] })),
  { path, rules: bounds.map(within) },
]

/** Rules on the spec of a pool, by their place; "[]" stands for the elements of a list. */
export const poolRules: readonly {
  readonly path: readonly string[]
  readonly maxLength?: number
  readonly rules: readonly CelRule[]
}[] = [
  {
    path: [],
    rules: [
      {
        rule: 'has(self.ranges) || has(self.subnet) || has(self.recorded)',
        message: 'has neither "ranges" nor "subnet"',
      },
      {
        // Of "kubectl apply", which leaves what it does not name: the daemons would go on taking it for a record.
        rule: '!has(self.recorded) || !has(self.subnet)',
        message: 'is a record of a pool elsewhere; kubectl replace -f puts yours in its place',
      },
      ...[...bounds, 'exclude'].map(key => ({
        rule: `!has(self.${key}) || has(self.subnet)`,
        message: `"${key}" stands beside a "subnet" only, or in a range of "ranges"`,
      })),
    ],
  },
  ...ofRange([]),
  ...ofRange(['ranges', '[]', '[]']),
]
