import { closeSync, openSync } from 'node:fs'
import { Problem } from '../../../shared/problem/problem.ts'
import { defaultTimeoutMs, type RunTool, type ToolEnd, type ToolRun } from '../run-tool.ts'
import { readBatchLines } from './batch-lines.ts'
import { linkQuery, readLine, type LineRequest } from './line-messages.ts'
import { MalformedAnswer } from './route-message.ts'
import { NetlinkFault, type KernelReply, type RouteSocket, type RouteSockets } from './route-sockets.ts'
import type { SharedSockets } from './shared-sockets.ts'

export interface NetlinkToolOptions {
  /** Runs what is not for netlink. */
  readonly run: RunTool
  /** Asked for when there is something to do. */
  readonly netlink: SharedSockets
}

/**
 * A RunTool that asks the kernel itself, by rtnetlink, where it knows every word of a batch of `ip`, and answers with the words
 * that `ip` has for a refusal. Everything else is run as before, and so is all of it once netlink has failed.
 */
export function netlinkTool({ run, netlink }: NetlinkToolOptions): RunTool {
  let removals = 0
  const leave = (error: unknown): void => {
    netlink.leave(error)
  }
  return async order => {
    const netns = heldNamespace(order)
    const requests = readBatch(order, netns, removals < mostRemovals)
    const removes = requests?.some(request => request.removes) === true
    if (removes) removals++
    const sockets = requests && (await netlink.get())
    const socket = sockets && openSocket(sockets, order, leave)
    const close = (): void => {
      if (removes) removals--
      socket?.close()
      if (netns !== undefined) closeSync(netns)
    }
    if (socket)
      return await inTime(order, close, late => carryOut(requests, { socket, sockets, late, leave }))
    close()
    return await run(order)
  }
}

/** At a time. Each keeps a thread of the pool, which has four; for more there is `ip`. */
const mostRemovals = 2

const isBatch = ({ tool, args }: ToolRun): boolean => tool === 'ip' && args.join(' ') === '-batch -'

/**
 * A descriptor of our own of the namespace that a batch names. Where time is up, a message may still wait in the kernel while
 * the caller closes its descriptor, whose number may then mean the namespace of another pod. undefined where there can be
 * none: a line that names it is then for `ip`.
 */
function heldNamespace(order: ToolRun): number | undefined {
  const { beside } = order
  if (beside === undefined || !isBatch(order)) return undefined
  try {
    return openSync(`/proc/self/fd/${beside}`, 'r')
  } catch {
    return undefined
  }
}

/** In a longer batch the start of a program costs less than a visit to the pool for each line: up to it 3 ms, and `ip` has 6. */
const mostLines = 50

/** undefined where a word is unknown here, or a link is to be removed and may not. */
function readBatch(
  order: ToolRun,
  netns: number | undefined,
  mayRemove: boolean,
): readonly LineRequest[] | undefined {
  if (!isBatch(order)) return undefined
  const lines = readBatchLines(order.input ?? '') ?? [[]]
  if (lines.length > mostLines) return undefined
  const requests: LineRequest[] = []
  for (const words of lines) {
    const request = readLine(words, netns)
    if (!request || (request.removes && !mayRemove)) return undefined
    requests.push(request)
  }
  return requests
}

function openSocket(
  sockets: RouteSockets,
  { inside }: ToolRun,
  leave: (error: unknown) => void,
): RouteSocket | undefined {
  try {
    return sockets.open(inside)
  } catch (error) {
    leave(error)
    return undefined
  }
}

/** As with a program, what has not ended in time is given up; the message that is on its way is the last one. */
async function inTime(
  { tool, args, timeoutMs = defaultTimeoutMs }: ToolRun,
  close: () => void,
  work: (late: AbortSignal) => Promise<ToolEnd>,
): Promise<ToolEnd> {
  const late = new AbortController()
  const { promise, resolve, reject } = Promise.withResolvers<ToolEnd>()
  const timer = setTimeout(() => {
    late.abort()
    const message = `${tool} ${args.join(' ')}: no end within ${timeoutMs / 1000} s`
    reject(new Problem('IPK_WIRING_FAILED', message))
  }, timeoutMs)
  void work(late.signal)
    .finally(() => {
      clearTimeout(timer)
      close()
    })
    .then(resolve, reject)
  return await promise
}

interface Way {
  readonly socket: RouteSocket
  readonly sockets: RouteSockets
  readonly late: AbortSignal
  readonly leave: (error: unknown) => void
}

/** One line after the other, up to the first that is refused: that is what `ip -batch` does. */
async function carryOut(requests: readonly LineRequest[], way: Way): Promise<ToolEnd> {
  const indexes = new Map<string, number>()
  for (const [at, request] of requests.entries()) {
    const refusal = await carryOutLine(request, indexes, way)
    if (refusal !== undefined)
      return { exit: 2, stdout: '', stderr: `${refusal}\nCommand failed -:${at + 1}\n` }
  }
  return { exit: 0, stdout: '', stderr: '' }
}

/** Resolves to what `ip` would say of a refusal. */
async function carryOutLine(
  { links, message, comesUp }: LineRequest,
  indexes: Map<string, number>,
  { socket, sockets, late, leave }: Way,
): Promise<string | undefined> {
  try {
    for (const [name, absent] of links) {
      if (indexes.has(name)) continue
      const found = await socket.ask(linkQuery(name), late)
      if (found.errno === noSuchDevice) return absent
      if (found.errno !== 0 || found.linkIndex === undefined) return wordsOf(found, sockets)
      indexes.set(name, found.linkIndex)
    }
    const outcome = await socket.ask(
      message(name => indexes.get(name) ?? 0),
      late,
    )
    if (outcome.errno !== 0) return wordsOf(outcome, sockets)
    if (comesUp !== undefined) await socket.ask(linkQuery(comesUp), late)
    return undefined
  } catch (error) {
    if (!(error instanceof NetlinkFault || error instanceof MalformedAnswer)) throw error
    leave(error)
    return `netlink: ${error.message}`
  }
}

/** ENODEV */
const noSuchDevice = 19

function wordsOf({ errno, text }: KernelReply, sockets: RouteSockets): string {
  if (text === undefined || text === '') return `RTNETLINK answers: ${sockets.textOf(errno)}`
  return `Error: ${text}${text.endsWith('.') ? '' : '.'}`
}
