import type { LintRule } from '../lint-rule.ts'
import { renameLine } from '../rename-line.ts'
import { isOfOurs, runtimeChoice } from '../runtime-choice.ts'
import { isCopyOfConfig } from '../runtime-files.ts'
import { topOf } from '../site.ts'

export const brokenFileFirst: LintRule = {
  id: 'broken-file-first',
  severity: 'error',
  summary:
    'A file that libcni refuses and that containerd takes, as it comes first by name. The node becomes NotReady ("cni plugin not initialized"), and pods cannot even be deleted. CRI-O skips such a file.',
  *check(site) {
    const choice = runtimeChoice(site)
    if (!choice?.breaking) return
    const { candidates, taken, breaking } = choice
    const good = candidates.find(({ refusal }) => refusal === undefined)
    const instead = good && !taken.includes(good) ? `; ${good.name} after it is good, and is ignored` : ''
    yield {
      at: topOf(breaking),
      message: `containerd takes this file first and cannot load it (${breaking.refusal ?? ''}): no pod can be started or deleted${instead}`,
      remedy: good
        ? `correct it, or move it aside: ${renameLine(breaking, `${breaking.name}.off`)}`
        : 'correct it; there is no other file',
    }
  },
}

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
        remedy: `if you want this one, move the other aside: ${renameLine(first, `${first.name}.off`)}`,
        ...(ours && { severity: 'warning' }),
      }
    }
  },
}

export const hiddenFile: LintRule = {
  id: 'hidden-file',
  severity: 'warning',
  summary:
    'A name that begins with a dot. Runtimes read such files, before all others; `ls` does not show them.',
  *check(site) {
    for (const file of runtimeChoice(site)?.candidates ?? []) {
      if (!file.name.startsWith('.')) continue
      yield {
        at: topOf(file),
        message: `runtimes read ${file.name} although it is hidden, and before all other files`,
        remedy: `move it aside, or give it a plain name: ${renameLine(file, file.name.replace(/^\.+/, ''))}`,
      }
    }
  },
}

export const ignoredFile: LintRule = {
  id: 'ignored-file',
  severity: 'note',
  summary: 'A backup copy, such as `x.conflist.bak` or `x.conflist~`. No runtime reads it.',
  *check({ files, input }) {
    if (!input.directory) return
    for (const file of files) {
      if (!isCopyOfConfig(file.name)) continue
      yield {
        at: topOf(file),
        message: 'no runtime reads a file of this name',
        remedy: 'remove it once it is no longer needed',
      }
    }
  },
}
