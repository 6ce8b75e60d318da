import {
  Type,
  type TArray,
  type TBoolean,
  type TEnum,
  type TInteger,
  type TObject,
  type TOptional,
  type TRecord,
  type TString,
} from 'typebox'

/** What errors and the reference say of a key beside its description; stands in the schema under the keyword "doc". */
interface KeyDoc {
  /** Ends the sentence "VALUE is not ..." of an error. */
  readonly expected: string
  /** What kind of text it is, where "text" does not say it. */
  readonly type?: string
  /** What holds without the key. */
  readonly default?: string
  readonly unit?: string
  /** YAML that may stand where the key may. */
  readonly example?: string
}

/** As much of JSON Schema as the schema below uses, for those who walk through it. */
export interface SchemaNode {
  readonly type?: string
  readonly description?: string
  readonly doc?: KeyDoc
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly propertyNames?: SchemaNode
  readonly items?: SchemaNode
}

/** Defaults as they would be written in the file. */
export const defaults = {
  retention: 'release',
  cooldown: '60s',
  preferFor: '10m',
  logLevel: 'info',
  segment: 'default',
  strategy: 'lowest-free',
  nodeRoutes: 'auto',
  takeover: { byTime: 'off', offlineGrace: '5m' },
  kubernetesMode: 'auto',
  electionNamespace: 'kube-system',
  historyMaxAge: '90d',
  historyMaxEntries: 250_000,
  historySharedEntries: 10_000,
  reconcile: { mode: 'repair', interval: '15s', minAge: '45s', minAgeUnproved: '5m', passes: 2 },
  resultCache: { mode: 'repair', others: 'report', interval: '1m' },
  etcdPrefix: '/ipkeeper/v1/',
} as const

/** Annotations of other projects, by the name that switches a set of them on. */
export const annotationDialects = ['crd-ipkeeper', 'calico', 'kube-ovn', 'hybridnet', 'antrea'] as const

export const pathPattern = '^/[^\\u0000-\\u001f\\u007f]{0,4094}$'

export const durationUnit = 's, m, h or d'
export const durationExpected = 'a duration of at least 1s, such as 90s, 30m, 12h or 7d'

export const duration = (description: string, doc: Omit<KeyDoc, 'expected'>): TString =>
  Type.String({
    pattern: '^[1-9][0-9]{0,8}[smhd]$',
    description,
    doc: { expected: durationExpected, type: 'duration', unit: durationUnit, ...doc },
  })

export const retention = (description: string, doc: Omit<KeyDoc, 'expected'>): TString =>
  Type.String({
    description,
    doc: {
      expected: `release, while-owner-exists, forever, or ${durationExpected}`,
      type: 'word or duration',
      unit: durationUnit,
      ...doc,
    },
  })

export const boolean = (description: string, doc: Omit<KeyDoc, 'expected'>): TBoolean =>
  Type.Boolean({ description, doc: { expected: 'true or false', ...doc } })

export const integer = (
  minimum: number,
  maximum: number,
  description: string,
  doc: Omit<KeyDoc, 'expected'>,
): TInteger =>
  Type.Integer({
    minimum,
    maximum,
    description,
    doc: { expected: `an integer from ${minimum} to ${maximum}`, ...doc },
  })

export const oneOf = <T extends string[]>(
  words: readonly [...T],
  description: string,
  doc: Omit<KeyDoc, 'expected'>,
): TEnum<T> => Type.Enum(words, { description, doc: { expected: `one of ${words.join(', ')}`, ...doc } })

// Labels as k8s.io/apimachinery has them, pkg/util/validation.
const labelName = '[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?'
export const dnsLabel = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const labelKey = `^(?:(?=[^/]{1,253}/)${dnsLabel}(?:\\.${dnsLabel})*/)?${labelName}$`
const labelKeyDoc = { expected: 'a label key, such as team or example.com/team' }

const LabelValue = Type.String({
  pattern: `^(?:${labelName})?$`,
  doc: {
    expected:
      'a label value: up to 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends',
  },
})

type Labels = TRecord<'^.*$', TString>

export const labels = (description: string, doc: Omit<KeyDoc, 'expected'>): Labels =>
  Type.Record(Type.String(), LabelValue, {
    maxProperties: 256,
    propertyNames: { pattern: labelKey, doc: labelKeyDoc },
    description,
    doc: { expected: 'a mapping of label keys to values', ...doc },
  })

const selectorDoc = { expected: 'a label selector: a mapping with matchLabels, matchExpressions or both' }

const LabelRequirement = Type.Object(
  {
    key: Type.String({
      pattern: labelKey,
      description: 'The label.',
      doc: { ...labelKeyDoc, default: 'required', example: 'key: team' },
    }),
    operator: oneOf(
      ['In', 'NotIn', 'Exists', 'DoesNotExist'],
      'What has to hold. `NotIn` and `DoesNotExist` also match where there is no such label.',
      { default: 'required', example: 'operator: In' },
    ),
    values: Type.Optional(
      Type.Array(LabelValue, {
        maxItems: 256,
        description: 'At least one for `In` and `NotIn`, none for the others.',
        doc: { expected: 'a list of label values', default: 'none', example: 'values: [shop, bank]' },
      }),
    ),
  },
  { additionalProperties: false, doc: { expected: 'a mapping with key, operator and values' } },
)

type Selector = TObject<{
  matchLabels: TOptional<Labels>
  matchExpressions: TOptional<TArray<typeof LabelRequirement>>
}>

export const selector = (description: string, example: string): Selector =>
  Type.Object(
    {
      matchLabels: Type.Optional(
        labels('Labels that have to be there with these very values.', {
          default: 'none',
          example: 'matchLabels: { team: shop }',
        }),
      ),
      matchExpressions: Type.Optional(
        Type.Array(LabelRequirement, {
          maxItems: 64,
          description: 'Further requirements; all of them have to hold.',
          doc: {
            expected: 'a list of requirements',
            default: 'none',
            example: 'matchExpressions: [{ key: team, operator: In, values: [shop, bank] }]',
          },
        }),
      ),
    },
    { additionalProperties: false, description, doc: { ...selectorDoc, default: 'none', example } },
  )

export const globs = (
  pattern: string,
  expected: string,
  description: string,
  example: string,
): TArray<TString> =>
  Type.Array(Type.String({ maxLength: 253, pattern, doc: { expected } }), {
    minItems: 1,
    maxItems: 1024,
    uniqueItems: true,
    description,
    doc: { expected: 'a list of names', default: 'all', example },
  })

export const path = (description: string, doc: Omit<KeyDoc, 'expected'>): TString =>
  Type.String({
    pattern: pathPattern,
    description,
    doc: { expected: 'an absolute path', type: 'path', ...doc },
  })

export const paths = (description: string, doc: Omit<KeyDoc, 'expected'>): TArray<TString> =>
  Type.Array(Type.String({ pattern: pathPattern, doc: { expected: 'an absolute path' } }), {
    maxItems: 64,
    uniqueItems: true,
    description,
    doc: { expected: 'a list of absolute paths', type: 'list of paths', ...doc },
  })

export type AnnotationDialect = (typeof annotationDialects)[number]
