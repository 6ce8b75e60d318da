import {
  isSupportedVersion,
  meantVersion,
  supportedVersions,
  verbSince,
  type Verb,
} from '../../../../shared/cni/versions.ts'
import { valueOf } from '../json/json-node.ts'
import type { LintRule } from '../lint-rule.ts'
import { spotOf } from '../site.ts'
import { usedPrograms } from '../used-programs.ts'

export const cniVersionUnknown: LintRule = {
  id: 'cni-version-unknown',
  severity: 'error',
  summary:
    'A `cniVersion` that the specification does not have, such as `1.0` or `v1.0.0`. Plugins compare letter by letter.',
  *check({ networks }) {
    for (const { document, root, cniVersion } of networks) {
      const node = valueOf(root, 'cniVersion')
      if (!node || cniVersion === '' || isSupportedVersion(cniVersion)) continue
      const near = meantVersion(cniVersion)
      yield {
        at: spotOf(document, node),
        message: `${JSON.stringify(cniVersion)} is not a version of CNI${near === undefined ? '' : `; did you mean "${near}"?`}`,
        remedy: near === undefined ? `write one of ${supportedVersions.join(', ')}` : `write "${near}"`,
      }
    }
  },
}

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

const old = new Set(['0.1.0', '0.2.0', '0.3.0', '0.3.1'])

export const cniVersionOld: LintRule = {
  id: 'cni-version-old',
  severity: 'note',
  summary:
    'A `cniVersion` before 0.4.0. Its price: no CHECK, GC and STATUS, and no prevResult at DEL. Its gain: a damaged file in `/var/lib/cni/results` cannot keep a pod Terminating, as no runtime reads it then.',
  *check({ networks }) {
    const verbs = (Object.keys(verbSince) as Verb[]).join(', ')
    for (const { document, root, cniVersion } of networks) {
      const node = valueOf(root, 'cniVersion')
      if (!node || !old.has(cniVersion)) continue
      yield {
        at: spotOf(document, node),
        message: `CNI ${cniVersion} has no ${verbs}, and a DEL gets no prevResult; in return, no damaged result cache can stop it`,
        remedy: 'keep it if the runtime is containerd 1.7 or older; else write "cniVersion": "1.0.0"',
      }
    }
  },
}
