import { dirname } from 'node:path'
import { Problem } from '../../shared/problem/problem.ts'

/** How long somebody waits for a look at a file, and how many may be under way. */
export interface LookTerms {
  /** Milliseconds. */
  readonly patience: number
  readonly most: number
}

interface Look {
  readonly path: string
  readonly result: Promise<unknown>
  /** It was waited for in vain, and goes on. */
  hangs: boolean
}

/**
 * Looks at paths that a request names. They are made in the thread pool, which has four threads: a call to a file system
 * that hangs (NFS, FUSE, one that is frozen) cannot be taken back, and keeps its thread until the file system goes on. So few
 * are under way at a time, nobody waits long for one, and what hangs is not tried a second time meanwhile.
 */
export class BoundedLooks {
  readonly #terms: LookTerms
  readonly #underWay = new Map<string, Look>()
  #waiting: (() => void)[] = []

  constructor(terms: LookTerms) {
    this.#terms = terms
  }

  /**
   * What `look` resolves to; those who want the same at the same time share it.
   *
   * @param kind tells looks at one path apart
   * @throws IPK_FILE_HANGS when it does not end in time; what `look` rejects with
   */
  async run<T>(kind: string, path: string, look: () => Promise<T>): Promise<T> {
    if (this.isHanging(path)) throw hangs(path, 'still')
    const { patience, most } = this.#terms
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>(resolve => {
      timer = setTimeout(() => {
        resolve('late')
      }, patience)
    })
    const id = `${kind} ${path}`
    try {
      let going = this.#underWay.get(id)
      while (!going && this.#underWay.size >= most) {
        const free = new Promise<void>(resolve => this.#waiting.push(resolve))
        if ((await Promise.race([free, late])) === 'late') throw busy(path)
        going = this.#underWay.get(id)
      }
      going ??= this.#begin(id, path, look)
      const ended = await Promise.race([going.result.then(value => ({ value })), late])
      if (ended !== 'late') return ended.value as T
      going.hangs = true
      throw hangs(path, `for ${patience / 1000} s`)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Whether a look at the path, or at anything in its folder, does not end. */
  isHanging(path: string): boolean {
    for (const look of this.#underWay.values())
      if (look.hangs && dirname(look.path) === dirname(path)) return true
    return false
  }

  #begin(id: string, path: string, look: () => Promise<unknown>): Look {
    const result = look()
    const going: Look = { path, result, hangs: false }
    this.#underWay.set(id, going)
    const end = (): void => {
      this.#underWay.delete(id)
      const waiting = this.#waiting
      this.#waiting = []
      for (const go of waiting) go()
    }
    result.then(end, end)
    return going
  }
}

function hangs(path: string, howLong: string): Problem {
  return new Problem('IPK_FILE_HANGS', `${path} does not answer (${howLong}): its file system hangs`)
}

function busy(path: string): Problem {
  return new Problem('IPK_FILE_HANGS', `${path} is not looked at: too many files on this node do not answer`)
}

/** Of this process, as its thread pool is. */
export const boundedLooks = new BoundedLooks({ patience: 3_000, most: 2 })
