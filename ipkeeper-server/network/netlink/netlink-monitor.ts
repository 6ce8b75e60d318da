import type { NewsListener, NewsMonitor } from '../node/news-monitor.ts'
import { newsGroups, readNews } from './link-news.ts'
import { MalformedAnswer } from './route-message.ts'
import { NetlinkFault, NewsLost, type NewsSocket, type RouteSockets } from './route-sockets.ts'

/**
 * News of the kernel by a socket of this process. The kernel puts them there before the program that caused them goes on, so who
 * has read all that is there knows all that has happened.
 */
export class NetlinkMonitor implements NewsMonitor {
  readonly #listener: NewsListener
  readonly #leave: (error: unknown) => void
  readonly #socket: NewsSocket
  #over = false

  /**
   * @param leave called before it ends because netlink itself does not work
   * @throws NetlinkFault
   */
  constructor(sockets: RouteSockets, leave: (error: unknown) => void, listener: NewsListener) {
    this.#listener = listener
    this.#leave = leave
    this.#socket = sockets.listen(newsGroups, () => this.hasToldAll())
  }

  end(why = 'netlink is no longer listened to'): void {
    if (this.#over) return
    this.#over = true
    this.#socket.close()
    this.#listener.onEnd(why)
  }

  listens(): boolean {
    return !this.#over
  }

  hasToldAll(): boolean {
    try {
      while (!this.#over) {
        const datagram = this.#socket.receive()
        if (!datagram) break
        for (const news of readNews(datagram)) this.#listener.onNews(news)
      }
    } catch (error) {
      if (!(error instanceof NetlinkFault || error instanceof MalformedAnswer)) throw error
      // That there was too much at once says nothing against netlink.
      if (!(error instanceof NewsLost)) this.#leave(error)
      this.end(error.message)
    }
    return !this.#over
  }
}
