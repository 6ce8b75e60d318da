import { closeSync } from 'node:fs'
import {
  encodeMessage,
  MalformedAnswer,
  messageTypes,
  readAnswer,
  type Acknowledgement,
  type RouteMessage,
} from './route-message.ts'

/** Calls of the C library. Those that fail give -1. */
export interface KernelCalls {
  readonly socket: (family: number, type: number, protocol: number) => number
  readonly setns: (fd: number, kind: number) => number
  readonly bind: (fd: number, name: Uint8Array, length: number) => number
  readonly setsockopt: (fd: number, level: number, name: number, value: Uint8Array, length: number) => number
  /** In a thread of the pool: the kernel does what a message asks for before it lets go of the sender. */
  readonly send: (fd: number, bytes: Uint8Array, length: number, flags: number) => Promise<number>
  readonly recvfrom: (
    fd: number,
    into: Uint8Array,
    length: number,
    flags: number,
    from: Uint8Array,
    fromLength: Uint8Array,
  ) => number
  /**
   * Has the event loop call back when there is something to read, now or soon, which does not keep the process alive; of an error
   * as well, which reading tells. Gives what ends it.
   */
  readonly poll: (fd: number, onReadable: () => void) => () => void
  /** Of the last call in this thread. */
  readonly errno: () => number
  readonly strerror: (errno: number) => string
}

/** What the kernel answered to a message. */
export interface KernelReply extends Acknowledgement {
  readonly linkIndex: number | undefined
}

/** A socket of rtnetlink in one network namespace. */
export interface RouteSocket {
  /**
   * @param late once it is aborted, what still waits for its turn is not sent
   * @throws NetlinkFault, MalformedAnswer; the reason of `late`
   */
  ask(message: RouteMessage, late?: AbortSignal): Promise<KernelReply>
  close(): void
}

/** A socket that hears of what changes. */
export interface NewsSocket {
  /**
   * Does not wait: undefined where there is nothing. Valid until the next call of whichever socket.
   *
   * @throws NetlinkFault, MalformedAnswer
   */
  receive(): Uint8Array | undefined
  close(): void
}

/** Netlink itself does not work, whatever was asked. */
export class NetlinkFault extends Error {}

/** The kernel had more to tell than there was room for. */
export class NewsLost extends NetlinkFault {}

/** linux/socket.h, linux/netlink.h, linux/sched.h */
const [afNetlink, sockRawCloseOnExec, netlinkRoute] = [16, 3 | 0o2000000, 0]
const [solNetlink, capAcknowledgement, extendedAcknowledgement] = [270, 10, 11]
const newNetwork = 0x40000000
const [withoutWaiting, wholeLength] = [0x40, 0x20]
const [solSocket, receiveBufferForce] = [1, 33]

/** asm-generic/errno-base.h, asm-generic/errno.h */
const errors = { again: 11, noBufferSpace: 105 } as const

/** Bytes: a link with all that it can have is a few KiB. */
const longestAnswer = 32 * 1024

/** Bytes: news that nobody has read wait here, of a hundred pods that come at once about half of it. */
const newsBuffer = 4 * 1024 * 1024
/** struct sockaddr_nl: family, padding, port, groups. */
const nameLength = 12

export class RouteSockets {
  readonly #calls: KernelCalls
  readonly #own: number
  readonly #abort: () => never
  /**
   * One message at a time: they wait for one lock of the kernel, and must not take the pool's threads from others. A removal has no
   * turn, since the kernel keeps its thread for long, most of it without the lock: the tool sees to it that there are few.
   */
  #turn: Promise<unknown> = Promise.resolve()
  readonly #buffer = new Uint8Array(longestAnswer)

  /**
   * @param own file descriptor of the namespace that this process runs in
   * @param abort ends the process at once
   */
  constructor(calls: KernelCalls, own: number, abort: () => never = () => process.abort()) {
    this.#calls = calls
    this.#own = own
    this.#abort = abort
  }

  /** What the C library calls an error, as `ip` does. */
  textOf(errno: number): string {
    return this.#calls.strerror(errno)
  }

  /**
   * @param inside file descriptor of a namespace; default: that of this process
   * @throws NetlinkFault
   */
  open(inside?: number): RouteSocket {
    const fd = inside === undefined ? this.#make() : this.#makeInside(inside)
    for (const name of [extendedAcknowledgement, capAcknowledgement])
      this.#calls.setsockopt(fd, solNetlink, name, Uint8Array.of(1, 0, 0, 0), 4)
    let sequence = 0
    return {
      ask: (message, late) => this.#exchange(fd, message, ++sequence, late),
      close: () => {
        closeSync(fd)
      },
    }
  }

  /**
   * In the namespace of this process.
   *
   * @param groups bits of linux/rtnetlink.h
   * @param onNews called by the event loop when there is something to receive
   * @throws NetlinkFault
   */
  listen(groups: number, onNews: () => void): NewsSocket {
    const fd = this.#make()
    const [bytes, name] = [new Uint8Array(4), new Uint8Array(nameLength)]
    new DataView(bytes.buffer).setUint32(0, newsBuffer, true)
    // A kernel that refuses it tells sooner that something was missed.
    this.#calls.setsockopt(fd, solSocket, receiveBufferForce, bytes, bytes.length)
    new DataView(name.buffer).setUint16(0, afNetlink, true)
    new DataView(name.buffer).setUint32(8, groups, true)
    if (this.#calls.bind(fd, name, nameLength) !== 0) {
      const fault = this.#fault('the news of the kernel cannot be heard')
      closeSync(fd)
      throw fault
    }
    const stop = this.#calls.poll(fd, onNews)
    return {
      receive: () => this.#receiveNow(fd, 'no news of the kernel'),
      close: () => {
        stop()
        closeSync(fd)
      },
    }
  }

  #make(): number {
    const fd = this.#calls.socket(afNetlink, sockRawCloseOnExec, netlinkRoute)
    if (fd < 0) throw this.#fault('no socket of netlink')
    return fd
  }

  /** Without a pause between the two changes of namespace: whatever else ran meanwhile would run in the pod's. */
  #makeInside(namespace: number): number {
    const { setns } = this.#calls
    if (setns(namespace, newNetwork) !== 0) throw this.#fault('the namespace of the pod cannot be entered')
    try {
      return this.#make()
    } finally {
      // What goes on in the namespace of a pod would take its links for those of the node.
      if (setns(this.#own, newNetwork) !== 0) this.#abort()
    }
  }

  async #exchange(
    fd: number,
    message: RouteMessage,
    sequence: number,
    late: AbortSignal | undefined,
  ): Promise<KernelReply> {
    const bytes = encodeMessage(message, sequence)
    const isRemoval = message.type === messageTypes.deleteLink
    const sending = (isRemoval ? Promise.resolve() : this.#turn).then(() => {
      late?.throwIfAborted()
      return this.#calls.send(fd, bytes, bytes.length, 0)
    })
    if (!isRemoval) this.#turn = sending.catch(() => undefined)
    if ((await sending) !== bytes.length) throw new NetlinkFault('a message could not be sent')
    let linkIndex: number | undefined
    for (;;) {
      const answer = readAnswer(this.#receive(fd), sequence)
      linkIndex ??= answer.linkIndex
      if (answer.acknowledgement) return { ...answer.acknowledgement, linkIndex }
    }
  }

  /** The kernel has answered when it lets go of the sender. */
  #receive(fd: number): Uint8Array {
    const what = 'no answer of the kernel'
    const answer = this.#receiveNow(fd, what)
    if (!answer) throw this.#fault(what)
    return answer
  }

  /** undefined where nothing is there. */
  #receiveNow(fd: number, what: string): Uint8Array | undefined {
    const [name, nameBytes] = [new Uint8Array(nameLength), Uint8Array.of(nameLength, 0, 0, 0)]
    const flags = withoutWaiting | wholeLength
    const length = this.#calls.recvfrom(fd, this.#buffer, longestAnswer, flags, name, nameBytes)
    if (length < 0) {
      const errno = this.#calls.errno()
      if (errno === errors.again) return undefined
      throw errno === errors.noBufferSpace ? new NewsLost(this.textOf(errno)) : this.#fault(what)
    }
    if (length > longestAnswer) throw new MalformedAnswer(`an answer cannot have ${length} bytes`)
    // Others may send to the socket, who have the right to change links in the pod; the kernel has port 0.
    const isKernel = name.subarray(4, 8).every(byte => byte === 0)
    return this.#buffer.subarray(0, isKernel ? length : 0)
  }

  #fault(what: string): NetlinkFault {
    return new NetlinkFault(`${what}: ${this.textOf(this.#calls.errno())}`)
  }
}
