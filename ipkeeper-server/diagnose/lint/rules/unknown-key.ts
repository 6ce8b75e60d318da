import { misspeltWord, nearestWord } from '../../../../shared/text/nearest-word.ts'
import { valueOf } from '../json/json-node.ts'
import { keyedObjects } from '../keyed-objects.ts'
import { knownCapabilities } from '../plugin-keys.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'

/** Of one object; a guess looks at every known key. */
const mostGuesses = 50

const folded = (key: string): string => key.toLowerCase()

export const unknownKey: LintRule = {
  id: 'unknown-key',
  severity: 'warning',
  summary:
    'A key that the list, ipkeeper or a reference plugin does not know. It has no effect; mostly it is misspelt. An error where it is a slip away from a key of ipkeeper, which then refuses the configuration.',
  *check(site) {
    for (const { document, node, whose, keys, spelling } of keyedObjects(site)) {
      const known = new Set(keys.map(folded))
      let guesses = mostGuesses
      for (const { key, keySpan } of node.members) {
        // Annotations of people: no program takes such a key for its own.
        if (known.has(folded(key)) || /^(?:_|\/\/|#|\$comment$)/.test(key)) continue
        const refused = guesses > 0 && spelling === 'ours' && misspeltWord(key, keys) !== undefined
        const meant = guesses-- > 0 ? (refused ? misspeltWord(key, keys) : nearestWord(key, keys)) : undefined
        yield {
          at: spotOf(document, keySpan),
          message: `${JSON.stringify(key)} is no key ${whose}${meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`}`,
          remedy:
            meant === undefined
              ? 'take it out; it has no effect'
              : `write ${JSON.stringify(meant)}, or take it out`,
          ...(refused && { severity: 'error' }),
        }
      }
    }
    for (const { node, network } of site.plugins) {
      for (const { key, keySpan } of valueOf(node, 'capabilities')?.members ?? []) {
        const meant = misspeltCapability(key)
        if (meant === undefined) continue
        yield {
          at: spotOf(network.document, keySpan),
          message: `${JSON.stringify(key)} is no capability that runtimes have; did you mean ${JSON.stringify(meant)}?`,
          remedy: `write ${JSON.stringify(meant)}`,
        }
      }
    }
  },
}

/** Runtimes may have capabilities of their own; only what is very near to a known one is a slip. Case counts here. */
function misspeltCapability(key: string): string | undefined {
  if (knownCapabilities.includes(key)) return undefined
  return (
    knownCapabilities.find(known => folded(known) === folded(key)) ?? misspeltWord(key, knownCapabilities)
  )
}
