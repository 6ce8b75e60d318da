import type { LintRule } from '../rule.ts'
import { runtimeChoice } from '../runtime-choice.ts'
import { topOf } from '../site.ts'

export const brokenFileFirst: LintRule = {
  id: 'broken-file-first',
  severity: 'error',
  summary:
    'A file that libcni refuses and that containerd takes, as it comes first by name. The node becomes NotReady ("cni plugin not initialized"), and pods cannot even be deleted. CRI-O passes such a file over.',
  *check(site) {
    const choice = runtimeChoice(site)
    if (!choice?.breaking) return
    const { candidates, taken, breaking } = choice
    const good = candidates.find(({ refusal }) => refusal === undefined)
    const instead =
      good && !taken.includes(good) ? `; ${good.name} behind it is good, and is not looked at` : ''
    yield {
      at: topOf(breaking),
      message: `containerd takes this file first and cannot load it (${breaking.refusal ?? ''}): no pod can be started or deleted${instead}`,
      remedy: good
        ? `correct it, or move it away: mv ${breaking.name} ${breaking.name}.off`
        : 'correct it; there is no other file',
    }
  },
}
