import { SocketRuntimes } from '../../runtime/socket-runtimes.ts'
import type { NodeKnowledge } from './plan/findings.ts'
import { readCachedResult, type CachedAttachment } from '../../result-cache/plan/read-cached-result.ts'
import { filesIn } from './host-local.ts'

/** What runtimes of this node keep and list of their containers. Only reads. */
export async function probeRuntimes(
  resultFolders: readonly string[],
  sockets: readonly string[] | undefined,
  onProgress: (looked: number) => void,
): Promise<NodeKnowledge> {
  const cached: CachedAttachment[] = []
  let looked = 0
  for (const folder of resultFolders) {
    for await (const { text } of filesIn(folder, name => !name.startsWith('.'))) {
      const entry = text === null ? undefined : readCachedResult(text)
      if (entry) cached.push(entry)
      if (++looked % 256 === 0) onProgress(looked)
    }
  }
  const runtimes = new SocketRuntimes(sockets)
  try {
    return { cached, runtimes: await runtimes.list() }
  } finally {
    runtimes.close()
  }
}
