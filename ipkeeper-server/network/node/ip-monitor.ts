import { closeSync, openSync, readSync, realpathSync } from 'node:fs'
import { readdir, readlink } from 'node:fs/promises'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { systemFolders } from '../../host/find-program.ts'
import { followProgram, type FollowedProgram } from '../../host/run-program.ts'
import { readNewsLine } from '../plan/node-links.ts'
import { findTool, mustFind } from '../run-tool.ts'
import type { NewsListener, NewsMonitor } from './news-monitor.ts'

/** With it a monitor goes with a daemon that is killed; without it the monitor waits for the next news. */
function findSetpriv(): string | undefined {
  const path = findTool('setpriv')
  // That of BusyBox has no such option.
  return path === undefined || realpathSync(path).endsWith('/busybox') ? undefined : path
}

/** Milliseconds in which it has to have begun to listen; it takes about two. */
const listensWithin = 2_000
const lookEvery = 2

/** Milliseconds in which it has to have told what the kernel has told it; it takes a part of one. */
const tellsWithin = 200

/** The kernel's table of netlink sockets: which column is what. */
const columns = { groups: 3, unread: 4, inode: 9 } as const

/**
 * News of the kernel, as `ip monitor` tells them: where this process cannot listen by itself. It waits in the kernel until there are any, so
 * it costs nothing; and the kernel hands them to it before the program that caused them goes on, so it can be seen whether all have been told.
 */
export class IpMonitor implements NewsMonitor {
  readonly #program: FollowedProgram
  readonly #sockets = openSync('/proc/self/net/netlink', 'r')
  #state: number | undefined
  #inode: string | undefined
  #buffer = Buffer.alloc(16 * 1024)
  #why = ''
  #over = false
  #asked: Promise<boolean> | undefined

  /** Starts it. Throws IPK_TOOL_MISSING. */
  constructor({ onNews, onEnd }: NewsListener) {
    const ip = mustFind('ip')
    const words = ['-oneline', 'monitor', 'link', 'address']
    const setpriv = findSetpriv()
    const [path, args] =
      setpriv === undefined ? [ip, words] : [setpriv, ['--pdeathsig', 'KILL', '--', ip, ...words]]
    this.#program = followProgram(
      { path, args, env: { LC_ALL: 'C', PATH: systemFolders.join(':') } },
      {
        onLine: line => {
          const news = readNewsLine(line)
          if (news) onNews(news)
        },
        // After its buffer has run over it goes on, and nobody knows what it has missed.
        onComplaint: text => {
          this.end(text.trim())
        },
      },
    )
    void this.#program.ended.then(() => {
      this.#over = true
      for (const file of [this.#sockets, this.#state]) if (file !== undefined) closeSync(file)
      onEnd(this.#why || 'ip monitor ended')
    })
  }

  end(why = ''): void {
    this.#why ||= why
    this.#program.end()
  }

  async listens(): Promise<boolean> {
    const { pid } = this.#program
    const until = performance.now() + listensWithin
    while (!this.#over && pid !== undefined && performance.now() < until) {
      this.#inode = await this.#findSocket(pid)
      if (this.#inode !== undefined) {
        this.#state = openSync(`/proc/${pid}/stat`, 'r')
        return true
      }
      await delay(lookEvery)
    }
    this.end('ip monitor does not listen')
    return false
  }

  /** False as well when the program is stopped. Those who ask at once share one look. */
  async hasToldAll(): Promise<boolean> {
    this.#asked ??= this.#lookUntilTold()
    return await this.#asked
  }

  async #lookUntilTold(): Promise<boolean> {
    await nextTurn()
    // From here on what happens may be seen or not: who asks later has to look again.
    this.#asked = undefined
    const until = performance.now() + tellsWithin
    while (!this.#over && performance.now() < until) {
      if (this.#isIdle()) {
        // What it has written is read in the next turn of the event loop; this one may have looked before.
        await nextTurn()
        await nextTurn()
        return !this.#over
      }
      await nextTurn()
    }
    return false
  }

  /** Whether it has read everything, and waits for more: then it has written everything as well. */
  #isIdle(): boolean {
    if (this.#state === undefined) return false
    const socket = this.#readSockets().find(row => row[columns.inode] === this.#inode)
    if (socket?.[columns.unread] !== '0') return false
    try {
      return /\) S /.test(this.#read(this.#state))
    } catch {
      // It is gone.
      return false
    }
  }

  /** The inode of the program's socket that is in a group of listeners; undefined while it has none. */
  async #findSocket(pid: number): Promise<string | undefined> {
    try {
      const folder = `/proc/${pid}/fd`
      const files = await Promise.all((await readdir(folder)).map(name => readlink(`${folder}/${name}`)))
      const own = new Set(files.flatMap(file => /^socket:\[(\d+)\]$/.exec(file)?.[1] ?? []))
      const socket = this.#readSockets().find(
        row => own.has(row[columns.inode] ?? '') && !/^0*$/.test(row[columns.groups] ?? ''),
      )
      return socket?.[columns.inode]
    } catch {
      // It has just closed a file, or has ended.
      return undefined
    }
  }

  #readSockets(): readonly (readonly string[])[] {
    const rows = this.#read(this.#sockets).split('\n')
    return rows.map(row => row.trim().split(/ +/))
  }

  /** The whole of a file of /proc, which is made anew each time it is read from its beginning. */
  #read(file: number): string {
    let length = 0
    for (;;) {
      const count = readSync(file, this.#buffer, length, this.#buffer.length - length, length)
      length += count
      if (count === 0) return this.#buffer.toString('latin1', 0, length)
      if (length === this.#buffer.length) this.#buffer = Buffer.concat([this.#buffer, this.#buffer])
    }
  }
}
