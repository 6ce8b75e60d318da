import { isSupportedVersion } from '../../../../shared/cni/versions.ts'
import { valueOf } from '../json/json-node.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'
import { usedPrograms } from '../used-programs.ts'

export const cniVersionUnsupported: LintRule = {
  id: 'cni-version-unsupported',
  severity: 'error',
  summary:
    'A `cniVersion` that an installed plugin of the file does not support, by its own answer to VERSION. Its ADD fails.',
  *check(site) {
    for (const { type, document, network } of usedPrograms(site)) {
      const node = valueOf(network.root, 'cniVersion')
      const seen = site.input.plugins?.seen?.get(type)
      const { cniVersion } = network
      if (!node || !isSupportedVersion(cniVersion) || seen?.kind !== 'executable') continue
      if (!seen.versions || seen.versions.includes(cniVersion)) continue
      const newest = seen.versions.at(-1)
      yield {
        at: spotOf(document, node),
        message: `${seen.path} does not support CNI ${cniVersion}; it supports ${seen.versions.join(', ')}`,
        remedy:
          newest === undefined
            ? 'install another version of the plugin'
            : `install a newer plugin, or write "cniVersion": "${newest}"`,
      }
    }
  },
}
