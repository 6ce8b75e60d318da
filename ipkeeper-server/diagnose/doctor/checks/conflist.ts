import type { LintFinding } from '../../../../shared/api/lint.schema.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import type { Linted } from '../../lint/lint.ts'
import { brokenFileFirst } from '../../lint/rules/file-choice.ts'
import { fail, ok, warn, type Check } from '../check.ts'
import { describeFinding, lintNetworks } from '../lint-networks.ts'
import { oursIn } from '../our-plugin.ts'

/** That a broken file stops containerd is what the check is about; where it is broken tells more. */
const causesFirst = (a: LintFinding, b: LintFinding): number =>
  Number(a.rule === brokenFileFirst.id) - Number(b.rule === brokenFileFirst.id)

export const conflistCheck: Check = {
  id: 'conflist',
  title: 'the network configurations can be read',
  why: 'containerd takes the first file of the folder: if that is broken, whoever wrote it, the node has no network, and pods cannot be deleted either.',
  run: async node => {
    const list = ['ls', '-la', node.confDir]
    let linted: Linted
    try {
      linted = await lintNetworks(node)
    } catch (error) {
      if (error instanceof Problem) return fail(error.message, ...list)
      throw error
    }
    for (const [severity, outcome] of [
      ['error', fail],
      ['warning', warn],
    ] as const) {
      const [first, ...more] = linted.findings
        .filter(finding => finding.severity === severity)
        .toSorted(causesFirst)
      if (!first) continue
      const others = more.length === 0 ? '' : ` (and ${more.length} more)`
      return outcome(`${describeFinding(first)}${others}`, 'ipkeeperctl', 'lint', first.file)
    }
    const chosen = linted.files.find(file => file.chosen === true)
    if (!chosen) return fail(`${node.confDir} has no network configuration`, ...list)
    const ours = node.networks.filter(network => oursIn(network))
    const [first] = ours
    if (!first) return warn(`nothing in ${node.confDir} uses ipkeeper`, 'ipkeeperctl', 'lint', node.confDir)
    if (ours.every(({ path }) => path !== chosen.file))
      return warn(
        `${chosen.file} comes before ${first.path}: containerd takes that one`,
        ...['ipkeeperctl', 'lint', node.confDir],
      )
    return ok(`${chosen.file} (network ${chosen.network ?? '-'})`)
  },
}
