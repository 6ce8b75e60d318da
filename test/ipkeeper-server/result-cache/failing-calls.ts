import { fileCalls, type FileCalls } from '../../../ipkeeper-server/result-cache/file-calls.ts'

/** The power that went: nothing that is tried after it happens. */
export class PowerCut extends Error {}

/**
 * The calls by which files are changed, of which only the first ones happen: what comes after them, clean-up as well,
 * finds the power gone. `made` lists what was called.
 */
export function callsUntilPowerCut(count: number): { readonly calls: FileCalls; readonly made: string[] } {
  const made: string[] = []
  const powered = <A extends unknown[], R>(name: string, call: (...args: A) => R) => {
    return (...args: A): R | Promise<never> => {
      if (made.length >= count) return Promise.reject(new PowerCut(name))
      made.push(name)
      return call(...args)
    }
  }
  const wrapped = Object.fromEntries(
    Object.entries(fileCalls).map(([name, call]) => [name, powered(name, call as never)]),
  ) as unknown as FileCalls
  const open = async (...args: Parameters<FileCalls['open']>) => {
    const file = await wrapped.open(...args)
    return new Proxy(file, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        const call = value.bind(target) as (...words: unknown[]) => unknown
        // A descriptor goes with its process, whatever happens.
        return name === 'close' ? call : powered(String(name), call)
      },
    })
  }
  return { calls: { ...wrapped, open }, made }
}
