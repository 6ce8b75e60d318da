import type { Verb } from '../shared/cni/versions.ts'
import type { Call, Outcome, PluginEdges } from './call.ts'
import { add } from './verbs/add.ts'
import { check } from './verbs/check.ts'
import { del } from './verbs/del.ts'
import { gc } from './verbs/gc.ts'
import { status } from './verbs/status.ts'
import { version } from './verbs/version.ts'

/** A verb that works on a configuration from stdin, or one that does not need one. */
export type VerbRow =
  | {
      readonly needsConfig: true
      /** Milliseconds in which stdin has to end; the configured timeout is not known before that. */
      readonly stdinMs: number
      readonly run: (call: Call) => Promise<Outcome>
    }
  | { readonly needsConfig: false; readonly run: (edges: PluginEdges) => Promise<Outcome> }

export const verbTable: Readonly<Record<Verb, VerbRow>> = {
  ADD: { needsConfig: true, stdinMs: 60_000, run: add },
  CHECK: { needsConfig: true, stdinMs: 10_000, run: check },
  DEL: { needsConfig: true, stdinMs: 10_000, run: del },
  GC: { needsConfig: true, stdinMs: 15_000, run: gc },
  STATUS: { needsConfig: true, stdinMs: 2_000, run: status },
  VERSION: { needsConfig: false, run: version },
}
