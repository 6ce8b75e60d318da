import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fail, ok, skip, type Check } from '../check.ts'
import { programsOf } from '../our-plugin.ts'

export const binDirCheck: Check = {
  id: 'bin-dir',
  title: 'every plugin that is named is installed',
  why: 'One plugin of a chain that is missing makes every ADD fail, and every DEL be tried for ever.',
  run: node => {
    const { binDirs } = node
    if (binDirs.length === 0) return skip('there is no folder of plugins; name it with --bin-dir DIR')
    // ipkeeper itself has a check of its own.
    const wanted = [...new Set(node.networks.flatMap(programsOf))].filter(name => name !== 'ipkeeper')
    const isThere = (name: string): boolean =>
      !name.includes('/') &&
      binDirs.some(folder => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true)
    const missing = wanted.filter(name => !isThere(name))
    if (missing.length > 0)
      return fail(`not in ${binDirs.join(', ')}: ${missing.join(', ')}`, 'ls', '-l', ...binDirs)
    return ok(wanted.length === 0 ? binDirs.join(', ') : `${wanted.join(', ')} in ${binDirs.join(', ')}`)
  },
}
