import { Type, type Static } from 'typebox'

/** What the linter of network configurations says, on the wire and of `ipkeeperctl lint -o json`. */

/** Lines and columns count from 1, columns in characters; the end is the place behind the last character. */
const place = {
  line: Type.Integer({ minimum: 1 }),
  column: Type.Integer({ minimum: 1 }),
  endLine: Type.Integer({ minimum: 1 }),
  endColumn: Type.Integer({ minimum: 1 }),
}

export const LintFix = Type.Object(
  {
    title: Type.String({ description: 'what it does' }),
    edits: Type.Array(
      Type.Object({ ...place, text: Type.String({ description: 'in the place of what is there' }) }),
    ),
  },
  { $id: 'LintFix' },
)
export type LintFix = Static<typeof LintFix>

export const LintFinding = Type.Object(
  {
    file: Type.String(),
    ...place,
    severity: Type.Union([Type.Literal('error'), Type.Literal('warning'), Type.Literal('note')]),
    rule: Type.String(),
    message: Type.String(),
    remedy: Type.String({ description: 'what to do' }),
    fix: Type.Union([LintFix, Type.Null()], { description: 'what `ipkeeperctl lint --fix` would do' }),
  },
  { $id: 'LintFinding' },
)
export type LintFinding = Static<typeof LintFinding>

export const LintFile = Type.Object(
  {
    file: Type.String(),
    network: Type.Union([Type.String(), Type.Null()], { description: 'its name, where it is known' }),
    chosen: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'whether the runtime loads it; null where it does not stand in the folder of a runtime',
    }),
    why: Type.String(),
  },
  { $id: 'LintFile' },
)
export type LintFile = Static<typeof LintFile>

export const LintReply = Type.Object(
  { findings: Type.Array(LintFinding), files: Type.Array(LintFile) },
  { $id: 'LintReply' },
)
export type LintReply = Static<typeof LintReply>
