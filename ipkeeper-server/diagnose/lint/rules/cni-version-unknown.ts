import { isSupportedVersion, supportedVersions } from '../../../../shared/cni/versions.ts'
import { valueOf } from '../json/json-node.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'

export const cniVersionUnknown: LintRule = {
  id: 'cni-version-unknown',
  severity: 'error',
  summary:
    'A `cniVersion` that the specification does not have, such as `1.0` or `v1.0.0`. Plugins compare letter by letter.',
  *check({ networks }) {
    for (const { document, root, cniVersion } of networks) {
      const node = valueOf(root, 'cniVersion')
      if (!node || cniVersion === '' || isSupportedVersion(cniVersion)) continue
      const bare = cniVersion.replace(/^v/, '')
      const near = supportedVersions.find(version => version === bare || version.startsWith(`${bare}.`))
      yield {
        at: spotOf(document, node),
        message: `${JSON.stringify(cniVersion)} is no version of CNI${near === undefined ? '' : `; did you mean "${near}"?`}`,
        remedy: `write one of ${supportedVersions.join(', ')}`,
      }
    }
  },
}
