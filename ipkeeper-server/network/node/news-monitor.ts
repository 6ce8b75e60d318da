import type { KernelNews } from '../plan/node-links.ts'

export interface NewsListener {
  readonly onNews: (news: KernelNews) => void
  /** It has ended, and why; told once. */
  readonly onEnd: (why: string) => void
}

/** Tells what the kernel tells of the node's links and their addresses. It costs nothing while there are no news. */
export interface NewsMonitor {
  end(why?: string): void
  /** Whether it hears of everything that happens from now on. When it does not, it is ended. */
  listens(): boolean | Promise<boolean>
  /** True once all has been told that happened before the call; false when that cannot be known. */
  hasToldAll(): boolean | Promise<boolean>
}
