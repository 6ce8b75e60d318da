import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { resultCacheFolders } from '../../../shared/paths.ts'
import type { CacheReply } from '../../../shared/api/cache.schema.ts'
import { codeOf, fail, ok, skip, warn, type Check } from '../check.ts'
import type { NodeView } from '../node-view.ts'

const mostFiles = 20_000
const mostBytes = 4 * 1024 * 1024

/** Why a file of the cache cannot be used; undefined when it can, or is gone again. */
function faultOf(path: string): string | undefined {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stats = fstatSync(file)
    if (!stats.isFile()) return undefined
    // A file that is being written is empty for a moment.
    if (Date.now() - stats.mtimeMs < 5000) return undefined
    if (stats.size === 0) return 'has no bytes'
    if (stats.size > mostBytes) return 'is too large'
    JSON.parse(readFileSync(file, 'utf8'))
    return undefined
  } catch (error) {
    if (error instanceof SyntaxError) return 'is no JSON'
    return codeOf(error) === 'ENOENT' ? undefined : `cannot be read (${codeOf(error)})`
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** What the daemon knows beyond the form of a file: whose sandbox is gone, or of an earlier boot. */
async function reportedBy(node: NodeView): Promise<CacheReply['files']> {
  if (!(await node.status())) return []
  try {
    return ((await node.ask('/v1/cache')) as CacheReply).files
  } catch {
    // An older daemon, or one that does not look.
    return []
  }
}

export const resultCacheCheck: Check = {
  id: 'result-cache',
  title: 'remembered results can be read',
  why: 'containerd before 2.0 cannot delete a pod whose remembered result is empty or broken: it stays Terminating for ever.',
  run: async node => {
    const folders = [
      ...resultCacheFolders.results,
      ...resultCacheFolders.flannel,
      ...resultCacheFolders.multus,
    ]
    let looked = 0
    const bad: string[] = []
    for (const folder of folders) {
      let names: string[]
      try {
        names = readdirSync(folder)
      } catch (error) {
        if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) continue
        return skip(`${folder} cannot be read (${codeOf(error)})`)
      }
      for (const name of names.slice(0, mostFiles)) {
        looked++
        const fault = faultOf(join(folder, name))
        if (fault !== undefined) bad.push(`${join(folder, name)} ${fault}`)
      }
    }
    if (bad.length > 0)
      return fail(
        `${bad.length} of ${looked} files: ${bad.slice(0, 3).join('; ')}${bad.length > 3 ? '; …' : ''}`,
        ...['ipkeeperctl', 'cache', 'scan'],
      )
    const reported = await reportedBy(node)
    const [first] = reported
    if (first)
      return warn(
        `the daemon reports ${reported.length}: ${first.path} (${first.reason})`,
        ...['ipkeeperctl', 'cache', 'scan'],
      )
    return ok(`${looked} files`)
  },
}
