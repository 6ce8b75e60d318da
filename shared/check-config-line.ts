import { defaultPaths } from './paths.ts'

/** What to type to see what is wrong with the configuration file of the daemon on this socket. */
export function checkConfigLine(path: string, socket: string): readonly string[] {
  const where = socket === defaultPaths.socket ? [] : ['--socket', socket]
  return ['ipkeeper-server', 'check-config', path, ...where]
}
