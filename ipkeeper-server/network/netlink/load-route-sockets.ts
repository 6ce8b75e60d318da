import { openSync } from 'node:fs'
import { mkdir, readFile, rm, statfs, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { getRawAsset, isSea } from 'node:sea'
import { RouteSockets, type KernelCalls } from './route-sockets.ts'

type ForeignFunction = ((...values: readonly unknown[]) => unknown) & {
  /** Calls it in a thread of the pool; the last value is told the outcome. */
  readonly async: (...values: readonly unknown[]) => void
}

/** The parts of koffi that are used: a foreign function interface, of which Node has none. */
export interface ForeignFunctions {
  readonly load: (library: string) => { readonly func: (prototype: string) => ForeignFunction }
  readonly errno: () => number
  readonly node: {
    /** Calls back from the event loop, by a handle of libuv. */
    readonly poll: (fd: number, ...poll: Poll) => PollHandle
  }
}

type Poll = readonly [events: { readonly readable: true }, onEvent: () => void]

interface PollHandle {
  readonly start: (...poll: Poll) => void
  readonly stop: () => void
  readonly close: () => void
  readonly unref: () => void
}

/** Where the library is put for the moment in which it is loaded. */
const folderName = 'native'

/**
 * Sockets of rtnetlink, by koffi.
 *
 * @param stateDir a folder that root alone can write to
 * @throws whatever keeps koffi from being loaded
 */
export async function loadRouteSockets(stateDir: string): Promise<RouteSockets> {
  const koffi = isSea() ? await unpackKoffi(stateDir) : await installedKoffi()
  return new RouteSockets(kernelCalls(koffi), openSync('/proc/thread-self/ns/net', 'r'))
}

async function installedKoffi(): Promise<ForeignFunctions> {
  const name = `@koromix/koffi-linux-${process.arch}`
  return ((await import(name)) as { readonly default: ForeignFunctions }).default
}

async function unpackKoffi(stateDir: string): Promise<ForeignFunctions> {
  return await loadLibrary(Buffer.from(getRawAsset('koffi')), join(stateDir, folderName))
}

/**
 * Loads a library that is in the executable: the loader of the C library takes files alone. It is not left there, so that nobody
 * can change it and a newer daemon finds no older one. What is loaded is compared first: a file that is cut off ends the process.
 *
 * @throws when the file is not what was written, or cannot be loaded
 */
export async function loadLibrary(
  bytes: Uint8Array,
  folder: string,
  write: typeof writeFile = writeFile,
): Promise<ForeignFunctions> {
  const path = join(folder, 'koffi.node')
  try {
    await rm(folder, { recursive: true, force: true })
    await leavesRoom(bytes.length, dirname(folder))
    await mkdir(folder, { mode: 0o700 })
    await write(path, bytes, { mode: 0o500, flag: 'wx' })
    if (!(await readFile(path)).equals(bytes)) throw new Error(`${path} is not what was written`)
    const loaded = { exports: {} }
    process.dlopen(loaded, path)
    return loaded.exports as ForeignFunctions
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The store is on the same disk: a commit must not fail because this took the last of it, if only for a moment. */
async function leavesRoom(length: number, folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize < 4 * length)
    throw new Error(`${folder} has only ${Math.round((bavail * bsize) / 1024)} KiB left (ENOSPC)`)
}

/**
 * Milliseconds between two calls: a pod makes the kernel tell of twenty things within a few, and who has to know them at once
 * reads them without being called.
 */
const callsEvery = 50

function pollNow({ node }: ForeignFunctions, fd: number, onReadable: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const poll: Poll = [
    { readable: true },
    () => {
      handle.stop()
      timer = setTimeout(() => {
        handle.start(...poll)
      }, callsEvery).unref()
      // What is thrown within koffi's own call ends the process without a word.
      process.nextTick(onReadable)
    },
  ]
  const handle = node.poll(fd, ...poll)
  handle.unref()
  return () => {
    clearTimeout(timer)
    handle.close()
  }
}

function kernelCalls(koffi: ForeignFunctions): KernelCalls {
  const libc = koffi.load('libc.so.6')
  // Its prototype says what each takes and gives; KernelCalls says the same to the compiler.
  const func = (prototype: string): ((...values: readonly unknown[]) => never) =>
    libc.func(prototype) as unknown as (...values: readonly unknown[]) => never
  const send = libc.func('long send(int, const void *, size_t, int)')
  return {
    socket: func('int socket(int, int, int)'),
    setns: func('int setns(int, int)'),
    bind: func('int bind(int, const void *, uint32_t)'),
    setsockopt: func('int setsockopt(int, int, int, const void *, uint32_t)'),
    send: (...values) =>
      new Promise((resolve, reject) => {
        send.async(...values, (error: Error | null, sent: number) => {
          if (error) reject(error)
          else resolve(sent)
        })
      }),
    recvfrom: func('long recvfrom(int, void *, size_t, int, void *, void *)'),
    poll: (fd, onReadable) => pollNow(koffi, fd, onReadable),
    errno: koffi.errno,
    strerror: func('const char *strerror(int)'),
  }
}
