import { Type, type TEnum, type TString } from 'typebox'
import { objectSchema } from './layout-version.ts'

/** A rule in CEL that the API server keeps (Kubernetes documentation, "Validation rules"). */
export interface CelRule {
  readonly rule: string
  readonly message: string
}

/** The keyword of a schema that holds a rule. */
export function rule(
  expression: string,
  message: string,
): { readonly 'x-kubernetes-validations': CelRule[] } {
  return { 'x-kubernetes-validations': [{ rule: expression, message }] }
}

// Without a limit, the API server takes texts for so long that no rule over them is cheap enough.
export const text = (maxLength: number, description: string): TString =>
  Type.String({ maxLength, description })

export const words = <T extends string[]>(list: readonly [...T], description: string): TEnum<T> =>
  Type.Enum(list, { description })

/** Which form of the records an object has: see objectSchema. */
export const objectSchemaVersion = Type.Integer({
  minimum: 1,
  default: objectSchema,
  description: 'Version of the form of this object. Daemons leave alone what is newer than they know.',
})

export const generation = Type.Integer({
  minimum: 1,
  description: 'Grows by one with each change that ipkeeper makes.',
})

export const moment = (description: string): TString =>
  Type.String({ format: 'date-time', maxLength: 32, description })

export const objectRetention = (description: string): TString =>
  Type.String({
    pattern: '^(release|while-owner-exists|forever|[1-9][0-9]{0,15}(ms|s|m|h|d))$',
    description,
  })

export const segmentName = (description: string, rest: object = {}): TString =>
  Type.String({ pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$', maxLength: 63, description, ...rest })

/** An address has one text. */
export const canonicalAddress = (description: string): TString =>
  Type.String({
    maxLength: 39,
    description,
    ...rule('isIP(self) && ip.isCanonical(self)', 'must be an IP address in canonical form'),
  })

/** As API conventions have them ("Typical status properties"). */
export const conditions = Type.Array(
  Type.Object({
    type: text(316, 'What it is about.'),
    status: words(['True', 'False', 'Unknown'], 'Whether it holds.'),
    observedGeneration: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Of the object that it is about.' }),
    ),
    lastTransitionTime: moment('When it last changed.'),
    reason: text(1024, 'One word, for programs.'),
    message: text(32_768, 'For people.'),
  }),
  {
    maxItems: 16,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
    description: 'What is to be said of it.',
  },
)
