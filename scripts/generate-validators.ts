/**
 * Writes plugin/validators.generated.ts: the schemas of the daemon's replies as plain code, so that the plugin checks
 * a reply without loading typebox or ajv.
 *
 *   node scripts/generate-validators.ts
 */
import { Ajv } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'
import { AddReply, AddResult, DoneReply, ErrorReply } from '../shared/api/cni.schema.ts'
import { writeGenerated, type GeneratedFile } from './write-generated.ts'

const replies = { AddReply, AddResult, DoneReply, ErrorReply }

const preamble = `// @ts-nocheck
// Made by scripts/generate-validators.ts from shared/api/cni.schema.ts; change that, then: make generate

import type { AddReply, AddResult, DoneReply, ErrorReply } from '../shared/api/cni.schema.ts'

/** Checks a value against a schema; \`errors\` says what was wrong with the last one. */
export interface Validator<T> {
  (value: unknown): value is T
  readonly errors?: readonly { readonly instancePath: string; readonly message?: string }[] | null
}
`

/** The text of the file. Throws when the code would need ajv at run time. */
function generate(): string {
  const ajv = new Ajv({
    // Length in UTF-16 units: the schemas only ask whether texts are empty, and counting characters needs a module.
    unicode: false,
    // ajv warns about that option on every run.
    logger: false,
    code: { source: true, esm: true, lines: true },
  })
  // typebox marks its schemas with symbols that are none of ajv's business.
  for (const [name, schema] of Object.entries(replies))
    ajv.addSchema(JSON.parse(JSON.stringify(schema)) as object, name)
  const names = Object.keys(replies)
  const code = standalone.default(ajv, Object.fromEntries(names.map(name => [`check${name}`, name])))
  if (/\brequire\(|^import /m.test(code)) throw new Error('the validators are not self-contained')
  const exports = names.map(
    name => `export const validate${name} = check${name} as unknown as Validator<${name}>`,
  )
  const functions = code.replace(/^"use strict";/, '').replace(/^export const /gm, 'const ')
  return `${preamble}\n${functions.trim()}\n\n${exports.join('\n')}\n`
}

export const validators: GeneratedFile = { path: 'plugin/validators.generated.ts', generate }

if (import.meta.main) await writeGenerated(validators)
