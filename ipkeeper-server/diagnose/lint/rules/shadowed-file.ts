import type { LintRule } from '../rule.ts'
import { isOfOurs, runtimeChoice } from '../runtime-choice.ts'
import { topOf } from '../site.ts'

export const shadowedFile: LintRule = {
  id: 'shadowed-file',
  severity: 'note',
  summary:
    'A file that the runtime does not take, as others come before it by name. A warning where ipkeeper is in it, and in none that is taken.',
  *check(site) {
    const choice = runtimeChoice(site)
    if (!choice || choice.breaking) return
    const { candidates, taken } = choice
    const [first] = taken
    for (const file of candidates) {
      if (taken.includes(file) || !first) continue
      const names = taken.map(({ name }) => name).join(', ')
      const ours = isOfOurs(file) && !taken.some(isOfOurs)
      yield {
        at: topOf(file),
        message: `the runtime does not take this file: ${names} ${taken.length === 1 ? 'comes' : 'come'} first by name`,
        remedy: `if this one is meant, move the other away: mv ${first.name} ${first.name}.off`,
        ...(ours && { severity: 'warning' }),
      }
    }
  },
}
