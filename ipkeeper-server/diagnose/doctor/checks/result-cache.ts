import type { CacheReply } from '../../../../shared/api/cache.schema.ts'
import { cacheReasons } from '../../../../shared/cache-reasons.ts'
import { resultCacheFolders } from '../../../../shared/paths.ts'
import { foldersOf, type CacheFolder } from '../../../result-cache/list-cache-files.ts'
import { CacheScanner, type BadFile } from '../../../result-cache/scan-cache.ts'
import { fail, ok, warn, type Check } from '../check.ts'
import type { NodeView } from '../node-view.ts'

/** Of the daemon; undefined where there is none, an older one, or one that does not look. */
async function askDaemon(node: NodeView): Promise<CacheReply | undefined> {
  if (!(await node.status())) return undefined
  return (await node.ask('/v1/cache').catch(() => undefined)) as CacheReply | undefined
}

/** What can be told of the files by themselves; whose sandbox is gone, the daemon knows. */
async function scan(folders: readonly CacheFolder[]): Promise<{ bad: readonly BadFile[]; looked: number }> {
  const scanner = new CacheScanner({ folders, monotonic: () => performance.now() })
  const { bad, looked } = await scanner.scan({
    ...{ attachments: new Map(), containers: new Set(), recordsKnown: false, sandboxes: undefined },
    ...{ isOwnNetwork: () => false, networks: new Set() },
    // Without the runtimes, the age of a file proves nothing.
    ...{ bootedAt: 0, now: Date.now(), orphanAge: Infinity },
  })
  return { bad, looked }
}

const mend = ['ipkeeperctl', 'cache', 'scan']

const say = (count: string, files: readonly string[]): string =>
  `${count}: ${files.slice(0, 3).join('; ')}${files.length > 3 ? '; …' : ''}`

export const resultCacheCheck: Check = {
  id: 'result-cache',
  title: 'remembered results can be read',
  why: 'containerd before 2.0 cannot delete a pod whose remembered result is empty or broken: it stays Terminating for ever.',
  run: async node => {
    const told = await askDaemon(node)
    const { bad, looked } = await scan(told?.folders ?? foldersOf(resultCacheFolders))
    const broken = bad.filter(({ reason }) => cacheReasons[reason].fault === 'broken')
    const files = broken.map(({ path, detail }) => `${path.toString()} ${detail}`)
    if (files.length > 0) return fail(say(`${files.length} of ${looked} files`, files), ...mend)
    const odd = bad.map(({ path, detail }) => `${path.toString()} ${detail}`)
    if (odd.length > 0) return warn(say(`${odd.length} of ${looked} files`, odd), ...mend)
    const reported = told?.files.map(({ path, reason }) => `${path} (${reason})`) ?? []
    if (reported.length > 0) return warn(say(`the daemon reports ${reported.length}`, reported), ...mend)
    return ok(`${looked} files`)
  },
}
