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

/** Netlink itself does not work, whatever was asked. */
export class NetlinkFault extends Error {}

/** linux/socket.h, linux/netlink.h, linux/sched.h */
const [afNetlink, sockRawCloseOnExec, netlinkRoute] = [16, 3 | 0o2000000, 0]
const [solNetlink, capAcknowledgement, extendedAcknowledgement] = [270, 10, 11]
const newNetwork = 0x40000000
const [withoutWaiting, wholeLength] = [0x40, 0x20]

/** Bytes: a link with all that it can have is a few KiB. */
const longestAnswer = 32 * 1024
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
    const [name, nameBytes] = [new Uint8Array(nameLength), Uint8Array.of(nameLength, 0, 0, 0)]
    const flags = withoutWaiting | wholeLength
    const length = this.#calls.recvfrom(fd, this.#buffer, longestAnswer, flags, name, nameBytes)
    if (length < 0) throw this.#fault('no answer of the kernel')
    if (length > longestAnswer) throw new MalformedAnswer(`an answer cannot have ${length} bytes`)
    // Others may send to the socket, who have the right to change links in the pod; the kernel has port 0.
    const isKernel = name.subarray(4, 8).every(byte => byte === 0)
    return this.#buffer.subarray(0, isKernel ? length : 0)
  }

  #fault(what: string): NetlinkFault {
    return new NetlinkFault(`${what}: ${this.textOf(this.#calls.errno())}`)
  }
}
