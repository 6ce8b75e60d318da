/** What a text names; every value has the shape that the pattern of its name in template.ts allows. */
export const captureNames = [
  'network',
  'containerId',
  'plugin',
  'path',
  'socket',
  'pod',
  'address',
  'ifname',
] as const
export type CaptureName = (typeof captureNames)[number]
export type Captures = Readonly<Partial<Record<CaptureName, string>>>

/** A command for a person to type, as an argument vector, and what it is for. */
export interface Advice {
  readonly argv: readonly string[]
  readonly does: string
}

/** A text that some program of a node prints when networks of pods go wrong. */
export interface KnownText {
  readonly id: string
  /** As they are printed, without what other programs put around them; the first is the one that the page shows. */
  readonly examples: readonly [string, ...string[]]
  /** See template.ts. White space does not matter: texts are wrapped on their way to a person. */
  readonly templates: readonly [string, ...string[]]
  /** Other programs say this around a text of their own; it counts only where nothing else is known. */
  readonly wrapping?: true
  /** One or two sentences: what happened. */
  readonly means: string
  /** How it comes to that. */
  readonly why: string
  /** Which versions print it, or are affected. */
  readonly affects: string
  /** What to type, the most likely remedy first. */
  readonly mend: (captures: Captures) => readonly Advice[]
  /** Where it was reported or explained. */
  readonly source: string
}

/** Rows of one group, in the order of the page. */
export interface TextGroup {
  readonly title: string
  readonly texts: readonly KnownText[]
}
