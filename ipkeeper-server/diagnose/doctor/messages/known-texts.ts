import { conflist } from './conflist.ts'
import { forerunners } from './forerunners.ts'
import { hostLocal } from './host-local.ts'
import type { KnownText, TextGroup } from './text-group.ts'
import { ownCodes } from './own-codes.ts'
import { pluginOutput } from './plugin-output.ts'
import { resultCache } from './result-cache.ts'
import { sandboxes } from './sandboxes.ts'

/** Every text that is known, in the order of the page "It says X, what do I do". */
export const textGroups: readonly TextGroup[] = [
  pluginOutput,
  forerunners,
  conflist,
  resultCache,
  sandboxes,
  hostLocal,
  ownCodes,
]

export const knownTexts: readonly KnownText[] = textGroups.flatMap(group => group.texts)
