import { misspeltWord, nearestWord } from '../../../../shared/text/nearest-word.ts'
import { allNodes, valueOf } from '../json/json-node.ts'
import { keyedObjects } from '../keyed-objects.ts'
import { knownCapabilities } from '../plugin-keys.ts'
import type { LintRule } from '../lint-rule.ts'
import { spotOf } from '../site.ts'

/** Of one object; a guess looks at every known key. */
const mostGuesses = 50

const folded = (key: string): string => key.toLowerCase()

export const unknownKey: LintRule = {
  id: 'unknown-key',
  severity: 'warning',
  summary:
    'A key that the list, ipkeeper or a reference plugin does not know. It has no effect; mostly it is misspelt. An error where it is one typing mistake away from a key of ipkeeper, which then refuses the configuration.',
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
          message: `${JSON.stringify(key)} is not a key ${whose}${meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`}`,
          remedy:
            meant === undefined
              ? 'remove it; it has no effect'
              : `write ${JSON.stringify(meant)}, or remove it`,
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
          message: `${JSON.stringify(key)} is not a capability of any runtime; did you mean ${JSON.stringify(meant)}?`,
          remedy: `write ${JSON.stringify(meant)}`,
        }
      }
    }
  },
}

/** Runtimes may have capabilities of their own; only what is very near to a known one is a typing mistake. Case counts here. */
function misspeltCapability(key: string): string | undefined {
  if (knownCapabilities.includes(key)) return undefined
  return (
    knownCapabilities.find(known => folded(known) === folded(key)) ?? misspeltWord(key, knownCapabilities)
  )
}

export const keyCase: LintRule = {
  id: 'key-case',
  severity: 'warning',
  summary:
    'A key in the wrong case. Plugins in Go ignore case, others may not; libcni itself looks the keys of a list up letter for letter, so there it is an error.',
  *check(site) {
    for (const { document, node, keys, spelling } of keyedObjects(site)) {
      const right = new Map(keys.map(key => [key.toLowerCase(), key]))
      for (const { key, keySpan } of node.members) {
        const meant = right.get(key.toLowerCase())
        if (meant === undefined || meant === key) continue
        const exact = spelling === 'exact'
        yield {
          at: spotOf(document, keySpan),
          message: exact
            ? `${JSON.stringify(key)}: libcni knows only ${JSON.stringify(meant)}`
            : `${JSON.stringify(key)} is ${JSON.stringify(meant)} in another case, which not every program accepts`,
          remedy: `write ${JSON.stringify(meant)}`,
          ...(exact && { severity: 'error' }),
        }
      }
    }
  },
}

export const duplicateKey: LintRule = {
  id: 'duplicate-key',
  severity: 'warning',
  summary:
    'A key that comes twice in one object. Programs take the last; people read the first. Go ignores case.',
  *check({ files }) {
    for (const document of files.flatMap(({ documents }) => documents)) {
      if (!document.root) continue
      for (const { members } of allNodes(document.root)) {
        const seen = new Map<string, number>()
        for (const { key, keySpan } of members) {
          const first = seen.get(key.toLowerCase())
          if (first === undefined) seen.set(key.toLowerCase(), keySpan.start)
          else {
            const { line } = document.file.lines.placeOf(document.view.inFile(first))
            const message = `the key ${JSON.stringify(key)} is already on line ${line}; the last one counts`
            yield { at: spotOf(document, keySpan), message, remedy: 'remove one of the two' }
          }
        }
      }
    }
  },
}
