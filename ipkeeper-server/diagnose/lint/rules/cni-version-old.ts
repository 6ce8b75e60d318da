import { verbSince, type Verb } from '../../../../shared/cni/versions.ts'
import { valueOf } from '../json/json-node.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'

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
        message: `CNI ${cniVersion} has no ${verbs}, and a DEL gets no prevResult; on the other hand no damaged result cache can stop it`,
        remedy: 'keep it if the runtime is containerd 1.7 or older; else write "cniVersion": "1.0.0"',
      }
    }
  },
}
